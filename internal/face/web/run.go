package web

import (
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// making are the pages that say how the report of a run was made.
var making = []tab{{View: "made", Name: "How it was made"}, {View: "jobs", Name: "Jobs"}, {View: "outputs", Name: "Outputs"}, {View: "gates", Name: "Gates"}, {View: "sources", Name: "Sources"}, {View: "log", Name: "Log"}}

// page begins a page of the run.
func (l *visit) page(view, title string, data any) *page {
	m := l.run.Manifest()
	id := l.id
	h := &heading{ID: id, Question: m.Query(), State: standingState(l.standing.Kind)}
	if m.Status() == run.Completed {
		h.State = l.site.finishedState(id, l.site.doubtsOf(l.ctx, id))
	}
	counts := map[string]int{"jobs": len(l.board.Jobs()), "sources": len(l.records)}
	for _, t := range making {
		t.Here = t.View == view || view == "job" && t.View == "jobs"
		if n := counts[t.View]; n > 0 {
			t.Count = strconv.Itoa(n)
		}
		h.Tabs = append(h.Tabs, t)
	}
	if view == "run" || view == "report" || !slices.ContainsFunc(h.Tabs, func(t tab) bool { return t.Here }) {
		h.Tabs = nil
	}
	p := &page{View: view, Title: title + " · " + id, Run: h, Layout: string(l.standing.Kind), Seen: strconv.Itoa(l.line), Files: l.files, Data: data, Now: l.site.Desk.Now(), link: l.link}
	if !m.Status().Final() && !l.files {
		p.Live = l.link("events", id)
		p.Decides = len(l.site.Decisions) > 0
	}
	return p
}

// runView is a run that has no finished report: how it stands, what helps, and the document as
// far as there is one.
type runView struct {
	Stands   standingView
	Blockers []stage.Blocker // of a run that is moved by single tools
	Rail     []railStage
	AtWork   []jobRow
	Kept     string            // what is accepted, and spent
	Wrong    dispatch.Refusals // of the job that stopped the run
	Retry    string            // the address of a further try of it, "" where none is offered
	Feed     []feedRow         // what came in last, and what was refused
	Offers   []workOffer
	Decide   []offer // what a person may decide, what helps first
	Stopped  string  // why it is no longer driven here
	Plan     []planRow
	Doc      template.HTML // the report as far as there is one
}

// madeView says how a report was made: what happened, the newest first, what it cost, and why
// it can be trusted.
type madeView struct {
	cut
	Stands     standingView
	Rail       []railStage
	Spending   spending
	Gates      []gateRow
	Sources    tallies
	Usable     int
	AllSources int
	Feed       []feedRow
	Lanes      lanes
	Trust      string
	TrustState state
	Sentences  string // how those of the report were checked
	Decided    []run.Decided
	Confined   []run.Confinement
	Asked      []string // of the report
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
	if m.Status() == run.Completed && !l.files {
		return l.reportPage()
	}
	view := runView{Stands: standingOf(l.standing)}
	if l.files { // its reader cannot type anything
		view.Stands.Do, view.Stands.Other = nil, nil
		return l.page("run", "Overview", view), nil
	}
	if !l.status.Interrupted {
		view.Blockers = l.status.WaitingFor
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
	view.Feed = l.feed(mostFeed)
	l.explain(view.Feed)
	view.Rail, view.Kept = rail(m, view.Stands.State), l.kept()
	if strings.Contains(view.Kept, "accepted") && !view.Stands.AtWork() && !view.Stands.Plan {
		view.Kept = "Nothing is lost: " + view.Kept
	}
	view.Offers, view.Stopped = l.workOffers()
	l.whatIsWrong(&view)
	var err error
	if view.Decide, err = l.offers(); err != nil {
		return nil, err
	}
	if view.Retry != "" && len(view.Decide) > 0 {
		view.Decide = view.Decide[1:] // it is the same without the note
	}
	if view.Plan, err = l.plan(); err != nil {
		return nil, err
	}
	r, err := l.marked()
	if err != nil {
		return nil, err
	}
	if len(r.Parts) > 0 {
		r.Partial = ""
		view.Doc = r.Document(paper.Frame{Inner: true})
	}
	return l.page("run", "Overview", view), nil
}

// kept says what of the work is accepted, and what was spent of what is allowed.
func (l *visit) kept() string {
	accepted := 0
	for _, j := range l.board.Jobs() {
		if j.State == job.Accepted {
			accepted++
		}
	}
	out := ""
	if accepted > 0 {
		out = report.Counted(accepted, "job") + " accepted"
		if n := len(l.records); n > 0 {
			out += ", " + report.Counted(n, "source") + " found"
		}
		out += ". "
	}
	spent := l.board.Spent()
	if spent.CostUSD == 0 && spent.Tokens > 0 { // by agents that report no cost
		return out + number(spent.Tokens) + " tokens used."
	}
	out += dollars(spent.CostUSD) + " spent"
	if limit := l.board.Policy().Budget.Of("max_cost_usd"); !math.IsInf(limit, 1) {
		out += " of " + dollars(limit)
	}
	return out + "."
}

// whatIsWrong says why the answers of the job that stopped the run were refused, and offers a
// further try of it.
func (l *visit) whatIsWrong(view *runView) {
	jobs := jobsIn(l.board, job.Exhausted)
	if len(jobs) == 0 {
		return
	}
	w := dispatch.WhatIsWrong(l.board, jobs[0].ID)
	if view.Wrong = w; w.Sentences > 0 {
		view.Stands.Asks = report.Counted(w.Answers, "answer") + " to “" + jobs[0].Title + "” " + map[bool]string{true: "was", false: "were"}[w.Answers == 1] +
			" refused, for " + map[bool]string{true: "the same "}[w.Same && w.Answers > 1] + report.Counted(w.Sentences, "sentence") + "."
	}
	if l.site.Background != nil && !l.run.Manifest().Status().Final() {
		view.Retry = l.link("retry", l.id, jobs[0].ID)
	}
}

// madePage says how the report of the run was made.
func (l *visit) madePage(query url.Values) (*page, error) {
	view := madeView{Stands: standingOf(l.standing), Rail: rail(l.run.Manifest(), standingState(l.standing.Kind)), Spending: l.spending(l.board.Policy()), Sources: l.sourceTally(), AllSources: len(l.records), Sentences: l.status.Trust, Lanes: l.lanes()}
	for _, g := range l.gates.Gates {
		view.Gates = append(view.Gates, l.gateRow(g))
	}
	for i := range l.records {
		if l.records[i].Usable() {
			view.Usable++
		}
	}
	feed := l.feed(len(l.entries))
	view.cut = cutAt(query, len(feed), min(l.size, 2*mostFeed), l.link("made", l.id))
	if l.files {
		view.cut = cutAt(nil, len(feed), l.size, "")
	}
	view.Feed = piece(view.cut, feed)
	l.explain(view.Feed)
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
	view.TrustState, view.Trust = l.trust(view.Decided)
	return l.page("made", "How it was made", view), nil
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
	return l.link(view, l.id)
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
