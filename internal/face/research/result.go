package research

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// Result is how a command that drives or watches a run ended.
type Result struct {
	OK         codec.True      `json:"ok"`
	RunID      string          `json:"run_id"`
	Root       string          `json:"root"`
	Stage      run.Stage       `json:"stage"`
	Status     run.Status      `json:"status"`
	Passed     bool            `json:"passed"`    // completed, every gate passed by its judge on a record that matched, and at most three sentences accepted by a person
	Accepted   []string        `json:"accepted"`  // gates that a person let pass, at any time
	Decisions  []run.Decided   `json:"decisions"` // what people decided in the life of the run
	Sentences  int             `json:"accepted_sentences"`
	Trust      string          `json:"trust"`       // how the sentences of the report were checked, "" before there is one
	WaitingFor engine.Waiting  `json:"waiting_for"` // agents, where it was interrupted
	Reason     string          `json:"reason"`
	Spent      job.Spent       `json:"spent"`
	Estimate   *run.Estimate   `json:"estimate,omitzero"` // when it began, absent where nobody estimated
	Report     *string         `json:"report_path"`       // the text of the report, null where there is none yet
	Next       []dispatch.Next `json:"next"`
	// Compared is how the report differs from that of the run whose question was asked again, or that it builds on.
	Compared *library.Compared `json:"compared,omitzero"`

	lapsed   []string            // gates of a completed run that no longer count
	asAsked  bool                // it stopped where the person asked it to
	disputed sentences.ClaimList // the sentences that need a person
}

// exit is the exit status that goes with the result.
func (r Result) exit() error {
	switch {
	case r.Passed || r.asAsked:
		return nil
	case r.Status.Final():
		return cli.Exit(screen.ExitNotPassed)
	case r.WaitingFor == engine.ForPerson:
		return cli.Exit(screen.ExitNeedsPerson)
	}
	return cli.Exit(screen.ExitInterrupted)
}

// resultOf says how a run stands, and what to type next. Help is what a person
// types to let an agent work, where that is the reason; again is what must be typed again to
// go on.
func resultOf(e *dispatch.Env, board *job.Board, waiting engine.Waiting, reason, help, again string) (Result, error) {
	r := board.Run()
	m := r.Manifest()
	if m.Status() == run.Failed && reason == engine.Why(m) {
		reason = dispatch.FailureWords(board) // as the page says it
	}
	out := Result{RunID: r.ID(), Root: r.Root(), Stage: m.Stage(), Status: m.Status(), Accepted: []string{}, WaitingFor: waiting, Reason: reason, Spent: board.Spent(), Estimate: board.Policy().Estimate}
	there, err := r.Folder().Exists(r.Layout().Synthesis())
	if err != nil {
		return Result{}, err
	}
	trust, err := sentences.ReadTrust(r)
	if err != nil {
		return Result{}, err
	}
	out.Trust, out.Sentences = trust.Line, trust.Accepted
	if there {
		path := r.Path(r.Layout().Synthesis())
		out.Report = &path
	}
	if out.Decisions, err = r.Decisions(); err != nil {
		return Result{}, err
	}
	if m.Status() == run.Completed {
		if out.Accepted, out.lapsed, err = acceptedGates(r, out.Decisions); err != nil {
			return Result{}, err
		}
		if len(out.lapsed) > 0 {
			out.Reason = "what it judged has changed since, so that it no longer counts: gate " + strings.Join(out.lapsed, ", ") + "; see `tidegate run verify`"
		}
		out.Passed = len(out.Accepted)+len(out.lapsed) == 0 && !slices.ContainsFunc(out.Decisions, run.Decided.Overrides) && out.Sentences <= sentences.MaxAccepted
	}
	if m.Status() == run.Failed && trust.Claims != nil {
		list, err := sentences.ReadClaimList(r)
		if err != nil {
			return Result{}, err
		}
		out.disputed = list.Disputed()
	}
	out.Next = dispatch.Commands{Workers: e.Workers, Name: e.Called(r), Board: board, Help: help, Again: again}.List(waiting)
	return out, nil
}

// acceptedGates are the gates that a person accepted, by the log or by their own word, and
// those that do not count any more.
func acceptedGates(r *run.Run, decisions []run.Decided) (accepted, lapsed []string, err error) {
	gates, err := r.Gates()
	if err != nil {
		return nil, nil, err
	}
	accepted = []string{}
	for _, row := range run.GateTable {
		state, err := r.GateState(gates, row.ID)
		if err != nil {
			return nil, nil, err
		}
		if !state.Passed() {
			lapsed = append(lapsed, row.ID)
		}
		if state.Accepted != nil || slices.ContainsFunc(decisions, func(d run.Decided) bool { return d.What == run.AcceptedGate && d.About == row.ID }) {
			accepted = append(accepted, row.ID)
		}
	}
	return accepted, lapsed, nil
}

// mostDisputed is how many sentences the end of a run shows with their passages.
const mostDisputed = 10

// report shows the result to a person.
func (r Result) report() report.Report {
	out := report.Report{Name: "research", Title: "run " + r.RunID}
	switch {
	case r.Passed:
		out.Status, out.Summary = report.Pass, "completed: every gate passed by its judge"
	case len(r.lapsed) > 0:
		out.Status, out.Summary = report.Fail, "completed: "+r.Reason
	case r.Status == run.Completed:
		out.Status, out.Summary = report.Warn, "completed: a person accepted "+r.overridden()
	case r.Status == run.Cancelled:
		out.Status, out.Summary = report.Fail, "cancelled"
	case r.asAsked:
		out.Summary = r.Reason
	case r.WaitingFor == engine.ForPerson:
		out.Status, out.Summary = report.Fail, "waits for a person: "+r.Reason
	default:
		out.Status, out.Summary = report.Warn, "interrupted: nothing is lost, and what was accepted is not asked for again"
	}
	fields := report.Fields{{Name: "folder", Value: r.Root}, {Name: "spent", Value: dispatch.SpentText(r.Spent)}}
	if r.Estimate != nil {
		fields = append(fields, report.Field{Name: "estimated", Value: estimateText(*r.Estimate)})
	}
	if r.Report != nil {
		fields = append(fields, report.Field{Name: "text", Value: *r.Report})
	}
	out.Add(fields)
	if r.Trust != "" {
		out.Add(report.Paragraph(r.Trust))
	}
	if r.Compared != nil {
		compared := r.Compared.Report()
		out.Add(report.Heading("Since " + r.Compared.A.ID))
		out.Add(report.Paragraph(compared.Summary))
		out.Add(compared.Blocks...)
	}
	if all := r.disputed.Sentences; len(all) > 0 {
		out.Add(report.Heading("Sentences that do not stand"))
		r.disputed.Sentences = all[:min(len(all), mostDisputed)]
		out.Add(r.disputed.Report().Blocks...)
		if more := len(all) - mostDisputed; more > 0 {
			out.Add(report.Paragraph(fmt.Sprintf("%s more: `tidegate claim show` lists all.", report.Counted(more, "sentence"))))
		}
	}
	if len(r.Next) > 0 {
		var lines []string
		for _, n := range r.Next {
			lines = append(lines, n.Command, "    "+n.About)
		}
		out.Add(report.Heading("What to type next"), report.Preformatted(strings.Join(lines, "\n")))
	}
	return out
}

// overridden names what a person accepted in the place of judges.
func (r Result) overridden() string {
	var what []string
	if slices.ContainsFunc(r.Decisions, func(d run.Decided) bool { return d.What == run.AcceptedRecord }) {
		what = append(what, "a record that did not match")
	}
	if len(r.Accepted) > 0 {
		what = append(what, "gate "+strings.Join(r.Accepted, ", "))
	}
	if r.Sentences > sentences.MaxAccepted {
		what = append(what, fmt.Sprintf("%d sentences", r.Sentences))
	}
	return strings.Join(what, ", ")
}

// estimateText is what was expected when the run began, in the form of what was spent.
func estimateText(e run.Estimate) string {
	text := fmt.Sprintf("%s minutes, %s tokens", dispatch.Grouped(e.Minutes), dispatch.Grouped(e.Tokens))
	if e.CostUSD != nil {
		text += fmt.Sprintf(", %.2f USD", *e.CostUSD)
	}
	return text + ", when it began"
}
