package web

import (
	"strconv"
	"time"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/chart"
	"github.com/tidegate/tidegate/internal/work/run"
)

// lanes are the attempts over time: a lane for each job, under the part of the work that it
// belongs to.
type lanes struct {
	Groups []laneGroup
	Ticks  []chart.Tick
	Begin  string
	Lasts  string
	Goes   bool // an agent is at work
	More   int  // jobs that are not shown
}

type laneGroup struct {
	Name  string
	Lanes []lane
}

type lane struct {
	Job, Title string
	Agent      string
	State      state
	Attempts   []laneAttempt
	Took       string // by all of them
	About      string
}

// laneAttempt is where an attempt waited, worked and handed in an answer, in hundredths of
// the whole.
type laneAttempt struct {
	State state
	Wait  [2]float64 // from, width
	Work  [2]float64
	Ends  []float64
	About string
}

// maxLanes is how many jobs the picture shows: the last ones.
const maxLanes = 60

// kindStages are the stages in which jobs of a kind work.
var kindStages = map[string]run.Stage{"perspectives": run.Perspectives, "wave1": run.Wave1, "wave2": run.Wave2, "summary": run.Summaries,
	"outline": run.Synthesis, "section": run.Synthesis, "synthesis": run.Synthesis, "verify": run.Review, "review": run.Review}

func (l *visit) lanes() lanes {
	var out lanes
	type begun struct {
		job.Job
		attempts []*job.Attempt
	}
	var all []begun
	for _, j := range l.board.Jobs() {
		if shown, err := l.board.Show(j.ID); err == nil && len(shown.Attempts) > 0 {
			all = append(all, begun{j, shown.Attempts})
		}
	}
	if len(all) == 0 {
		return out
	}
	if len(all) > maxLanes {
		out.More = len(all) - maxLanes
		all = all[out.More:]
	}
	first, last := all[0].attempts[0].StartedAt, ""
	for _, b := range all {
		for _, a := range b.attempts {
			first, last = min(first, a.StartedAt), max(last, l.until(a))
			out.Goes = out.Goes || a.EndedAt == "" && l.driven()
		}
	}
	whole := between(first, last)
	at := func(when string) float64 {
		if whole <= 0 {
			return 0
		}
		return round(min(100, max(0, float64(between(first, when))/float64(whole)*100)))
	}
	out.Begin, out.Lasts, out.Ticks = first, lasting(whole), chart.TimeAxis(whole)
	for _, b := range all {
		name := stageWords(kindStages[b.Kind])
		if n := len(out.Groups); n == 0 || out.Groups[n-1].Name != name {
			out.Groups = append(out.Groups, laneGroup{Name: name})
		}
		row := lane{Job: b.ID, Title: b.Title}
		took, before := time.Duration(0), ""
		for _, a := range b.attempts {
			took += max(0, between(a.StartedAt, l.until(a)))
			from := at(a.StartedAt)
			one := laneAttempt{State: l.attemptState(a), Work: [2]float64{from, round(max(0.6, at(l.until(a))-from))}}
			if one.Work[0]+one.Work[1] > 100 {
				one.Work[0] = round(100 - one.Work[1])
			}
			if before != "" {
				one.Wait = [2]float64{at(before), round(max(0, from-at(before)))}
			}
			for _, s := range a.Submissions {
				one.Ends = append(one.Ends, at(s.HandedInAt))
			}
			before = a.EndedAt
			one.About = "attempt " + strconv.Itoa(a.Number) + ": " + one.State.Word + " after " + l.took(a)
			row.Attempts = append(row.Attempts, one)
			row.Agent, row.State = agentOf(a), one.State
		}
		row.Took = lasting(took)
		if last := b.attempts[len(b.attempts)-1]; len(b.attempts) == 1 {
			row.Took = l.took(last)
		}
		row.About = report.Counted(len(b.attempts), "attempt") + ": " + row.State.Word + " after " + row.Took
		group := &out.Groups[len(out.Groups)-1]
		group.Lanes = append(group.Lanes, row)
	}
	return out
}
