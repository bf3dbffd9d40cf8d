package run

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/store"
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

	question string // the whole of it
}

// ListInput are the arguments of [List].
type ListInput struct {
	Status string `json:"status,omitzero" jsonschema:"only runs of this status" enum:"created,running,paused,failed,completed,cancelled"`
	Since  string `json:"since,omitzero" jsonschema:"only runs that were updated at this time or later, such as 2026-05-04 or 2026-05-04T12:00:00Z"`
	Words  string `json:"words,omitzero" jsonschema:"only runs whose id or question has all of these words, or words that begin with them"`
}

// List lists the runs in a home, the last updated first. A home that does not exist has
// none, and a run that cannot be opened is listed with its problem, at the end, unless
// only runs of a status or a time are asked for. It returns INVALID_ARGS and READ_FAILED.
func List(ctx context.Context, desk Desk, home string, in ListInput) (ListResult, error) {
	if err := checkHome(home); err != nil {
		return ListResult{}, err
	}
	since, ok := tidegate.ParseTime(in.Since)
	if in.Since != "" && !ok {
		return ListResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("since", tidegate.Cut(in.Since)), "since must be a day or a time such as 2026-05-04 or 2026-05-04T12:00:00Z, got %q", tidegate.Cut(in.Since))
	}
	out := ListResult{Home: home, Runs: []ListedRun{}}
	err := store.Runs.Each(desk.Reach, home, func(_ *artifact.Folder, id string) {
		r := Listed(ctx, desk, filepath.Join(home, id, ManifestFile))
		updated, _ := tidegate.ParseTime(r.UpdatedAt)
		if (in.Status == "" || in.Status == string(r.Status)) && (in.Since == "" || !updated.Before(since)) && hasWords(r.RunID+" "+r.question, in.Words) {
			out.Runs = append(out.Runs, r)
		}
	})
	slices.SortStableFunc(out.Runs, func(a, b ListedRun) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
	return out, err
}

// hasWords reports whether a text has words that begin with each of some.
func hasWords(text, words string) bool {
	has := " "
	page.EachFolded(text, func(word []byte, _ int) { has += string(word) + " " })
	all := true
	page.EachFolded(words, func(word []byte, _ int) { all = all && strings.Contains(has, " "+string(word)) })
	return all
}

// Listed is the run of a manifest as [List] shows it.
func Listed(ctx context.Context, desk Desk, manifestPath string) ListedRun {
	r, err := Open(ctx, desk, manifestPath)
	if err != nil {
		root := filepath.Dir(manifestPath)
		return ListedRun{RunID: filepath.Base(root), Root: root, Problem: tidegate.AsError(err).Message}
	}
	defer r.Close()
	m := r.Manifest()
	var problem string
	if err := r.folder.CheckEnd(LogFile); tidegate.CodeOf(err) == tidegate.Tampered {
		problem = tidegate.AsError(r.damaged(tidegate.AsError(err).Message)).Message
	}
	return ListedRun{RunID: m.ID(), Root: r.Root(), Stage: m.Stage(), Status: m.Status(), Mode: m.Mode(),
		UpdatedAt: m.doc.Get("updated_at").Str(), Query: tidegate.Cut(m.Query()), Problem: problem, question: m.Query()}
}

// Stamped is a run of a home with the time at which its manifest was written
// last.
type Stamped struct {
	ID string // of its folder
	At time.Time
}

// Recent names the runs in a home, the last written first, without opening any.
// It returns READ_FAILED.
func Recent(desk Desk, home string) ([]Stamped, error) {
	if err := checkHome(home); err != nil {
		return nil, err
	}
	var runs []Stamped
	err := store.Runs.Each(desk.Reach, home, func(folder *artifact.Folder, id string) {
		if info, err := fs.Stat(folder.FS(), id+"/"+ManifestFile); err == nil {
			runs = append(runs, Stamped{id, info.ModTime()})
		}
	})
	slices.SortFunc(runs, func(a, b Stamped) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	return runs, err
}

// Report shows the list to a person.
func (l ListResult) Report() report.Report {
	out := report.Report{Name: "run_list", Title: "runs in " + l.Home, Summary: report.Counted(len(l.Runs), "run")}
	if len(l.Runs) == 0 {
		out.Add(report.Paragraph("No runs yet."), report.Preformatted(`tidegate research "your question"`))
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
		table.Row(status, r.RunID, string(r.Stage), string(r.Status), r.UpdatedAt, cmp.Or(r.Problem, r.Query))
	}
	out.Add(table)
	return out
}

// Find is the path of the manifest of the run that a person names: by the path
// of its manifest or folder, by its id under home, or by a path relative to
// workdir. An id takes precedence over a relative path. It returns NOT_FOUND with
// the name and the places that were searched, and READ_FAILED where the caller may
// not look into such a place.
func Find(desk Desk, home, workdir, name string) (string, error) {
	return store.Runs.Find(desk.Reach, home, workdir, name)
}

// FindByBeginning is [Find] for somebody who only looks: it also takes the beginning
// of the id of one run under home, and without a name it finds the run that was
// written last. Others says how many runs there were to choose from in that case. It
// returns INVALID_ARGS for the beginning of several ids, and NOT_FOUND.
func FindByBeginning(desk Desk, home, workdir, name string) (manifest string, others int, err error) {
	if name == "" {
		runs, err := Recent(desk, home)
		if err != nil {
			return "", 0, err
		}
		if len(runs) == 0 {
			return "", 0, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("home", home), "there is no run under %s", home)
		}
		return filepath.Join(home, runs[0].ID, ManifestFile), len(runs) - 1, nil
	}
	manifest, err = store.Runs.FindByBeginning(desk.Reach, home, workdir, name)
	return manifest, 0, err
}

// ByID is the path of the manifest of the run with that id under home, whether it
// exists or not. It returns INVALID_ARGS without a home, and for an id that no run
// can have.
func ByID(home, id string) (string, error) {
	if CheckID(id) != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("run", tidegate.Cut(id)), "run must be the id of a run, got %q", tidegate.Cut(id))
	}
	if err := checkHome(home); err != nil {
		return "", err
	}
	return filepath.Join(home, id, ManifestFile), nil
}

// checkHome returns INVALID_ARGS unless home is an absolute path.
func checkHome(home string) error {
	if err := store.CheckHome(home); err != nil {
		return err
	}
	return CheckPath("home", home)
}
