package web

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/work/run"
)

// seenRun is a run of the list as it was when its manifest was written.
type seenRun struct {
	written run.Stamped
	read    time.Time
	listed  run.ListedRun
	driven  bool
	stands  *research.Standing // nil where its status says it all
}

// settled is how old a manifest must be, when it is read, so that it is read only
// once: two writes within one tick of the file system's clock look the same.
const settled = time.Second

type runsView struct {
	cut
	Runs []runRow
	// Needs are the runs among them that wait for the person.
	Needs []runRow
}

type runRow struct {
	run.ListedRun
	State  state
	Stands standingView
	View   string // the page that is looked at first
	Stage  string // in words
}

// mostNeeds is how many runs the list shows at its top with what they need.
const mostNeeds = 5

// runsPage lists the runs, the one that was last written first. Only runs that
// are shown, or searched, are opened, and none twice.
func (s *Site) runsPage(ctx context.Context, query url.Values, link func(string, ...string) string) (*page, error) {
	recent, err := run.Recent(s.Desk, s.Home)
	if err != nil {
		return nil, err
	}
	if q := query.Get("q"); q != "" {
		var found []run.Stamped
		for _, w := range recent {
			if l := s.listed(ctx, w).listed; matches(q, l.RunID, l.Query, string(l.Stage), stageWords(l.Stage), string(l.Status)) {
				found = append(found, w)
			}
		}
		recent = found
	}
	view := runsView{cut: cutAt(query, len(recent), perPage, link("runs"))}
	for _, w := range piece(view.cut, recent) {
		seen := s.listed(ctx, w)
		l := seen.listed
		row := runRow{ListedRun: l, State: runState(l.Status), View: "run", Stage: stageWords(l.Stage)}
		if l.Status.Final() {
			row.Stage = ""
		}
		if seen.stands != nil {
			row.Stands = standingOf(*seen.stands)
			row.State = row.Stands.State
		}
		switch {
		case l.Problem != "":
			row.State = bad("unreadable")
		case l.Status == run.Completed:
			row.View = "report"
		}
		row.RunID = w.ID // its page is found by it
		view.Runs = append(view.Runs, row)
		if row.Stands.Needs() && len(view.Needs) < mostNeeds {
			view.Needs = append(view.Needs, row)
		}
	}
	return (&page{View: "runs", Title: "Runs", Live: following(link("liveRuns"), query), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

// following is the address of the stream of a list, with the search.
func following(address string, query url.Values) string {
	asked := url.Values{}
	for _, name := range []string{"q", "page"} {
		if v := query.Get(name); v != "" {
			asked.Set(name, v)
		}
	}
	if len(asked) == 0 {
		return address
	}
	return address + "?" + asked.Encode()
}

// listed is a run as the list shows it, opened again only when its manifest has
// changed, or when another process drives it than before, or none.
func (s *Site) listed(ctx context.Context, w run.Stamped) seenRun {
	s.mu.Lock()
	known, ok := s.seen[w.ID]
	s.mu.Unlock()
	if ok && known.written == w && known.read.Sub(w.At) > settled && (known.stands == nil || known.driven == s.driven(w.ID)) {
		return known
	}
	manifest := filepath.Join(s.Home, w.ID, run.ManifestFile)
	found := seenRun{written: w, read: time.Now(), listed: run.Listed(ctx, s.Desk, manifest)}
	if l := found.listed; l.Problem == "" && !l.Status.Final() && l.Status != run.Paused {
		if board, err := job.OpenBoard(ctx, s.Desk, manifest); err == nil { // else its page says what is wrong
			if stands, err := s.Standing(board); err == nil {
				found.stands, found.driven = &stands, driven(board.Run().Folder())
			}
			board.Close()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]seenRun{}
	}
	s.seen[w.ID] = found
	return found
}

// driven reports whether a process drives a run at this moment.
func (s *Site) driven(id string) bool {
	folder, err := artifact.Everywhere.Open("run", filepath.Join(s.Home, id))
	if err != nil {
		return false
	}
	defer folder.Close()
	return driven(folder)
}

func runState(status run.Status) state {
	switch status {
	case run.Completed:
		return good("completed")
	case run.Failed:
		return person("needs you")
	case run.Paused:
		return waiting("paused")
	case run.Cancelled:
		return bad("cancelled")
	case run.Running:
		return working("running")
	}
	return waiting(string(status))
}
