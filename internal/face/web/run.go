package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// page begins a page of the run.
func (l *visit) page(view, title string, data any) *page {
	m := l.run.Manifest()
	id := l.run.ID()
	h := &heading{ID: id, Question: m.Query(), Stage: string(m.Stage()), Status: string(m.Status()), State: runState(m.Status())}
	for _, t := range []tab{
		{View: "run", Name: "Overview"}, {View: "jobs", Name: "Jobs", Count: strconv.Itoa(len(l.board.Jobs()))}, {View: "outputs", Name: "Outputs"},
		{View: "gates", Name: "Gates"}, {View: "sources", Name: "Sources", Count: strconv.Itoa(len(l.records))}, {View: "report", Name: "Report"}, {View: "log", Name: "Log"},
	} {
		t.Here = t.View == view || view == "job" && t.View == "jobs"
		h.Tabs = append(h.Tabs, t)
	}
	p := &page{View: view, Title: title + " · " + id, Run: h, Seen: strconv.Itoa(l.line), Files: l.files, Data: data, link: l.link}
	if !m.Status().Final() && !l.files {
		p.Live = l.link("events", id)
		p.Decides = len(l.site.Decisions) > 0
	}
	return p
}

// runView answers what a person asks first: what is happening, what is it waiting
// for, what will it cost, can I trust this.
type runView struct {
	Happening  string
	Blockers   []stage.Blocker
	Commands   []Command
	Rail       []railStage
	Spent      []meter
	Spending   spending
	Gates      []gateRow
	GatesGood  int
	Sources    []meter
	Usable     int
	AllSources int
	AtWork     []jobRow
	Timeline   timeline
	Last       []logRow
	Trust      string
	TrustState state
	Sentences  string // how those of the report were checked
	Decided    []run.Decided
	Confined   []run.Confinement
	Asked      []string // of the report
}

// railStage is one stage of the rail.
type railStage struct {
	Name  string
	Class string // done, here or "" for what is to come
	State state
}

// meter is one amount and its limit, as a row with a bar.
type meter struct {
	Name   string
	Amount string
	Limit  string  // "" without one
	Share  float64 // of the bar, 0 to 100
	Cap    float64 // where the limit is on the bar, 0 without one
	State  state
	About  string // the bar in words
}

func (l *visit) runPage() (*page, error) {
	m := l.run.Manifest()
	view := runView{Blockers: l.status.WaitingFor}
	if l.site.Next != nil {
		view.Commands = l.site.Next(l.board)
	}
	var leased, open []job.Job
	for _, j := range l.board.Jobs() {
		switch j.State {
		case job.Leased:
			leased = append(leased, j)
		case job.Open:
			open = append(open, j)
		}
	}
	view.Happening = activity(l, leased, open)
	tools := run.LastTools(l.run.Folder())
	for _, j := range leased {
		row := l.jobRow(j)
		row.Tool = tools[j.ID]
		view.AtWork = append(view.AtWork, row)
	}
	view.Rail = rail(m)
	view.Spent = spentMeters(l.board.Spent(), l.board.Policy().Budget)
	view.Spending = l.spending(l.board.Policy().Budget)
	for _, g := range l.gates.Gates {
		row := l.gateRow(g)
		view.Gates = append(view.Gates, row)
		if g.Counts == run.GatePass {
			view.GatesGood++
		}
	}
	view.Sources = sourceMeters(l.records)
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
	view.TrustState, view.Trust = l.trust(view.Decided)
	view.Sentences = l.status.Trust
	view.Timeline = l.timeline()
	view.Last = lastRows(l.entries, 8)
	return l.page("run", "Overview", view), nil
}

// activity says in one sentence what goes on.
func activity(l *visit, leased, open []job.Job) string {
	m := l.run.Manifest()
	switch m.Status() {
	case run.Completed:
		return "The run is completed."
	case run.Cancelled:
		return "The run was cancelled."
	case run.Paused:
		return "A person paused the run in stage " + string(m.Stage()) + "."
	case run.Failed:
		why := "The run stopped in stage " + string(m.Stage()) + " and needs a person"
		if failures := m.Failures(); len(failures) > 0 {
			last := failures[len(failures)-1]
			why += ": " + strings.TrimSuffix(report.Visible(cmp.Or(last.Get("message").Str(), last.Get("reason").Str())), ".")
		}
		return why + "."
	}
	switch {
	case len(leased) > 0:
		return report.Counted(len(leased), "agent") + " at work in stage " + string(m.Stage()) + ", " + report.Counted(len(open), "job") + " open."
	case len(open) > 0:
		return "No agent is at work in stage " + string(m.Stage()) + ": " + report.Counted(len(open), "job") + " open."
	}
	return "In stage " + string(m.Stage()) + " no agent is needed."
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

// rail is the path of a run through its stages.
func rail(m run.Manifest) []railStage {
	been := map[run.Stage]bool{}
	for _, move := range m.History() {
		been[run.Stage(move.Get("from").Str())] = true
		been[run.Stage(move.Get("to").Str())] = true
	}
	var out []railStage
	for _, s := range run.Stages {
		r := railStage{Name: string(s), State: waiting("to come")}
		switch {
		case s == m.Stage() && m.Status() == run.Completed:
			r.Class, r.State = "done", good("done")
		case s == m.Stage():
			r.Class, r.State = "here", runState(m.Status())
		case been[s] && slices.Index(run.Stages, s) < slices.Index(run.Stages, m.Stage()):
			r.Class, r.State = "done", good("done")
		case slices.Index(run.Stages, s) < slices.Index(run.Stages, m.Stage()):
			r.Class, r.State = "skipped", state{"", "–", "left out"}
		}
		out = append(out, r)
	}
	return out
}

func spentMeters(s job.Spent, b run.Budget) []meter {
	decimal := func(places int, unit string) func(float64) string {
		return func(f float64) string {
			if unit == "$" {
				return "$" + strconv.FormatFloat(f, 'f', places, 64)
			}
			return strconv.FormatFloat(f, 'f', places, 64) + unit
		}
	}
	var out []meter
	for _, row := range []struct {
		name        string
		used, limit float64
		text        func(float64) string
	}{
		{"Cost", s.CostUSD, b.MaxCostUSD, decimal(2, "$")},
		{"Tokens", s.Tokens, b.MaxTokens, func(f float64) string { return number(f) }},
		{"Time", s.Minutes, b.MaxMinutes, decimal(1, " min")},
		{"Folder", s.MB, b.MaxMB, decimal(1, " MB")},
	} {
		out = append(out, against(row.name, row.used, row.limit, row.text))
	}
	return out
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
		out.State = person("near the limit")
	}
	out.About = name + ": " + out.Amount + " of " + out.Limit
	return out
}

func round(f float64) float64 { return math.Round(f*100) / 100 }

// sourceMeters counts the sources by status.
func sourceMeters(records []source.Record) []meter {
	counts := map[string]int{}
	for _, r := range records {
		counts[string(r.Status)]++
	}
	var out []meter
	for _, status := range []string{"valid", "paywalled", "blocked", "mismatch", "invalid"} {
		n := counts[status]
		m := meter{Name: status, Amount: strconv.Itoa(n), State: sourceState(status), About: report.Counted(n, "source") + " " + status}
		if len(records) > 0 {
			m.Share = round(float64(n) / float64(len(records)) * 100)
		}
		out = append(out, m)
	}
	return out
}

func sourceState(status string) state {
	switch status {
	case "valid":
		return good(status)
	case "paywalled":
		return person(status)
	case "blocked":
		return waiting(status)
	}
	return bad(status)
}

// gateRow is a gate as pages show it.
type gateRow struct {
	ID, Name, About string
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
