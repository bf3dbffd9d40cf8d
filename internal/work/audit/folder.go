package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// The files of an audit, beside the report.
const (
	// File says what is audited and how; a folder that has it is an audit.
	File = "audit.json"
	// ResultFile is what was found.
	ResultFile = store.ResultFile
	logFile    = store.LogFile
)

// schema is the version of File.
const schema = "audit.v1"

// about is File.
type about struct {
	SchemaVersion string          `json:"schema_version"`
	AuditID       string          `json:"audit_id"`
	CreatedAt     string          `json:"created_at"`
	Program       string          `json:"program"`
	Report        kept            `json:"report"`
	From          string          `json:"from"` // where its pages come from
	Options       foreign.Options `json:"options"`
}

// kept is the report as the folder has it.
type kept struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Digest string `json:"digest"`
}

// Audit is an audit that is open for reading.
type Audit struct {
	about
	folder  *artifact.Folder
	archive *archive.Archive
	log     store.Record
	at      string // when it was judged; "" for one that is not finished
	why     string // why a part was not read by the second reader
	held    *artifact.Claim
}

// Find is the path of the file of the audit that a person names, as
// [store.Kind.FindByBeginning] takes names. It returns the errors of that.
func Find(desk run.Desk, home, workdir, name string) (string, error) {
	path, err := store.Audits.FindByBeginning(desk.Reach, home, workdir, name)
	if err == nil && filepath.Base(path) != File {
		return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("audit", name), "%s is not an audit", tidegate.Cut(name))
	}
	return path, err
}

// Open opens the audit whose [File] is at a path. It returns NOT_FOUND, READ_FAILED,
// INVALID_JSON and SCHEMA_VALIDATION_FAILED.
func Open(ctx context.Context, desk run.Desk, path string) (*Audit, error) {
	folder, err := desk.Reach.Open("audit", filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	a := &Audit{folder: folder}
	if err = a.read(); err == nil {
		a.archive, err = archive.Open(ctx, folder, store.ArchiveFile, func(digest string) bool { return a.log.Counts[digest] })
	}
	if err != nil {
		folder.Close()
		return nil, tidegate.WithDetails(err, tidegate.Pairs("audit", path))
	}
	return a, nil
}

// Close closes the audit.
func (a *Audit) Close() {
	if a.held != nil {
		a.held.Release()
	}
	a.folder.Close()
}

// ID is the id of the audit.
func (a *Audit) ID() string { return a.AuditID }

// Path is the folder of the audit.
func (a *Audit) Path() string { return a.folder.Path() }

// Folder is the folder of the audit, open.
func (a *Audit) Folder() *artifact.Folder { return a.folder }

// Named are the files of the audit that its log records.
func (a *Audit) Named() seal.Recorded { return a.log.Named() }

// Pages is what was fetched for the audit.
func (a *Audit) Pages() *archive.List { return &a.archive.List }

// Recorded is the program that made the audit.
func (a *Audit) Recorded() string { return a.Program }

// ReportName is what the report was called.
func (a *Audit) ReportName() string { return a.Report.Name }

// Created is when the audit was begun.
func (a *Audit) Created() string { return a.CreatedAt }

// read reads what is audited, and the log.
func (a *Audit) read() error {
	data, err := a.folder.ReadDocument(File)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &a.about); err != nil || a.SchemaVersion != schema || a.Report.File != "report"+path.Ext(a.Report.File) {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", a.folder.Path()), "%s does not say what was audited", File)
	}
	return a.readLog()
}

// readLog takes in what counts: the records of the archive, and the digests of files.
func (a *Audit) readLog() (err error) {
	if a.log, err = store.Read(a.folder); err != nil {
		return err
	}
	a.at = ""
	for _, e := range a.log.Lines {
		switch e.Entry.Get("event").Str() {
		case eventRead:
			a.why = e.Entry.Get("why").Str()
		case eventJudged:
			a.at = e.Entry.Get("ts").Str()
		}
	}
	return nil
}

// page reads what the archive has of a URL, nil when it has nothing.
func (a *Audit) page(ctx context.Context, url string) (*source.Page, error) {
	capture, found, err := a.capture(ctx, url)
	if err != nil || !found {
		return nil, err
	}
	return sourcing.PageOf(capture), nil
}

// evidence is what the sources of the report are judged by.
func (a *Audit) evidence() source.Evidence {
	return source.Evidence{Page: a.page, Work: func(ctx context.Context, id scholar.ID) (*scholar.Work, error) {
		answered, failed := a.answers(ctx)
		work := id.Work(answered)
		return work, *failed
	}}
}

// answers gives what an address of a registry answered. The error is set where the
// archive cannot be read.
func (a *Audit) answers(ctx context.Context) (answered func(address string) *scholar.Answer, failed *error) {
	return sourcing.Answers(func(address string) (archive.Capture, bool, error) { return a.capture(ctx, address) })
}

// capture is what the archive has of an address.
func (a *Audit) capture(ctx context.Context, address string) (c archive.Capture, found bool, err error) {
	entry, found := a.archive.Find(address)
	if found {
		c, err = a.archive.Read(ctx, entry)
	}
	return c, found, err
}

// Again judges the report again, by what the audit keeps and nothing else. It returns the
// errors of reading it.
func (a *Audit) Again(ctx context.Context) (*foreign.Result, error) {
	body, err := a.folder.Read(a.Report.File)
	if err != nil {
		return nil, err
	}
	document, err := foreign.Read(a.Report.Name, body)
	if err != nil {
		return nil, err
	}
	result, err := foreign.Judge(ctx, a.Report.Name, body, document, a.Options, a.evidence())
	if err != nil {
		return nil, err
	}
	result.AuditID, result.AuditPath = a.AuditID, a.folder.Path()
	if a.Options.Verifier != "" && a.at != "" {
		err = a.hear(a.parts(result), result)
	}
	return result, err
}

// Result is the result that the audit keeps, judged again so that it can be shown in
// every form. It returns INVALID_STATE for an audit that is not finished, and TAMPERED
// where the result that is kept is another.
func (a *Audit) Result(ctx context.Context) (*foreign.Result, error) {
	result, difference, err := a.compare(ctx)
	if err == nil && difference != "" {
		err = tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("audit", a.Path()), "the result of audit %s is not the one that its report and archive give: %s", a.AuditID, difference)
	}
	return result, err
}

// compare judges again, and says how the result that is kept differs.
func (a *Audit) compare(ctx context.Context) (result *foreign.Result, difference string, err error) {
	kept, err := a.Kept()
	if err != nil {
		return nil, "", err
	}
	if result, err = a.Again(ctx); err != nil {
		return nil, "", err
	}
	again, err := result.Document()
	if err != nil {
		return nil, "", err
	}
	if !bytes.Equal(kept, again) {
		difference = ResultFile + " has other bytes than " + cmp.Or(a.Program, "the program") + " would write by what is kept"
	}
	return result, difference, nil
}

// Kept is the result as it is kept. It returns INVALID_STATE for an audit that is not
// finished, and READ_FAILED.
func (a *Audit) Kept() ([]byte, error) {
	if a.at == "" {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("audit", a.Path()), "audit %s was not finished: audit the report again", a.AuditID)
	}
	return a.folder.Read(ResultFile)
}

// Sources are the sources of the report with what each is worth by the archive. It returns
// the errors of reading the audit.
func (a *Audit) Sources(ctx context.Context) ([]source.Source, []source.Record, error) {
	body, err := a.folder.Read(a.Report.File)
	if err != nil {
		return nil, nil, err
	}
	document, err := foreign.Read(a.Report.Name, body)
	if err != nil {
		return nil, nil, err
	}
	sources := document.Sources()
	records, err := source.Judge(ctx, sources, a.evidence())
	return sources, records, err
}

// Capture is what the archive has of a URL, with the places of its records; nil where it
// has nothing. It returns the errors of reading the archive.
func (a *Audit) Capture(ctx context.Context, url string) (*archive.Capture, []archive.Ref, error) {
	entry, found := a.archive.Find(url)
	if !found {
		return nil, nil, nil
	}
	capture, err := a.archive.Read(ctx, entry)
	return &capture, entry.Records, err
}

// Parts are what a second reader is asked about the report of an audit.
type Parts struct {
	sentences.Readings
	ID        string // of the audit
	CreatedAt string
}

func (a *Audit) parts(result *foreign.Result) *Parts {
	return &Parts{sentences.Readings{Questions: result.Questions(), Folder: a.folder, Round: 1}, a.AuditID, a.CreatedAt}
}

// have has a second reader read the report, and records what it handed in.
func (a *Audit) have(ctx context.Context, desk run.Desk, read Reader, result *foreign.Result) error {
	parts := a.parts(result)
	if len(parts.Claims.Sentences) > 0 {
		var err error
		if a.why, err = read(ctx, parts); err != nil {
			return err
		}
	}
	files, err := sentences.AttemptFiles(a.folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		a.log.Files[f.Key] = f.Value.(string)
	}
	if err := a.record(ctx, desk, func(tx *artifact.Tx) error {
		return tx.Record(logFile, desk.Writer().Line(eventRead, tidegate.Pairs("verifier", a.Options.Verifier, "why", a.why, "files", files)))
	}); err != nil {
		return err
	}
	return a.hear(parts, result)
}

// hear takes what the second reader said into a result. It returns TAMPERED for readings
// that the log does not record.
func (a *Audit) hear(parts *Parts, result *foreign.Result) error {
	for more := true; more; {
		var err error
		if more, err = parts.Advance(); err != nil {
			return err
		}
	}
	for _, c := range parts.Claims.Sentences {
		if c.Verdict == nil {
			continue
		}
		name := sentences.ReadingFile(c.Verdict.Job, c.Verdict.Attempt)
		if digest, err := a.folder.Digest(name); err != nil || digest != a.log.Files[name] {
			return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("audit", a.Path()), "%s is not what the log of audit %s records", name, a.AuditID)
		}
	}
	result.Hear(a.Options, a.why)
	return nil
}

// Show is the result of an audit that was made. It returns the errors of [Open] and
// [Audit.Result].
func Show(ctx context.Context, desk run.Desk, path string) (foreign.Result, error) {
	a, err := Open(ctx, desk, path)
	if err != nil {
		return foreign.Result{}, err
	}
	defer a.Close()
	result, err := a.Result(ctx)
	if err != nil {
		return foreign.Result{}, err
	}
	return *result, nil
}

// Verified is what [Verify] finds.
type Verified struct {
	OK      codec.True `json:"ok"`
	AuditID string     `json:"audit_id"`
	Pass    bool       `json:"pass" jsonschema:"the record agrees with itself, and the report and the archive give the same result again"`
	Lines   int        `json:"lines" jsonschema:"of the log"`
	Head    string     `json:"head" jsonschema:"the digest of the last line of the log"`
	Wrong   []string   `json:"wrong" jsonschema:"what does not agree"`
}

// Passed reports whether nothing is wrong.
func (v Verified) Passed() bool { return v.Pass }

// Report says what is wrong.
func (v Verified) Report() report.Report {
	r := report.Report{Name: "audit_verify", Title: "Record of audit " + v.AuditID, Status: report.PassIf(v.Pass), Summary: report.Counted(len(v.Wrong), "difference") + " in " + report.Counted(v.Lines, "line") + " of the log"}
	r.Add(report.Fields{{Name: "head", Value: v.Head}})
	if len(v.Wrong) > 0 {
		r.Add(report.Bullets(v.Wrong))
	}
	c := report.Case{Name: v.AuditID, Status: report.PassIf(v.Pass)}
	for _, wrong := range v.Wrong {
		c.Findings = append(c.Findings, report.Finding{Rule: "AUDIT_DIFFERS", Message: wrong})
	}
	r.AddCase(c)
	return r
}

// Verify holds the record of an audit against itself: the chain of its log, the digests
// of its files, and the result, which is judged again. It returns the errors of reading
// it.
func Verify(ctx context.Context, desk run.Desk, path, program string) (Verified, error) {
	a, err := Open(ctx, desk, path)
	if err != nil {
		return Verified{}, err
	}
	defer a.Close()
	v := Verified{AuditID: a.AuditID, Wrong: []string{}}
	wrong := func(text string) { v.Wrong = append(v.Wrong, text) }
	log, differs, err := a.log.Verify(a.folder)
	if err != nil {
		return v, err
	}
	v.Lines, v.Head, v.Wrong = log.Lines, log.Head, append(v.Wrong, differs...)
	_, difference, err := a.compare(ctx)
	switch {
	case tidegate.CodeOf(err) == tidegate.InvalidState:
		wrong("it was not finished: it has no result")
	case err != nil:
		wrong("it cannot be judged again: " + err.Error())
	case difference != "" && a.Program == program:
		wrong(difference)
	case difference != "":
		wrong(difference + "; this is " + program)
	}
	v.Pass = len(v.Wrong) == 0
	return v, nil
}

// Listed is the result of [List].
type Listed struct {
	OK     codec.True `json:"ok"`
	Audits []Item     `json:"audits"`
}

// Item is an audit in a list.
type Item struct {
	AuditID   string `json:"audit_id"`
	Path      string `json:"audit_path"`
	Report    string `json:"report"`
	CreatedAt string `json:"created_at"`
	Finished  bool   `json:"finished"`
	Pass      bool   `json:"pass"`
	Outcome   string `json:"outcome"`
	Sentences int    `json:"sentences"`
	Found     int    `json:"found"`
	Weak      int    `json:"weak"`
	Missing   int    `json:"missing"`
	Unchecked int    `json:"unchecked"`
	Uncited   int    `json:"uncited"`
}

// List lists the audits under home, the newest first. It returns READ_FAILED.
func List(ctx context.Context, desk run.Desk, home string) (Listed, error) {
	out := Listed{Audits: []Item{}}
	var ids []string
	if err := store.Audits.Each(desk.Reach, home, func(_ *artifact.Folder, id string) { ids = append(ids, id) }); err != nil {
		return out, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		folder, err := desk.Reach.Open("home", filepath.Join(home, id))
		if err != nil {
			return out, err
		}
		a := &Audit{folder: folder}
		if err := a.read(); err != nil {
			a.Close()
			out.Audits = append(out.Audits, Item{AuditID: id, Path: folder.Path(), Report: "cannot be read: " + err.Error()})
			continue
		}
		item := Item{AuditID: id, Path: a.Path(), Report: a.Report.Name, CreatedAt: a.CreatedAt, Finished: a.at != ""}
		if data, err := a.folder.ReadDocument(ResultFile); err == nil && item.Finished {
			if doc, err := codec.Parse(data); err == nil {
				item.Pass, item.Outcome = doc.Get("pass").Bool(), doc.Get("outcome").Str()
				for name, n := range map[string]*int{"sentences": &item.Sentences, "found": &item.Found, "weak": &item.Weak, "missing": &item.Missing, "unchecked": &item.Unchecked, "uncited": &item.Uncited} {
					count, _ := doc.Get("summary").Get(name).Int()
					*n = int(count)
				}
			}
		}
		a.Close()
		out.Audits = append(out.Audits, item)
	}
	slices.SortStableFunc(out.Audits, func(a, b Item) int { return strings.Compare(b.CreatedAt+b.AuditID, a.CreatedAt+a.AuditID) })
	return out, nil
}

// Report lists the audits.
func (l Listed) Report() report.Report {
	r := report.Report{Name: "audit_list", Title: "Audits", Summary: report.Counted(len(l.Audits), "audit")}
	table := report.NewTable("Audit", "Report", "Begun", ">Sentences", ">Found", ">Weak", ">Missing", ">Unchecked", ">Uncited")
	for _, a := range l.Audits {
		if !a.Finished {
			table.Row(report.Warn, a.AuditID, a.Report, a.CreatedAt, "not finished", "", "", "", "", "")
			continue
		}
		table.Row(foreign.StatusOf(foreign.Outcome(a.Outcome)), a.AuditID, a.Report, a.CreatedAt, a.Sentences, a.Found, a.Weak, a.Missing, a.Unchecked, a.Uncited)
	}
	r.Add(table)
	return r
}
