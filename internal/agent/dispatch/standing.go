package dispatch

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Standing is how a run stands for the person whose it is.
type Standing struct {
	Kind     Kind
	Sentence string // why, as research says it at its end; "" while agents are at work
	Next     []Next // what a person may type, what helps first
	Plan     bool   // what it needs is a yes to its plan
}

// Kind is who has to act in a run.
type Kind string

// The kinds of standing.
const (
	StandsDone   Kind = "done"    // nobody: it is completed
	StandsEnded  Kind = "ended"   // nobody: it was cancelled
	StandsNeeds  Kind = "needs"   // the person
	StandsRests  Kind = "rests"   // the person, who paused it
	StandsAtWork Kind = "at work" // agents
	StandsAlone  Kind = "alone"   // somebody: nobody drives it
)

// Standing finds how a run stands. It returns READ_FAILED.
func (e *Env) Standing(board *job.Board) (Standing, error) {
	r := board.Run()
	m := r.Manifest()
	next := Commands{Workers: e.Workers, Name: e.Called(r), Board: board}
	stands := func(kind Kind, waiting engine.Waiting, sentence string) (Standing, error) {
		return Standing{Kind: kind, Sentence: sentence, Next: next.List(waiting)}, nil
	}
	switch m.Status() {
	case run.Completed:
		return stands(StandsDone, engine.ForNothing, "The run is completed.")
	case run.Cancelled:
		return stands(StandsEnded, engine.ForNothing, "The run was cancelled.")
	case run.Paused:
		return stands(StandsRests, engine.ForPerson, "A person paused the run.")
	case run.Failed:
		return stands(StandsNeeds, engine.ForPerson, asSentence(FailureWords(board)))
	}
	if waits, err := PlanWaits(board); err != nil {
		return Standing{}, err
	} else if waits {
		return Standing{Kind: StandsNeeds, Sentence: asSentence(engine.PlanWaits), Next: next.List(engine.ForPerson), Plan: true}, nil
	}
	_, driven, err := r.Folder().Claimed(run.HomeFile)
	switch {
	case err != nil:
		return Standing{}, err
	case driven || heldByHand(board):
		return stands(StandsAtWork, engine.ForAgents, "")
	}
	return stands(StandsAlone, engine.ForAgents, "Nobody drives the run. Nothing is lost, and what was accepted is not asked for again.")
}

// FailureWords say why a run has stopped: jobs by their titles, and of a budget what was used
// of what is allowed.
func FailureWords(board *job.Board) string {
	m := board.Run().Manifest()
	why := engine.Why(m)
	failures := m.Failures()
	if len(failures) == 0 {
		return why
	}
	last := failures[len(failures)-1]
	if name, spent := board.Limit(); name != "" && tidegate.Code(last.Get("code").Str()) == tidegate.BudgetExhausted {
		used := map[string]float64{"max_minutes": spent.Minutes, "max_tokens": spent.Tokens, "max_cost_usd": spent.CostUSD, "max_mb": spent.MB}[name]
		units := map[string]string{"max_minutes": "minutes", "max_tokens": "tokens", "max_cost_usd": "USD", "max_mb": "MB"}
		return "the budget is used up: " + amount(used) + " of " + amount(board.Policy().Budget.Of(name)) + " " + units[name]
	}
	titles := map[string]string{}
	for _, j := range board.Jobs() {
		titles[j.ID] = j.Title
	}
	var names []string
	for _, failed := range last.Get("jobs").Elems() {
		id := failed.Get("job_id").Str()
		if !strings.Contains(why, id) || titles[id] == "" {
			return why
		}
		names = append(names, "“"+titles[id]+"”")
	}
	if len(names) == 0 {
		return why
	}
	return "all tries are used up for " + strings.Join(names, " and for ")
}

// amount is a figure of a budget, with cents where it is small.
func amount(f float64) string {
	if f < 100 && f != math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return Grouped(f)
}

// PlanWaits reports whether the perspectives are there and wait for a person's yes.
func PlanWaits(board *job.Board) (bool, error) {
	r := board.Run()
	work := board.Work()
	if !board.Policy().ConfirmPlan || run.Perspectives.Before(r.Manifest().Stage()) || work[job.Open]+work[job.Leased] > 0 {
		return false, nil
	}
	written, err := r.Folder().Exists(r.Layout().Perspectives)
	if err != nil || !written {
		return false, err
	}
	planned, err := r.Folder().Exists(r.Layout().Wave1Plan())
	return !planned, err
}

// heldByHand reports whether somebody has a job whom no process of ours drives.
func heldByHand(board *job.Board) bool {
	for _, j := range board.Jobs() {
		if j.State != job.Leased {
			continue
		}
		if shown, err := board.Show(j.ID); err == nil && len(shown.Attempts) > 0 && shown.Attempts[len(shown.Attempts)-1].Driver == "" {
			return true
		}
	}
	return false
}

// asSentence is a reason as a sentence of its own. It begins with a capital, unless it
// begins with the name of something.
func asSentence(reason string) string {
	reason = strings.TrimSuffix(report.Visible(reason), ".")
	if first, _, _ := strings.Cut(reason, " "); strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" && first != "" {
		reason = strings.ToUpper(first[:1]) + reason[1:]
	}
	return reason + "."
}
