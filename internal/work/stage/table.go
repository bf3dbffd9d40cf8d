package stage

import (
	"github.com/tidegate/tidegate/internal/work/run"
)

// Trigger is what moves a run.
type Trigger string

// The triggers.
const (
	ByAdvance Trigger = "advance" // deep_research_stage_advance
	ByPause   Trigger = "pause"   // a person
	ByResume  Trigger = "resume"  // a person
	ByCancel  Trigger = "cancel"  // a person
	ByCap     Trigger = "cap"     // retries or review rounds are used up
	ByAccept  Trigger = "accept"  // resume --accept: a person only
)

// Row is one row of the table: in this stage and status the trigger leads there.
type Row struct {
	Stage      run.Stage // "" for every stage
	Status     run.Status
	Trigger    Trigger
	NextStage  run.Stage // "" for the same stage
	NextStatus run.Status
	Needs      []Precondition // in the order in which they are checked
}

// move is a step from stage to stage. The first move out of a stage is the one
// that is taken when none is requested, unless a decision of the run says
// otherwise.
type move struct {
	from, to run.Stage
	needs    []Precondition
}

var moves = []move{
	{run.Init, run.Wave1, []Precondition{perspectivesThere}},
	{run.Init, run.Perspectives, nil},
	{run.Perspectives, run.Wave1, []Precondition{perspectivesThere}},
	{run.Wave1, run.Pivot, with(stillPassed("A"), wave1Outputs, waveReviewThere, gateB)},
	{run.Pivot, run.Wave2, with(stillPassed("A", "B"), wave2Folder, pivotDecided, pivotWantsWave2, wave2GapsNamed, wave2Cap)},
	{run.Pivot, run.Citations, with(stillPassed("A", "B"), pivotDecided, pivotSkipsWave2)},
	{run.Wave2, run.Citations, with(stillPassed("A", "B"), wave2Outputs)},
	{run.Citations, run.Summaries, with(stillPassed("A", "B"), gateC, citationsThere)},
	{run.Summaries, run.Synthesis, with(stillPassed("A", "B", "C"), gateD, summaryPackThere)},
	{run.Synthesis, run.Review, with(stillPassed("A", "B", "C", "D"), synthesisThere, synthesisJudged)},
	{run.Review, run.Finalize, with(stillPassed("A", "B", "C", "D"), gateE, gateF, reviewedToFinalize, reviewPassed, reviewCounts)},
	{run.Review, run.Synthesis, with(stillPassed("A", "B", "C", "D"), reviewed, reviewWantsChanges, reviewCounts, reviewLimitValid, reviewCap)},
}

// with is what a move itself needs, and the gates that stay.
func with(stay []Precondition, own ...Precondition) []Precondition { return append(own, stay...) }

// Follows reports whether the table has a move from one stage to the other.
func Follows(from, to run.Stage) bool {
	_, ok := findMove(from, to)
	return ok
}

// statusRows are the moves that leave the stage as it is.
var statusRows = []Row{
	{Status: run.Created, Trigger: ByPause, NextStatus: run.Paused},
	{Status: run.Created, Trigger: ByCap, NextStatus: run.Failed},
	{Status: run.Created, Trigger: ByCancel, NextStatus: run.Cancelled},
	{Status: run.Running, Trigger: ByPause, NextStatus: run.Paused},
	{Status: run.Running, Trigger: ByCap, NextStatus: run.Failed},
	{Status: run.Running, Trigger: ByCancel, NextStatus: run.Cancelled},
	{Status: run.Paused, Trigger: ByResume, NextStatus: run.Running},
	{Status: run.Paused, Trigger: ByCancel, NextStatus: run.Cancelled},
	{Status: run.Failed, Trigger: ByAccept, NextStatus: run.Running},
	{Status: run.Failed, Trigger: ByCancel, NextStatus: run.Cancelled},
}

// advancing are the statuses in which a run advances.
var advancing = []run.Status{run.Created, run.Running}

// Table is the whole table: every way in which a run can change its stage or
// its status. No row begins at completed or cancelled: they are final.
func Table() []Row {
	var rows []Row
	for _, m := range moves {
		for _, status := range advancing {
			next := run.Running
			if m.to == run.Finalize {
				next = run.Completed
			}
			rows = append(rows, Row{Stage: m.from, Status: status, Trigger: ByAdvance, NextStage: m.to, NextStatus: next, Needs: m.needs})
		}
	}
	return append(rows, statusRows...)
}

// next is the status that a trigger leads to without a change of stage.
func next(from run.Status, trigger Trigger) (run.Status, bool) {
	for _, row := range statusRows {
		if row.Status == from && row.Trigger == trigger {
			return row.NextStatus, true
		}
	}
	return "", false
}

// movesFrom lists the moves out of a stage, the default first.
func movesFrom(from run.Stage) []move {
	var list []move
	for _, m := range moves {
		if m.from == from {
			list = append(list, m)
		}
	}
	return list
}

func stagesFrom(from run.Stage) []run.Stage {
	list := []run.Stage{}
	for _, stage := range run.Stages {
		if _, ok := findMove(from, stage); ok {
			list = append(list, stage)
		}
	}
	return list
}

func findMove(from, to run.Stage) (move, bool) {
	for _, m := range moves {
		if m.from == from && m.to == to {
			return m, true
		}
	}
	return move{}, false
}
