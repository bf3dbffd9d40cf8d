package audit

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

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
