package web

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// page begins a page of the run. The report of a completed run is the first of its pages.
func (l *visit) page(view, title string, data any) *page {
	m := l.run.Manifest()
	id := l.run.ID()
	h := &heading{ID: id, Question: m.Query(), State: standingState(l.standing.Kind)}
	if !m.Status().Final() {
		h.Stage = stageWords(m.Stage())
	}
	tabs := []tab{
		{View: "run", Name: "Overview"}, {View: "jobs", Name: "Jobs", Count: strconv.Itoa(len(l.board.Jobs()))}, {View: "outputs", Name: "Outputs"},
		{View: "gates", Name: "Gates"}, {View: "sources", Name: "Sources", Count: strconv.Itoa(len(l.records))}, {View: "report", Name: "Report"}, {View: "log", Name: "Log"},
	}
	if m.Status() == run.Completed {
		first := []tab{{View: "report", Name: "Report"}}
		if !l.files {
			asked := tab{View: "answers", Name: "Answers"}
			answers, updates := l.site.keptAbout(id)
			if n := len(answers) + len(updates); n > 0 {
				asked.Count = strconv.Itoa(n)
			}
			first = append(first, asked)
		}
		tabs = slices.Concat(first, slices.DeleteFunc(tabs, func(t tab) bool { return t.View == "report" }))
	}
	for _, t := range tabs {
		t.Here = t.View == view || view == "job" && t.View == "jobs"
		h.Tabs = append(h.Tabs, t)
	}
	p := &page{View: view, Title: title + " · " + id, Run: h, Layout: string(l.standing.Kind), Seen: strconv.Itoa(l.line), Files: l.files, Data: data, Now: l.site.Desk.Now(), link: l.link}
	if !m.Status().Final() && !l.files {
		p.Live = l.link("events", id)
		p.Decides = len(l.site.Decisions) > 0
	}
	return p
}

// runView is the overview of a run. How the run stands comes first, and decides what of
// the rest is folded away.
type runView struct {
	Stands     standingView
	Blockers   []stage.Blocker // of a run that is moved by single tools
	Rail       []railStage
	Spending   spending
	Gates      []gateRow
	Sources    tallies
	Usable     int
	AllSources int
	AtWork     []jobRow
	Feed       []feedRow
	Lanes      lanes
	Trust      string
	TrustState state
	Sentences  string // how those of the report were checked
	Decided    []run.Decided
	Confined   []run.Confinement
	Asked      []string // of the report
	Offers     []workOffer
	Stopped    string // why it is no longer driven here
	Plan       []planRow
}

// planRow is a perspective of a plan that waits for a yes.
type planRow struct {
	Title          string
	Words, Sources float64 // at most
}

// plan are the perspectives of a plan that waits.
func (l *visit) plan() ([]planRow, error) {
	if !l.standing.Plan {
		return nil, nil
	}
	doc, err := l.document(l.run.Layout().Perspectives)
	if err != nil {
		return nil, err
	}
	var out []planRow
	for _, p := range doc.Get("perspectives").Elems() {
		row := planRow{Title: p.Get("title").Str()}
		row.Words, _ = p.Get("prompt_contract").Get("max_words").Float()
		row.Sources, _ = p.Get("prompt_contract").Get("max_sources").Float()
		out = append(out, row)
	}
	return out, nil
}

// railStage is one stage of the rail.
type railStage struct {
	Name string
	// Stages are the engine's names for it.
	Stages []string
	Class  string // done, here or "" for what is to come
	State  state
}

// meter is one amount and its limit, as a row with a bar.
type meter struct {
	Name   string
	Amount string
	Limit  string  // "" without one
	Before string  // what was estimated when the run began, "" where nobody did
	Share  float64 // of the bar, 0 to 100
	Cap    float64 // where the limit is on the bar, 0 without one
	State  state
	About  string // the bar in words
}

func (l *visit) runPage() (*page, error) {
	m := l.run.Manifest()
	view := runView{Stands: standingOf(l.standing)}
	if l.files { // its reader cannot type anything
		view.Stands.Do, view.Stands.Other = nil, nil
	}
	view.Blockers = l.status.WaitingFor
	if l.status.Interrupted {
		view.Blockers = nil
	}
	tools := run.LastTools(l.run.Folder())
	open := 0
	for _, j := range l.board.Jobs() {
		switch j.State {
		case job.Leased:
			row := l.jobRow(j)
			row.Tool = tools[j.ID]
			view.AtWork = append(view.AtWork, row)
		case job.Open:
			open++
		}
	}
	if view.Stands.AtWork() {
		view.Stands.Sentence = activity(m.Stage(), len(view.AtWork), open)
	}
	view.Feed = l.feed()
	view.Rail = rail(m, view.Stands.State)
	view.Spending = l.spending(l.board.Policy())
	for _, g := range l.gates.Gates {
		view.Gates = append(view.Gates, l.gateRow(g))
	}
	view.Sources = l.sourceTally()
	view.AllSources = len(l.records)
	for i := range l.records {
		if l.records[i].Usable() {
			view.Usable++
		}
	}
	var err error
	if view.Decided, err = l.run.Decisions(); err != nil {
		return nil, err
	}
	if view.Confined, err = l.run.Confinements(); err != nil {
		return nil, err
	}
	shape, err := l.run.Shape()
	if err != nil {
		return nil, err
	}
	view.Asked = shape.Lines()
	view.Offers, view.Stopped = l.workOffers()
	if view.Plan, err = l.plan(); err != nil {
		return nil, err
	}
	view.TrustState, view.Trust = l.trust(view.Decided)
	view.Sentences = l.status.Trust
	view.Lanes = l.lanes()
	return l.page("run", "Overview", view), nil
}

// trust says how far the results of the run can be trusted, and why.
func (l *visit) trust(decided []run.Decided) (state, string) {
	passed, accepted, changed := 0, 0, 0
	for _, g := range l.gates.Gates {
		switch {
		case len(g.Changed) > 0:
			changed++
		case g.Accepted != "":
			accepted++
		case g.Counts == run.GatePass:
			passed++
		}
	}
	all := len(l.gates.Gates)
	switch {
	case l.status.Legacy:
		return bad("not judged"), run.LegacyNotice
	case changed > 0:
		return bad("changed since"), "What " + report.Counted(changed, "gate") + " judged has changed since: judge again."
	case accepted > 0:
		return person("a person's word"), report.Counted(accepted, "gate") + " passed because a person accepted it, the others by their judges."
	case slices.ContainsFunc(decided, run.Decided.Overrides):
		return person("a person's word"), "A person accepted what did not pass or did not match, as the list below says."
	case passed == all:
		return good("judged"), "Every gate passed by its judge. That says what the pages say, and not whether it is true."
	}
	return waiting("not yet"), strconv.Itoa(passed) + " of " + report.Counted(all, "gate") + " passed by their judges so far."
}

// against is an amount compared with a limit: from nine tenths on it is near, at the
// limit it is reached.
func against(name string, used, limit float64, text func(float64) string) meter {
	out := meter{Name: name, Amount: text(used)}
	if math.IsInf(limit, 1) || limit < 0 {
		out.About = name + ": " + out.Amount + ", no limit"
		return out
	}
	out.Limit = text(limit)
	most := math.Max(used, limit)
	if most > 0 {
		out.Share, out.Cap = round(used/most*100), round(limit/most*100)
	}
	switch {
	case used > limit:
		out.State = bad("over")
	case used >= 0.9*limit && limit > 0:
		out.State = waiting("near the limit")
	}
	out.About = name + ": " + out.Amount + " of " + out.Limit
	return out
}

func round(f float64) float64 { return math.Round(f*100) / 100 }

// tallies count things by kind. Link is a list that can show one kind alone, "" where there
// is none.
type tallies struct {
	Counts []tally
	Link   string
}

// tally is how many there are of one kind.
type tally struct {
	State state
	N     int
	Key   string // of the filter
}

// sourceTally counts the sources by status; what is not there is not counted.
func (l *visit) sourceTally() tallies {
	counts := map[string]int{}
	for i := range l.records {
		counts[string(l.records[i].Status)]++
	}
	out := tallies{Link: l.filtering("sources")}
	for _, status := range []string{"valid", "paywalled", "blocked", "mismatch", "invalid"} {
		if n := counts[status]; n > 0 {
			out.Counts = append(out.Counts, tally{sourceState(status), n, status})
		}
	}
	return out
}

// filtering is the address of a list of the run that can show a part of itself: not one among
// files.
func (l *visit) filtering(view string) string {
	if l.files {
		return ""
	}
	return l.link(view, l.run.ID())
}

func sourceState(status string) state {
	switch status {
	case "valid":
		return good(status)
	case "paywalled", "blocked":
		return waiting(status)
	}
	return bad(status)
}

// gateRow is a gate as pages show it.
type gateRow struct {
	ID, Name, About string
	Words           string // the name in the words of people
	State           state
	Why             string
	CheckedAt       string
	Command         string
	Decision        string // the name of that command in addresses
	Passed          bool
}

// between is the time from one moment to another, -1 where one is missing.
func between(from, to string) time.Duration {
	a, okA := tidegate.ParseTime(from)
	b, okB := tidegate.ParseTime(to)
	if !okA || !okB {
		return -1
	}
	return b.Sub(a)
}

func joined(parts []string) string { return strings.Join(parts, ", ") }
