package web

import (
	"fmt"
	"slices"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// standingView is how a run stands: one sentence, and one thing to do.
type standingView struct {
	dispatch.Standing
	State state
	Do    *dispatch.Next  // what helps first, nil where nothing needs to be done
	Other []dispatch.Next // what else a person may type
}

// AtWork holds while agents are.
func (s standingView) AtWork() bool { return s.Kind == dispatch.StandsAtWork }

// Needs holds where nothing goes on without the person.
func (s standingView) Needs() bool { return s.Kind == dispatch.StandsNeeds }

func standingOf(s dispatch.Standing) standingView {
	v := standingView{Standing: s, State: standingState(s.Kind), Other: s.Next}
	if waits := v.Needs() || s.Kind == dispatch.StandsRests || s.Kind == dispatch.StandsAlone; waits && len(s.Next) > 0 {
		v.Do, v.Other = &s.Next[0], s.Next[1:]
	}
	return v
}

func standingState(k dispatch.Kind) state {
	switch k {
	case dispatch.StandsDone:
		return good("completed")
	case dispatch.StandsEnded:
		return bad("cancelled")
	case dispatch.StandsNeeds:
		return person("needs you")
	case dispatch.StandsRests:
		return waiting("paused")
	case dispatch.StandsAtWork:
		return working("running")
	}
	return waiting("nobody drives it")
}

// activity says in one sentence what goes on while agents are at work.
func activity(s run.Stage, atWork, open int) string {
	what := stageWords(s)
	switch {
	case atWork > 0 && open > 0:
		return fmt.Sprintf("%s: %s at work, %s to come.", what, report.Counted(atWork, "agent"), report.Counted(open, "job"))
	case atWork > 0:
		return fmt.Sprintf("%s: %s at work.", what, report.Counted(atWork, "agent"))
	}
	return what + "."
}

// phases are the stages in the words of people. The engine's names stand in the details.
var phases = []struct {
	words  string
	stages []run.Stage
}{
	{"Planning", []run.Stage{run.Init, run.Perspectives}},
	{"First round of research", []run.Stage{run.Wave1}},
	{"Looking for gaps", []run.Stage{run.Pivot}},
	{"Second round of research", []run.Stage{run.Wave2}},
	{"Checking the sources", []run.Stage{run.Citations}},
	{"Summing up", []run.Stage{run.Summaries}},
	{"Writing the report", []run.Stage{run.Synthesis}},
	{"Reading and reviewing", []run.Stage{run.Review, run.Finalize}},
}

func stageWords(s run.Stage) string {
	for _, p := range phases {
		if slices.Contains(p.stages, s) {
			return p.words
		}
	}
	return string(s)
}

// rail is the path of a run through its stages. Here is how it stands in the present one.
func rail(m run.Manifest, here state) []railStage {
	been := map[run.Stage]bool{m.Stage(): true}
	for _, move := range m.History() {
		been[run.Stage(move.Get("from").Str())] = true
		been[run.Stage(move.Get("to").Str())] = true
	}
	var out []railStage
	for _, p := range phases {
		r := railStage{Name: p.words, State: waiting("to come")}
		for _, s := range p.stages {
			r.Stages = append(r.Stages, string(s))
		}
		switch last := p.stages[len(p.stages)-1]; {
		case slices.Contains(p.stages, m.Stage()) && m.Status() != run.Completed:
			r.Class, r.State = "here", here
		case !slices.ContainsFunc(p.stages, func(s run.Stage) bool { return been[s] }):
			if last.Before(m.Stage()) {
				r.Class, r.State = "skipped", state{"", "–", "left out"}
			}
		case m.Stage().Before(p.stages[0]) && m.Status() != run.Completed:
			r.State = waiting("again")
		default:
			r.Class, r.State = "done", good("done")
		}
		out = append(out, r)
	}
	return out
}
