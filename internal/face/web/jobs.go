package web

import (
	"net/url"
	"strconv"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
)

type jobsView struct {
	cut
	Jobs   []jobRow
	States []string
}

// jobRow is a job as lists show it.
type jobRow struct {
	job.Job
	StateWord state
	Agent     string
	Tool      string // that it used last
	Took      string
	Since     string // when its agent began, where one is at work
	Faults    string // of its last answer
	Exhausted bool
}

func jobState(s job.State) state {
	switch s {
	case job.Accepted:
		return good("accepted")
	case job.Leased:
		return working("at work")
	case job.Exhausted:
		return person("exhausted")
	}
	return waiting("open")
}

func (l *visit) jobRow(j job.Job) jobRow {
	row := jobRow{Job: j, StateWord: jobState(j.State), Took: "–", Exhausted: j.State == job.Exhausted}
	shown, err := l.board.Show(j.ID)
	if err != nil || len(shown.Attempts) == 0 {
		return row
	}
	last := shown.Attempts[len(shown.Attempts)-1]
	row.Agent = agentOf(last)
	if last.EndedAt != "" {
		row.Took = lasting(between(last.StartedAt, last.EndedAt))
	} else {
		row.Since = last.StartedAt
		row.Took = lasting(between(last.StartedAt, l.site.Desk.Now().UTC().Format(timeForm)))
	}
	if n := len(last.Submissions); n > 0 && last.Submissions[n-1].Judged {
		if faults := len(last.Submissions[n-1].Faults); faults > 0 {
			row.Faults = report.Counted(faults, "fault")
		}
	}
	return row
}

const timeForm = "2006-01-02T15:04:05.000Z07:00"

// agentOf is what did the work of an attempt.
func agentOf(a *job.Attempt) string {
	name := a.Driver
	if name == "" {
		name = a.Holder
	}
	if a.Model != "" {
		name += " " + a.Model
	}
	return report.Visible(name)
}

func (l *visit) jobsPage(query url.Values) (*page, error) {
	var found []job.Job
	for _, j := range l.board.Jobs() {
		if s := query.Get("state"); s != "" && s != string(j.State) {
			continue
		}
		if matches(query.Get("q"), j.ID, j.Title, j.Kind, string(j.State)) {
			found = append(found, j)
		}
	}
	view := jobsView{cut: cutAt(query, len(found), l.size, l.link("jobs", l.run.ID())),
		States: []string{string(job.Open), string(job.Leased), string(job.Accepted), string(job.Exhausted)}}
	for _, j := range piece(view.cut, found) {
		view.Jobs = append(view.Jobs, l.jobRow(j))
	}
	return l.page("jobs", "Jobs", view), nil
}

// timeline shows the attempts over time, by agent.
type timeline struct {
	Agents []agentLane
	Begin  string
	Lasts  string
	More   int // attempts that are not shown
}

type agentLane struct {
	Agent string
	Bars  []bar
}

// bar is one attempt in the timeline: where it waited, worked and was judged, in
// hundredths of the whole.
type bar struct {
	Job     string
	Attempt int
	Wait    [2]float64 // from, width
	Work    [2]float64
	Ends    []float64 // where an answer was handed in
	State   state
	Took    string
	Waited  string
	About   string
}

// maxBars is how many attempts a timeline shows: the last ones.
const maxBars = 60

func (l *visit) timeline() timeline {
	type one struct {
		attempt *job.Attempt
		before  string // the end of the attempt before it
	}
	var all []one
	now := l.site.Desk.Now().UTC().Format(timeForm)
	for _, j := range l.board.Jobs() {
		shown, err := l.board.Show(j.ID)
		if err != nil {
			continue
		}
		before := ""
		for _, a := range shown.Attempts {
			all = append(all, one{a, before})
			before = a.EndedAt
		}
	}
	var out timeline
	if len(all) > maxBars {
		out.More = len(all) - maxBars
		all = all[out.More:]
	}
	if len(all) == 0 {
		return out
	}
	end := func(a *job.Attempt) string {
		if a.EndedAt != "" {
			return a.EndedAt
		}
		return now
	}
	first, last := all[0].attempt.StartedAt, end(all[0].attempt)
	for _, o := range all {
		first, last = min(first, o.attempt.StartedAt), max(last, end(o.attempt))
	}
	whole := between(first, last)
	at := func(when string) float64 {
		if whole <= 0 {
			return 0
		}
		return round(min(100, max(0, float64(between(first, when))/float64(whole)*100)))
	}
	out.Begin, out.Lasts = moment(first), lasting(whole)
	lanes := map[string]int{}
	for _, o := range all {
		a := o.attempt
		b := bar{Job: a.JobID, Attempt: a.Number, State: attemptState(a), Took: lasting(between(a.StartedAt, end(a)))}
		from := at(a.StartedAt)
		b.Work = [2]float64{from, round(max(0.6, at(end(a))-from))}
		if b.Work[0]+b.Work[1] > 100 {
			b.Work[0] = round(100 - b.Work[1])
		}
		if o.before != "" {
			b.Wait = [2]float64{at(o.before), round(max(0, from-at(o.before)))}
			b.Waited = lasting(between(o.before, a.StartedAt))
		}
		for _, s := range a.Submissions {
			b.Ends = append(b.Ends, at(s.HandedInAt))
		}
		agent := agentOf(a)
		b.About = agent + " on " + report.Visible(a.JobID) + ", attempt " + strconv.Itoa(a.Number) + ": " + b.State.Word + " after " + b.Took
		i, ok := lanes[agent]
		if !ok {
			i = len(out.Agents)
			lanes[agent] = i
			out.Agents = append(out.Agents, agentLane{Agent: agent})
		}
		out.Agents[i].Bars = append(out.Agents[i].Bars, b)
	}
	return out
}

func attemptState(a *job.Attempt) state {
	switch a.Outcome {
	case job.OutcomeAccepted:
		return good("accepted")
	case "":
		return working("at work")
	case job.OutcomeReleased:
		return waiting("released")
	}
	return bad(report.Visible(a.Outcome))
}
