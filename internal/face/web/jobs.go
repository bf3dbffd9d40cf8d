package web

import (
	"net/url"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
)

type jobsView struct {
	cut
	Jobs   []jobRow
	States []tally
}

// jobRow is a job as lists show it.
type jobRow struct {
	job.Job
	Phase     string // the part of the work that it belongs to, in words
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
	case job.Held:
		return waiting("waits for other parts")
	case job.Exhausted:
		return person("tries used up")
	}
	return waiting("open")
}

// leftOff is how something stands that an agent began and whom nobody drives any more.
func leftOff() state { return waiting("left off") }

// driven holds while somebody drives the run: else what was begun and has not ended is not at work.
func (l *visit) driven() bool { return l.standing.Kind == dispatch.StandsAtWork }

// took is how long an attempt worked; nobody knows it of one that was left off.
func (l *visit) took(a *job.Attempt) string {
	if a.EndedAt == "" && !l.driven() {
		return "–"
	}
	return lasting(between(a.StartedAt, l.until(a)))
}

// until is when an attempt ended, or until when it is known to have worked.
func (l *visit) until(a *job.Attempt) string {
	switch {
	case a.EndedAt != "":
		return a.EndedAt
	case l.driven() || len(l.entries) == 0:
		return l.site.Desk.Now().UTC().Format(timeForm)
	}
	return l.entries[len(l.entries)-1].Entry.Get("ts").Str()
}

func (l *visit) jobRow(j job.Job) jobRow {
	row := jobRow{Job: j, Phase: stageWords(kindStages[j.Kind]), StateWord: jobState(j.State), Took: "–", Exhausted: j.State == job.Exhausted}
	if j.State == job.Leased && !l.driven() {
		row.StateWord = leftOff()
	}
	shown, err := l.board.Show(j.ID)
	if err != nil || len(shown.Attempts) == 0 {
		return row
	}
	last := shown.Attempts[len(shown.Attempts)-1]
	row.Agent = agentOf(last)
	row.Took = l.took(last)
	if last.EndedAt == "" && l.driven() {
		row.Since = last.StartedAt
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
		if matches(query.Get("q"), j.ID, j.Title, stageWords(kindStages[j.Kind]), string(j.State)) {
			found = append(found, j)
		}
	}
	view := jobsView{cut: cutAt(query, len(found), l.size, l.link("jobs", l.id))}
	for _, s := range []job.State{job.Open, job.Leased, job.Held, job.Accepted, job.Exhausted} {
		view.States = append(view.States, tally{State: jobState(s), Key: string(s)})
	}
	for _, j := range piece(view.cut, found) {
		view.Jobs = append(view.Jobs, l.jobRow(j))
	}
	return l.page("jobs", "Jobs", view), nil
}

func (l *visit) attemptState(a *job.Attempt) state {
	switch a.Outcome {
	case job.OutcomeAccepted:
		return good("accepted")
	case "":
		if !l.driven() {
			return leftOff()
		}
		return working("at work")
	case job.OutcomeReleased:
		return waiting("released")
	}
	return bad(report.Visible(a.Outcome))
}
