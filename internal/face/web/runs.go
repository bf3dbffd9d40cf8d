package web

import (
	"context"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// seenRun is a run of the list as it was when its manifest was written.
type seenRun struct {
	written run.Stamped
	read    time.Time
	listed  run.ListedRun
	moment  runMoment
	doubts  paper.Status       // of its report
	stands  *dispatch.Standing // nil where its status says it all
}

// seenRuns are the runs of a home, by their ids, as the lists of all roles know them.
type seenRuns struct {
	mu   sync.Mutex
	runs map[string]seenRun
}

// settled is how old a manifest must be, when it is read, so that it is read only
// once: two writes within one tick of the file system's clock look the same.
const settled = time.Second

type runsView struct {
	cut
	Runs []runRow
	// Needs are the runs among them that wait for the person.
	Needs   []runRow
	Filters []filter
	Sorts   []filter
	Asked   bool // only some of the runs are asked for
	Found   *found
	Home    bool   // there is nothing yet
	Audits  string // where a file is handed over, "" where none can be
	Token   string // of the form for it
	Asks    asking
	Agents  string // whether an agent is set up
}

// asking is a box in which a question is asked where it stands.
type asking struct {
	Action string // "" where none can be
	Token  string
	Most   string // that it may cost, as a form has it
}

// filter is a choice that the address keeps.
type filter struct {
	Name, Link string
	Here       bool
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

// runFilters are the states that the list can be asked for, with their classes.
var runFilters = []struct{ key, name, class string }{
	{"needs", "needs you", "person"}, {"running", "running", "working"}, {"waiting", "waiting", "waiting"}, {"completed", "completed", "good"}, {"failed", "failed", "bad"},
}

// runsPage lists the runs, the one that was last written first. Only runs that
// are shown, or that a filter or an order has to look at, are opened, and none twice.
func (s *Site) runsPage(ctx context.Context, query url.Values, link func(string, ...string) string) (*page, error) {
	view := &runsView{Audits: link("newAudit"), Asks: asking{Action: link("new")}}
	here := link("runs")
	choice := func(name, key, value string) filter {
		values := url.Values{}
		for _, kept := range listQuery[:3] {
			if v := query.Get(kept); v != "" && kept != key {
				values.Set(kept, v)
			}
		}
		if value != "" {
			values.Set(key, value)
		}
		return filter{name, here + queryOf(values), query.Get(key) == value}
	}
	view.Filters = append(view.Filters, choice("all", "state", ""))
	for _, f := range runFilters {
		view.Filters = append(view.Filters, choice(f.name, "state", f.key))
	}
	view.Sorts = []filter{choice("last written", "sort", ""), choice("oldest", "sort", "oldest"), choice("question", "sort", "question")}
	view.Asked = query.Get("state") != ""
	if strings.TrimSpace(query.Get("q")) != "" {
		return s.foundPage(ctx, view, query, link)
	}
	recent, err := run.Recent(s.Desk, s.Home)
	if err != nil {
		return nil, err
	}
	if recent, err = s.chosen(ctx, recent, query); err != nil {
		return nil, err
	}
	view.cut = cutAt(query, len(recent), perPage, here)
	for _, w := range piece(view.cut, recent) {
		row := s.row(ctx, w)
		view.Runs = append(view.Runs, row)
		if row.Stands.Needs() && len(view.Needs) < mostNeeds {
			view.Needs = append(view.Needs, row)
		}
	}
	if view.Home = len(recent) == 0 && !view.Asked; view.Home && s.Agents != nil {
		view.Agents = s.Agents()
	}
	return (&page{View: "runs", Title: "Runs", Live: following(link("liveRuns"), query), Data: view, Now: s.Desk.Now(), link: link}).sealed()
}

// Warm reads what filters and searches look at, so that the first is as quick as those that
// follow. What cannot be read is said by the page that shows it.
func (s *Site) Warm(ctx context.Context) {
	s.begin()
	recent, _ := run.Recent(s.Desk, s.Home)
	for _, w := range recent {
		if ctx.Err() != nil {
			return
		}
		s.listed(ctx, w)
	}
	_ = library.Refresh(ctx, s.Desk, s.Home)
}

// ReadOn reads what searches left unread, until its context ends.
func (s *Site) ReadOn(ctx context.Context) {
	s.begin()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.unread:
			_ = library.Refresh(ctx, s.Desk, s.Home) // the next search says what is left
		}
	}
}

// chosen are the runs that a filter asks for, in the order that is asked for.
func (s *Site) chosen(ctx context.Context, recent []run.Stamped, query url.Values) ([]run.Stamped, error) {
	class := ""
	for _, f := range runFilters {
		if f.key == query.Get("state") {
			class = f.class
		}
	}
	if class != "" {
		var kept []run.Stamped
		for _, w := range recent {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if row := s.row(ctx, w); row.State.Class == class || class == "bad" && row.Status == run.Failed {
				kept = append(kept, w)
			}
		}
		recent = kept
	}
	switch query.Get("sort") {
	case "oldest":
		slices.Reverse(recent)
	case "question":
		words := map[string]string{}
		for _, w := range recent {
			words[w.ID] = strings.ToLower(s.listed(ctx, w).listed.Query)
		}
		slices.SortStableFunc(recent, func(a, b run.Stamped) int { return strings.Compare(words[a.ID], words[b.ID]) })
	}
	return recent, nil
}

// row is a run as the list shows it, under the name of its folder, by which its page is
// found.
func (s *Site) row(ctx context.Context, w run.Stamped) runRow {
	id, seen := w.ID, s.listed(ctx, w)
	l := seen.listed
	row := runRow{ListedRun: l, State: runState(l.Status), View: "run", Stage: stageWords(l.Stage)}
	row.RunID = id
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
		row.View, row.State = "report", s.finishedState(id, seen.doubts)
	}
	return row
}

// listQuery are what the address of a list keeps.
var listQuery = []string{"q", "state", "sort", "page"}

// following is the address of the stream of a list, with what is asked for.
func following(address string, query url.Values) string {
	asked := url.Values{}
	for _, name := range listQuery {
		if v := query.Get(name); v != "" {
			asked.Set(name, v)
		}
	}
	return address + queryOf(asked)
}

// listed is a run as the list shows it, opened again only when its manifest or its log has
// changed, or when another process drives it than before, or none.
func (s *Site) listed(ctx context.Context, w run.Stamped) seenRun {
	s.seen.mu.Lock()
	known, ok := s.seen.runs[w.ID]
	s.seen.mu.Unlock()
	if ok && known.written == w && known.read.Sub(w.At) > settled && (known.stands == nil || known.moment == s.momentOf(w.ID)) {
		return known
	}
	manifest := filepath.Join(s.Home, w.ID, run.ManifestFile)
	moment := s.momentOf(w.ID)
	found := seenRun{written: w, read: time.Now(), listed: run.Listed(ctx, s.Desk, manifest)}
	if l := found.listed; l.Problem == "" && !l.Status.Final() && l.Status != run.Paused {
		if board, err := job.OpenBoard(ctx, s.Desk, manifest); err == nil { // else its page says what is wrong
			if stands, err := s.Standing(board); err == nil {
				found.stands, found.moment = &stands, moment
			}
			board.Close()
		}
	}
	if found.listed.Status == run.Completed {
		found.doubts = s.doubtsOf(ctx, w.ID)
	}
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	s.seen.runs[w.ID] = found
	return found
}

// runMoment tells one state of a run that goes on from the next.
type runMoment struct {
	driven bool
	logged int64 // bytes
}

func (s *Site) momentOf(id string) (m runMoment) {
	folder, err := artifact.Everywhere.Open("run", filepath.Join(s.Home, id))
	if err != nil {
		return m
	}
	defer folder.Close()
	if info, err := fs.Stat(folder.FS(), run.LogFile); err == nil {
		m.logged = info.Size()
	}
	m.driven = driven(folder)
	return m
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
