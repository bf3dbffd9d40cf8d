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
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

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

// Verify holds an update or answer against itself and what it is bound to: the chain of its
// log, the digests of its files, the heads of the runs and audits, and, of an update, the
// result, which is judged again from what was fetched. It returns the errors of reading it;
// what does not agree is a result.
func Verify(ctx context.Context, desk run.Desk, runs, path string) (Verified, error) {
	folder, err := desk.Reach.Open("kept", path)
	if err != nil {
		return Verified{}, err
	}
	defer folder.Close()
	data, err := folder.ReadDocument(store.AboutFile)
	if err != nil {
		return Verified{}, err
	}
	doc, err := codec.ParseFile("kept", filepath.Join(path, store.AboutFile), data)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{ID: doc.Get("id").Str(), Of: subjects(doc)}
	record, err := store.Read(folder)
	if err != nil {
		return v, err
	}
	log, wrong, err := record.Verify(folder)
	if err != nil {
		return v, err
	}
	v.Lines, v.Wrong = log.Lines, wrong
	for _, name := range []string{store.AboutFile, store.ResultFile} {
		if record.Files[name] == "" {
			v.wrong("the log does not record " + name)
		}
	}
	for _, subject := range v.Of {
		if err := v.bound(ctx, desk, runs, folder, subject, doc, record.Counts); err != nil {
			return v, err
		}
	}
	return v, nil
}

// subjects are what an update or answer is bound to.
func subjects(about *codec.Value) (all []Subject) {
	for _, s := range about.Get("of").Elems() {
		all = append(all, Subject{s.Get("kind").Str(), s.Get("id").Str(), s.Get("head").Str(), s.Get("title").Str()})
	}
	return all
}

func (v *Verified) wrong(text string) { v.Wrong = append(v.Wrong, text) }

// bound holds what is kept against a run or audit: it is the one of that head, and, of an
// update, what was fetched gives the same result again.
func (v *Verified) bound(ctx context.Context, desk run.Desk, runs string, folder *artifact.Folder, of Subject, about *codec.Value, counts map[string]bool) error {
	item, err := Open(ctx, desk, runs, filepath.Dir(runs), of.ID)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		v.wrong("the " + of.Kind + " " + of.ID + " is not here")
		return nil
	}
	if err != nil {
		return err
	}
	defer item.Close()
	wrong, err := heldTo(ctx, folder, item, of, about, counts)
	if wrong != "" {
		v.wrong(wrong)
	}
	return err
}

// heldTo says how what is kept does not agree with the run or audit that it is bound to; ""
// where it does.
func heldTo(ctx context.Context, folder *artifact.Folder, item *Item, of Subject, about *codec.Value, counts map[string]bool) (wrong string, err error) {
	if item.Subject != of {
		return "the " + of.Kind + " " + of.ID + " is not as it was: its log has another head", nil
	}
	if about.Get("schema_version").Str() != updateSchema {
		return "", nil // agents cannot be asked again
	}
	again, err := updateAgain(ctx, folder, item, about.Get("id").Str(), counts)
	if err != nil {
		return "", err
	}
	kept, err := folder.Read(store.ResultFile)
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
