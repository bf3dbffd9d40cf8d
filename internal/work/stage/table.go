package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
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

// kindNeedsPerson is the kind of a failure that only a person can end.
const kindNeedsPerson = "needs_person"

// LeaveToPerson stages that the run needs a person: it is failed, with the reason
// and what a person must know to decide. A run that has failed already stays as
// it is.
func LeaveToPerson(u *run.Update, failure run.Failure, reason string) error {
	status, ok := next(u.Manifest().Status(), ByCap)
	if !ok {
		return nil
	}
	failure.Kind, failure.Stage = kindNeedsPerson, u.Manifest().Stage()
	return u.Fail(status, failure, reason)
}

// allowance is how far a counter may go: its cap or, once a person accepted that
// it was used up, the same amount again from where it was then, and at least one more.
func allowance(m run.Manifest, code tidegate.Code, gate string, limit int64) int64 {
	total := limit
	for _, f := range m.Failures() {
		if f.Get("code").Str() == string(code) && f.Get("gate_id").Str() == gate && f.Get("accepted_at") != nil {
			count, _ := f.Get("count").Int()
			total = max(total, count+max(limit, 1))
		}
	}
	return total
}

// TableResult is the printed table.
type TableResult struct {
	OK      codec.True   `json:"ok"`
	Rows    []PrintedRow `json:"rows"`
	Mermaid string       `json:"mermaid"`
	diagram bool
}

// PrintedRow is one [Row] in words.
type PrintedRow struct {
	Stage      string   `json:"stage"` // "any" for every stage
	Status     []string `json:"status"`
	Trigger    string   `json:"trigger"`
	NextStage  string   `json:"next_stage"` // "same" for the same stage
	NextStatus string   `json:"next_status"`
	Needs      []string `json:"needs"`
}

// Print prints the table: every way in which a run can move, as a table and as a
// diagram for Mermaid. Rows that differ only in the status they leave become one.
// With diagram, the report shows the diagram alone.
func Print(diagram bool) TableResult {
	out := TableResult{Mermaid: Mermaid(), diagram: diagram}
	for _, row := range Table() {
		p := PrintedRow{Stage: "any", Trigger: string(row.Trigger), NextStage: "same", NextStatus: string(row.NextStatus), Needs: texts(row.Needs)}
		if row.Stage != "" {
			p.Stage, p.NextStage = string(row.Stage), string(row.NextStage)
		}
		at := slices.IndexFunc(out.Rows, func(q PrintedRow) bool {
			return q.Stage == p.Stage && q.Trigger == p.Trigger && q.NextStage == p.NextStage && q.NextStatus == p.NextStatus
		})
		if at < 0 {
			at = len(out.Rows)
			out.Rows = append(out.Rows, p)
		}
		out.Rows[at].Status = append(out.Rows[at].Status, string(row.Status))
	}
	return out
}

func texts(needs []Precondition) []string {
	list := []string{}
	for _, p := range needs {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return list
}

// Report shows the table to a person.
func (t TableResult) Report() report.Report {
	out := report.Report{Name: "run_stages"}
	if t.diagram {
		out.Add(report.Preformatted(t.Mermaid))
		return out
	}
	out.Title = "how a run moves"
	table := report.NewTable("Stage", "Status", "Trigger", "Next stage", "Next status", "Needs")
	for _, row := range t.Rows {
		table.Row(report.None, row.Stage, strings.Join(row.Status, ", "), row.Trigger, row.NextStage, row.NextStatus, strings.Join(row.Needs, "; "))
	}
	out.Add(table, report.Paragraph("Completed and cancelled are final."))
	return out
}

// Mermaid draws the table as a state diagram: the stages inside the statuses in
// which a run advances, the other statuses around them.
func Mermaid() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("stateDiagram-v2")
	line("    state \"%s\" as active {", joined(advancing))
	line("        [*] --> %s", run.Init)
	for _, m := range moves {
		if len(m.needs) == 0 {
			line("        %s --> %s", m.from, m.to)
		} else {
			line("        %s --> %s: %s", m.from, m.to, strings.Join(texts(m.needs), ", "))
		}
	}
	line("    }")
	line("    [*] --> active")
	line("    active --> %s: advance to %s", run.Completed, run.Finalize)
	drawn := map[string]bool{}
	name := func(s run.Status) string {
		if slices.Contains(advancing, s) {
			return "active"
		}
		return string(s)
	}
	for _, row := range statusRows {
		arrow := fmt.Sprintf("%s --> %s: %s", name(row.Status), name(row.NextStatus), row.Trigger)
		if name(row.Status) != name(row.NextStatus) && !drawn[arrow] {
			drawn[arrow] = true
			line("    %s", arrow)
		}
	}
	line("    %s --> [*]", run.Completed)
	line("    %s --> [*]", run.Cancelled)
	return b.String()
}
