package run

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/report"
)

// ListResult is the result of [List].
type ListResult struct {
	OK   codec.True  `json:"ok"`
	Home string      `json:"home"`
	Runs []ListedRun `json:"runs"`
}

// ListedRun is one run of a home.
type ListedRun struct {
	RunID     string `json:"run_id"`
	Root      string `json:"root"`
	Stage     Stage  `json:"stage"`
	Status    Status `json:"status"`
	Mode      string `json:"mode"`
	UpdatedAt string `json:"updated_at"`
	Query     string `json:"query"`
	Problem   string `json:"problem,omitzero"` // why the run cannot be opened
}

// List lists the runs in a home, in byte order of their folders. A home that is
// not there has none, and a run that cannot be opened is listed with its
// problem. It returns READ_FAILED.
func List(ctx context.Context, home string) (ListResult, error) {
	if err := checkHome(home); err != nil {
		return ListResult{}, err
	}
	manifests, err := runsIn(ctx, home)
	if err != nil {
		return ListResult{}, err
	}
	out := ListResult{Home: home, Runs: []ListedRun{}}
	for _, path := range manifests {
		listed := ListedRun{RunID: filepath.Base(filepath.Dir(path)), Root: filepath.Dir(path)}
		if r, err := Open(ctx, path); err != nil {
			listed.Problem = tidegate.AsError(err).Message
		} else {
			m := r.Manifest()
			listed = ListedRun{RunID: m.ID(), Root: r.Root(), Stage: m.Stage(), Status: m.Status(), Mode: m.Mode(),
				UpdatedAt: m.doc.Get("updated_at").Str(), Query: tidegate.Cut(m.Query())}
			r.Close()
		}
		out.Runs = append(out.Runs, listed)
	}
	return out, nil
}

// Report shows the list to a person.
func (l ListResult) Report() report.Report {
	out := report.Report{Name: "run_list", Title: "runs in " + l.Home, Summary: report.Counted(len(l.Runs), "run")}
	if len(l.Runs) == 0 {
		out.Add(report.Paragraph("No runs yet."), report.Preformatted(`tidegate run init "your question"`))
		return out
	}
	table := report.NewTable("Run", "Stage", "Status", "Updated", "Question")
	for _, r := range l.Runs {
		status := report.None
		switch {
		case r.Problem != "" || r.Status == Failed:
			status = report.Fail
		case r.Status == Completed:
			status = report.Pass
		}
		question := r.Query
		if r.Problem != "" {
			question = r.Problem
		}
		table.Row(status, r.RunID, string(r.Stage), string(r.Status), r.UpdatedAt, question)
	}
	out.Add(table)
	return out
}
