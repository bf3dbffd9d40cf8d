package web

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate/internal/work/run"
)

// seenRun is a run of the list as it was when its manifest was written.
type seenRun struct {
	written run.Stamped
	read    time.Time
	listed  run.ListedRun
}

// settled is how old a manifest must be, when it is read, so that it is read only
// once: two writes within one tick of the file system's clock look the same.
const settled = time.Second

type runsView struct {
	cut
	Runs []runRow
}

type runRow struct {
	run.ListedRun
	State state
}

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
			if l := s.listed(ctx, w); matches(q, l.RunID, l.Query, string(l.Stage), string(l.Status)) {
				found = append(found, w)
			}
		}
		recent = found
	}
	view := runsView{cut: cutAt(query, len(recent), perPage, link("runs"))}
	for _, w := range piece(view.cut, recent) {
		l := s.listed(ctx, w)
		row := runRow{l, runState(l.Status)}
		if l.Problem != "" {
			row.State = bad("unreadable")
		}
		row.RunID = w.ID // its page is found by it
		view.Runs = append(view.Runs, row)
	}
	return (&page{View: "runs", Title: "Runs", Live: following(link("liveRuns"), query), Data: view, link: link}).sealed()
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
// changed.
func (s *Site) listed(ctx context.Context, w run.Stamped) run.ListedRun {
	s.mu.Lock()
	known, ok := s.seen[w.ID]
	s.mu.Unlock()
	if ok && known.written == w && known.read.Sub(w.At) > settled {
		return known.listed
	}
	now := time.Now()
	l := run.Listed(ctx, s.Desk, filepath.Join(s.Home, w.ID, run.ManifestFile))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]seenRun{}
	}
	s.seen[w.ID] = seenRun{w, now, l}
	return l
}

func runState(status run.Status) state {
	switch status {
	case run.Completed:
		return good("completed")
	case run.Failed:
		return person("needs a person")
	case run.Paused:
		return waiting("paused")
	case run.Cancelled:
		return bad("cancelled")
	case run.Running:
		return working("running")
	}
	return waiting(string(status))
}
