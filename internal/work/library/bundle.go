package library

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/store"
)

// bundledAt is the path of a bundled folder while it is checked; it is not on the disk.
var bundledAt = artifact.NoPlace("bundled")

// Export is one file that holds the run, audit, update or answer that a person names, as
// [Open] takes names, for [Import] on another machine: the same folder gives the same bytes.
// A run that is not finished is read under its lock. It returns NOT_FOUND, TAMPERED for what
// Import would refuse, READ_FAILED, and INVALID_ARGS for a folder that is too large.
func Export(ctx context.Context, desk run.Desk, runs, workdir, name string) (id string, data []byte, err error) {
	kind, path, err := findFolder(desk, runs, workdir, name)
	if err != nil {
		return "", nil, err
	}
	b, err := bundle(ctx, desk, kind, path)
	if err != nil {
		return "", nil, err
	}
	if _, err := checkBundle(ctx, desk, runs, kind, b); err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	err = b.Write(&out)
	return b.ID, out.Bytes(), err
}

// findFolder is the folder of what a person names.
func findFolder(desk run.Desk, runs, workdir, name string) (kind store.Kind, path string, err error) {
	manifest, _, err := run.FindByBeginning(desk, runs, workdir, name)
	if err == nil && name != "" && filepath.Base(manifest) == run.ManifestFile {
		return store.Runs, filepath.Dir(manifest), nil
	}
	if path, err := audit.Find(desk, store.Audits.Home(runs), workdir, name); err == nil {
		return store.Audits, filepath.Dir(path), nil
	}
	path, ok := FindKept(desk, runs, workdir, name)
	if !ok {
		return kind, "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("run", name), "there is no run, audit, update or answer %q", tidegate.Cut(name))
	}
	about, err := desk.Reach.ReadJSON("kept", filepath.Join(path, store.AboutFile))
	if err != nil {
		return kind, "", err
	}
	if about.Get("schema_version").Str() == updateSchema {
		return store.Updates, path, nil
	}
	return store.Answers, path, nil
}

// bundle reads a folder.
func bundle(ctx context.Context, desk run.Desk, kind store.Kind, path string) (*seal.Bundle, error) {
	folder, err := desk.Reach.Open("run", path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	b := &seal.Bundle{Kind: kind.Noun}
	var named seal.Recorded
	if kind.Noun == store.Runs.Noun {
		r, err := run.Open(ctx, desk, filepath.Join(path, run.ManifestFile))
		if err != nil {
			return nil, err
		}
		status := r.Manifest().Status()
		b.ID = r.ID()
		defer r.Close()
		if !status.Final() {
			lock, err := folder.Lock(ctx, desk.Now)
			if err != nil {
				return nil, err
			}
			defer lock.Unlock()
		}
		if named, err = r.Named(); err != nil {
			return nil, err
		}
	} else {
		about, err := desk.Reach.ReadJSON("kept", filepath.Join(path, kind.File))
		if err != nil {
			return nil, err
		}
		b.ID = about.Get(kind.ID).Str()
		record, err := store.Read(folder)
		if err != nil {
			return nil, err
		}
		named = record.Named()
	}
	b.Files, _, err = seal.FilesOf(folder, "", named)
	return b, err
}

// Imported is the result of [Import].
type Imported struct {
	Kind  string // run, audit, update or answer
	ID    string
	Path  string // of its folder in the home
	Files int
	Head  string // the digest of the last line of its log
}

// Import puts what [Export] wrote into the home, under the id that it has. Everything is
// checked before the folder appears, whole or not at all: that each file is the one that was
// exported, and that the record agrees with itself; that of an update or answer also with the
// runs and audits that it is bound to, which must be there. The results of an audit and of an
// update are judged again.
//
// It returns TAMPERED for a file that is not such a bundle, ALREADY_EXISTS_CONFLICT where the
// home has that id, NOT_FOUND where it lacks what an update or answer is bound to, and
// WRITE_FAILED.
func Import(ctx context.Context, desk run.Desk, runs string, data []byte) (Imported, error) {
	b, err := seal.OpenBundle(data)
	if err != nil {
		return Imported{}, err
	}
	kind, known := store.Exported(b.Kind)
	if !known || !store.IsID(b.ID) {
		return Imported{}, unsound(b, "it does not say what it holds")
	}
	out := Imported{Kind: b.Kind, ID: b.ID, Path: filepath.Join(kind.Home(runs), b.ID), Files: len(b.Files)}
	if out.Head, err = checkBundle(ctx, desk, runs, kind, b); err != nil {
		return out, err
	}
	err = desk.Reach.CreateFolder("home", out.Path, func(d *artifact.Draft) error {
		for _, file := range b.Files {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.Write(file.Name, file.Data)
		}
		if b.Kind == Run {
			for _, name := range run.Folders { // a bundle has no empty ones
				d.MakeFolder(name)
			}
		}
		return nil
	})
	return out, err
}

func unsound(b *seal.Bundle, why string) error {
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("kind", tidegate.Cut(b.Kind), "id", tidegate.Cut(b.ID), "why", why), "the bundle cannot be trusted: %s", why)
}

// checkBundle holds what a bundle has against itself, and returns the head of its log.
func checkBundle(ctx context.Context, desk run.Desk, runs string, kind store.Kind, b *seal.Bundle) (head string, err error) {
	laid, err := artifact.NewReplica()
	if err != nil {
		return "", err
	}
	defer laid.Close()
	for _, file := range b.Files {
		if err := laid.Write(file.Name, file.Data); err != nil {
			return "", err
		}
	}
	own := desk
	own.Reach = laid.At(bundledAt)
	if b.Kind == Run {
		return checkBundledRun(ctx, own, b)
	}
	return checkBundledKept(ctx, own, desk, runs, kind, b)
}

func checkBundledRun(ctx context.Context, own run.Desk, b *seal.Bundle) (head string, err error) {
	verified, err := run.Verify(ctx, own, run.VerifyInput{ManifestPath: filepath.Join(bundledAt, run.ManifestFile), Follows: stage.Follows})
	if err != nil {
		return "", unsound(b, tidegate.AsError(err).Message)
	}
	for _, f := range verified.Findings {
		if f.Level == "error" {
			return "", unsound(b, f.Message)
		}
	}
	if verified.RunID != b.ID {
		return "", unsound(b, "it has the run "+verified.RunID)
	}
	r, err := run.Open(ctx, own, filepath.Join(bundledAt, run.ManifestFile))
	if err != nil {
		return "", err
	}
	defer r.Close()
	named, err := r.Named()
	if err != nil {
		return "", err
	}
	return verified.Log.Head, checkNamed(b, named)
}

// checkNamed refuses a bundle that has more than its log records.
func checkNamed(b *seal.Bundle, named seal.Recorded) error {
	for _, file := range b.Files {
		end, known := named[file.Name]
		if !known {
			return unsound(b, "no line of its log speaks of "+file.Name)
		}
		if end >= 0 && int64(len(file.Data)) != end {
			return unsound(b, file.Name+" does not end with the last record of the log")
		}
	}
	return nil
}

// checkBundledKept checks an audit, update or answer, whose subjects are in the home.
func checkBundledKept(ctx context.Context, own, desk run.Desk, runs string, kind store.Kind, b *seal.Bundle) (head string, err error) {
	about, err := own.Reach.ReadJSON("bundle", filepath.Join(bundledAt, kind.File))
	if err != nil || about.Get(kind.ID).Str() != b.ID {
		return "", unsound(b, kind.File+" is not that of "+b.Kind+" "+b.ID)
	}
	folder, err := own.Reach.Open("bundle", bundledAt)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	record, err := store.Read(folder)
	if err != nil {
		return "", unsound(b, tidegate.AsError(err).Message)
	}
	log, wrong, err := record.Verify(folder)
	if err != nil {
		return "", err
	}
	for _, file := range b.Files {
		if (file.Name == kind.File || file.Name == store.ResultFile) && record.Files[file.Name] == "" {
			wrong = append(wrong, "its log does not record "+file.Name)
		}
	}
	if len(wrong) > 0 {
		return "", unsound(b, wrong[0])
	}
	if err := checkNamed(b, record.Named()); err != nil {
		return "", err
	}
	if b.Kind == Audit {
		a, err := audit.Open(ctx, own, filepath.Join(bundledAt, audit.File))
		if err != nil {
			return "", unsound(b, tidegate.AsError(err).Message)
		}
		_, err = a.Result(ctx)
		a.Close()
		if err != nil && tidegate.CodeOf(err) != tidegate.InvalidState { // which is that of one that is not finished
			return "", unsound(b, tidegate.AsError(err).Message)
		}
	}
	k := keptFolder{folder: folder, record: record}
	if err := about.Decode(&k.Held); err != nil {
		return "", unsound(b, kind.File+" does not say what it is about")
	}
	for _, of := range k.Of {
		wrong, err := k.boundTo(ctx, desk, runs, of)
		if err != nil {
			return "", err
		}
		if wrong != "" {
			return "", unsound(b, wrong)
		}
	}
	return log.Head, nil
}

// Report says what was imported.
func (i Imported) Report() report.Report {
	r := report.Report{Name: "import", Title: "Imported " + i.Kind + " " + i.ID, Status: report.Pass, Summary: report.Counted(i.Files, "file") + ", as exported"}
	r.Add(report.Fields{{Name: "folder", Value: i.Path}, {Name: "head", Value: i.Head}})
	return r
}

// Verified is what [Verify] finds.
type Verified struct {
	ID    string
	Of    []Subject
	Lines int // of the log
	Wrong []string
}

// FindKept is the folder of the update or answer that a person names, by its id or its
// folder; ok is false where there is none.
func FindKept(desk run.Desk, runs, workdir, name string) (path string, ok bool) {
	places := []string{name}
	if !filepath.IsAbs(name) {
		places = []string{filepath.Join(store.Updates.Home(runs), name), filepath.Join(store.Answers.Home(runs), name), filepath.Join(workdir, name)}
	}
	for _, place := range places {
		if file, err := desk.Reach.OpenFile("kept", filepath.Join(place, store.AboutFile)); err == nil {
			return place, file.Close() == nil
		}
	}
	return "", false
}

// keptFolder is an update, an answer or an audit with what its log says.
type keptFolder struct {
	Held
	folder *artifact.Folder
	record store.Record
}

// Verify holds an update or answer against itself and what it is bound to: the chain of its
// log, the digests of its files, the heads of the runs and audits, and, of an update, the
// result, which is judged again from what was fetched. It returns the errors of reading it;
// what does not agree is a result.
func Verify(ctx context.Context, desk run.Desk, runs, path string) (v Verified, err error) {
	doc, err := desk.Reach.ReadJSON("kept", filepath.Join(path, store.AboutFile))
	if err != nil {
		return v, err
	}
	var k keptFolder
	if err := doc.Decode(&k.Held); err != nil {
		return v, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("kept", path), "%s does not say what it is about: %w", store.AboutFile, err)
	}
	if k.folder, err = desk.Reach.Open("kept", path); err != nil {
		return v, err
	}
	defer k.folder.Close()
	v = Verified{ID: k.ID, Of: k.Of}
	if k.record, err = store.Read(k.folder); err != nil {
		return v, err
	}
	log, wrong, err := k.record.Verify(k.folder)
	if err != nil {
		return v, err
	}
	v.Lines, v.Wrong = log.Lines, wrong
	for _, name := range []string{store.AboutFile, store.ResultFile} {
		if k.record.Files[name] == "" {
			v.Wrong = append(v.Wrong, "the log does not record "+name)
		}
	}
	for _, of := range k.Of {
		wrong, err := k.boundTo(ctx, desk, runs, of)
		switch {
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			wrong = "the " + of.Kind + " " + of.ID + " is not here"
		case err != nil:
			return v, err
		}
		if wrong != "" {
			v.Wrong = append(v.Wrong, wrong)
		}
	}
	return v, nil
}

// boundTo holds what is kept against a run or audit: it is the one of that head, and, of an
// update, what was fetched gives the same result again.
func (k *keptFolder) boundTo(ctx context.Context, desk run.Desk, runs string, of Subject) (wrong string, err error) {
	item, err := Open(ctx, desk, runs, filepath.Dir(runs), of.ID)
	if err != nil {
		return "", err
	}
	defer item.Close()
	if item.Subject != of {
		return "the " + of.Kind + " " + of.ID + " is not as it was: its log has another head", nil
	}
	if k.SchemaVersion != updateSchema {
		return "", nil // agents cannot be asked again
	}
	again, err := updateAgain(ctx, k.folder, item, k.ID, k.record.Counts)
	if err != nil {
		return "", err
	}
	kept, err := k.folder.Read(store.ResultFile)
	if err == nil && !bytes.Equal(kept, again) {
		wrong = "what was fetched gives another result than " + store.ResultFile
	}
	return wrong, err
}

// updateAgain is the result of an update, judged again from what it keeps.
func updateAgain(ctx context.Context, folder *artifact.Folder, item *Item, id string, counts map[string]bool) ([]byte, error) {
	fetchedThen, err := archive.Open(ctx, folder, run.ArchiveFile, func(digest string) bool { return counts[digest] })
	if err != nil {
		return nil, err
	}
	now := &fetched{captures: map[string]archive.Capture{}}
	for _, entry := range fetchedThen.Entries() {
		if !fetchedThen.Counts(entry) {
			continue
		}
		if now.captures[entry.URL], err = fetchedThen.Read(ctx, entry); err != nil {
			return nil, err
		}
	}
	if now.sources, err = item.Sources(ctx); err != nil {
		return nil, err
	}
	out, err := judgeAgain(ctx, item, now)
	if err != nil {
		return nil, err
	}
	out.UpdateID = id
	return codec.MarshalFile(out)
}

// Report says what is wrong.
func (v Verified) Report() report.Report {
	r := report.Report{Name: "verify", Title: "Record of " + v.ID, Status: report.PassIf(len(v.Wrong) == 0), Summary: report.Counted(len(v.Wrong), "difference") + " in " + report.Counted(v.Lines, "line") + " of the log"}
	for _, of := range v.Of {
		r.Add(report.Fields{{Name: of.Kind, Value: of.ID}, {Name: "head", Value: of.Head}})
	}
	if len(v.Wrong) > 0 {
		r.Add(report.Bullets(v.Wrong))
	}
	return r
}
