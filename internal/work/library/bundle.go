package library

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
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
			if err := d.Write(file.Name, file.Data); err != nil {
				return err
			}
		}
		if b.Kind == Run {
			for _, name := range run.Folders { // a bundle has no empty ones
				if err := d.MakeFolder(name); err != nil {
					return err
				}
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
	for _, of := range subjects(about) {
		item, err := Open(ctx, desk, runs, filepath.Dir(runs), of.ID)
		if err != nil {
			return "", err
		}
		wrong, err := heldTo(ctx, folder, item, of, about, record.Counts)
		item.Close()
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
