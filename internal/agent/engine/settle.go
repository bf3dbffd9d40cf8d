package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Waiting says what a run waits for.
type Waiting string

// What a run can wait for.
const (
	ForAgents  Waiting = "agents"
	ForPerson  Waiting = "person"
	ForTime    Waiting = "time"    // there is more to do by rule, at the next call
	ForNothing Waiting = "nothing" // it is final
)

// Did is one thing that was done by rule.
type Did struct {
	Step   string `json:"step"`
	Result string `json:"result"`
}

// StepResult is the result of [Settle].
type StepResult struct {
	OK         codec.True `json:"ok"`
	RunID      string     `json:"run_id"`
	Stage      run.Stage  `json:"stage"`
	Status     run.Status `json:"status"`
	Did        []Did      `json:"did" jsonschema:"what was done by this call, in order; empty when there was nothing to do"`
	WaitingFor Waiting    `json:"waiting_for" enum:"agents,person,time,nothing"`
	Reason     string     `json:"reason" jsonschema:"why the run waits, in words"`
	Jobs       []job.Job  `json:"jobs" jsonschema:"the jobs that are open, leased or exhausted"`
	Next       string     `json:"next" jsonschema:"what a person would type"`
}

// ForPerson says what a run waits for that only a person can do, and the command for it.
func (r StepResult) ForPerson() string {
	if r.WaitingFor != ForPerson {
		return ""
	}
	return fmt.Sprintf("The run %s waits for a person: %s. Decide at its page (`tidegate serve`), or in a terminal: `%s`. Whatever you answer here decides nothing.", r.RunID, strings.TrimSuffix(r.Reason, "."), r.Next)
}

// StepTime is how long the tool deep_research_run_step works at most: clients cut
// a call at sixty seconds.
const StepTime = 30 * time.Second

// errTime ends a call of [Settle] that has worked long enough.
var errTime = errors.New("long enough for one call")

// Settle is the tool deep_research_run_step: it does everything in a run that
// needs no agent, and returns what is open. What it does follows from the files,
// whoever calls it; where there is nothing to do it writes nothing. Sources are
// reached by fetch; without it they are judged by what the archive has. It works
// for atMost and goes on at the next call; 0 sets no limit.
//
// It returns the errors of [run.Open] and [run.Run.Update]. A run that needs a
// person is not an error: it is failed, with the reason.
func Settle(ctx context.Context, desk run.Desk, fetch sourcing.Fetch, manifestPath string, atMost time.Duration) (StepResult, error) {
	desk.Memory = new(store.Memory)
	board, err := job.OpenBoard(ctx, desk, manifestPath)
	if err != nil {
		return StepResult{}, err
	}
	defer board.Close()
	if err := board.Run().CheckLog(); err != nil {
		return StepResult{}, err
	}
	board.Fetch = fetch
	if atMost > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, atMost, errTime)
		defer cancel()
	}
	s := &settler{desk: desk, board: board, manifest: manifestPath}
	return s.settle(ctx)
}

// settler does by rule what follows from the files of a run.
type settler struct {
	desk     run.Desk
	board    *job.Board
	manifest string // path
	did      []Did
}

// pause is why a run does not go on by itself.
type pause struct {
	waiting Waiting
	reason  string
}

func (s *settler) settle(ctx context.Context) (StepResult, error) {
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule})
	s.did = []Did{}
	for {
		p, err := s.next(ctx)
		if err != nil && ctx.Err() != nil && context.Cause(ctx) == errTime {
			p, err = &pause{ForTime, "there is more to do by rule"}, nil
		}
		if err != nil {
			return StepResult{}, err
		}
		if p != nil {
			return s.result(*p), nil
		}
		if err := s.board.Reload(context.WithoutCancel(ctx)); err != nil {
			return StepResult{}, err
		}
	}
}

func (s *settler) result(p pause) StepResult {
	m := s.board.Run().Manifest()
	out := StepResult{RunID: m.ID(), Stage: m.Stage(), Status: m.Status(), Did: s.did, WaitingFor: p.waiting, Reason: p.reason, Jobs: []job.Job{}}
	for _, j := range s.board.Jobs() {
		if j.State != job.Accepted {
			out.Jobs = append(out.Jobs, j)
		}
	}
	out.Next = s.command(m, p)
	return out
}

// command is what a person would type next.
func (s *settler) command(m run.Manifest, p pause) string {
	name := report.ShellWord(s.board.Run().Root())
	switch {
	case m.Status().Final():
		return "tidegate run status " + name
	case m.Status() == run.Failed:
		return "tidegate run resume " + name + " --accept --reason TEXT"
	case m.Status() == run.Paused, p.waiting == ForPerson, p.waiting == ForAgents:
		return "tidegate run continue " + name
	}
	return "tidegate run step " + name
}

func (s *settler) note(step, format string, args ...any) {
	s.did = append(s.did, Did{step, fmt.Sprintf(format, args...)})
}

// next does one thing, or says why there is nothing to do.
func (s *settler) next(ctx context.Context) (*pause, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m := s.board.Run().Manifest()
	switch status := m.Status(); {
	case status.Final():
		return &pause{ForNothing, "the run is " + string(status)}, nil
	case status == run.Paused || status == run.Failed:
		return &pause{ForPerson, Why(m)}, nil
	}
	if p, left, err := s.agentsWork(ctx); left || err != nil {
		return p, err
	}
	switch m.Stage() {
	case run.Init, run.Perspectives:
		return s.plan(ctx, m)
	case run.Wave1:
		return s.review(ctx)
	case run.Pivot:
		return s.decide(ctx)
	case run.Citations:
		return s.judgeSources(ctx)
	case run.Summaries:
		return s.pack(ctx)
	case run.Synthesis:
		// The last part that was accepted may have opened the next.
		if err := s.board.Reload(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		if s.board.Work()[job.Open] > 0 {
			return nil, nil
		}
	case run.Review:
		return s.read(ctx)
	}
	return s.advance(ctx)
}

// PlanWaits is why a run waits whose plan a person has to confirm.
const PlanWaits = "the plan waits for your yes"

// Why says why a paused or failed run waits for a person.
func Why(m run.Manifest) string {
	if m.Status() == run.Paused {
		return "the run is paused"
	}
	failures := m.Failures()
	if len(failures) == 0 {
		return "the run has failed"
	}
	return failures[len(failures)-1].Get("message").Str()
}

// agentsWork says what of the present stage is left to agents; left is false when
// nothing is. Answers whose judge was stopped are judged first. A stage whose
// jobs have used up their tries, or that is out of budget, is left to a person.
func (s *settler) agentsWork(ctx context.Context) (p *pause, left bool, err error) {
	judged, waiting, err := s.board.JudgeLeftOver(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, id := range judged {
		s.note("judge", "judged the answer to %s that was left", id)
	}
	work := s.board.Work()
	limit, spent := s.board.Limit()
	switch {
	case work[job.Open] > 0 && work[job.Leased] == 0 && limit != "": // nobody gets one of them
		return nil, true, s.outOfBudget(ctx, limit, spent)
	case len(waiting) > 0 && work[job.Open] == 0 && work[job.Leased] == len(waiting):
		return &pause{ForTime, "nothing can be reached from here: the sources of " + tidegate.Cut(strings.Join(waiting, ", ")) + " are tried again each minute, for half an hour"}, true, nil
	case work[job.Open]+work[job.Leased] > 0:
		reason := fmt.Sprintf("%s open, %d leased", report.Counted(work[job.Open], "job"), work[job.Leased])
		if limit != "" {
			reason += fmt.Sprintf("; %s is used up (%v), so that no further job is given out: the run needs a person once the leases end", limit, s.board.Policy().Budget.Of(limit))
		}
		return &pause{ForAgents, reason}, true, nil
	case work[job.Exhausted] > 0:
		var exhausted []run.JobTries
		for _, j := range s.board.Jobs() {
			if j.Now() && j.State == job.Exhausted {
				exhausted = append(exhausted, run.JobTries{ID: j.ID, Attempts: j.Attempt})
			}
		}
		names, gate := make([]string, len(exhausted)), ""
		for i, e := range exhausted {
			names[i] = e.ID
		}
		if strings.HasPrefix(names[0], "verify.") {
			gate = "E" // a person who lets it pass needs no reader
		}
		return nil, true, s.leave(ctx, run.Failure{Code: tidegate.JobNotOpen, Gate: gate, Count: int64(len(exhausted)), Jobs: exhausted,
			Message: "all tries are used up for " + tidegate.Cut(strings.Join(names, ", "))})
	case work[job.Held] > 0: // whoever handed in the last of them has its pairs judged
		return &pause{ForAgents, report.Counted(work[job.Held], "answer") + " held"}, true, nil
	}
	return nil, false, nil
}

// leave leaves the run to a person.
func (s *settler) leave(ctx context.Context, failure run.Failure) error {
	_, err := s.board.Run().Update(ctx, func(u *run.Update) error {
		return stage.LeaveToPerson(u, failure, "needs a person: "+failure.Message)
	})
	if err == nil {
		s.note("needs_person", "%s", failure.Message)
	}
	return err
}

// outOfBudget leaves the run to a person, saying what ran out.
func (s *settler) outOfBudget(ctx context.Context, limit string, spent job.Spent) error {
	allowed := s.board.Policy().Budget.Of(limit)
	more := "tidegate run limit RUN " + limit + " VALUE"
	if flag := limitFlags[limit]; flag != "" {
		more = "tidegate run continue RUN " + flag + " VALUE"
	}
	_, err := s.board.Run().Update(ctx, func(u *run.Update) error {
		return stage.LeaveToPerson(u, run.Failure{
			Code: tidegate.BudgetExhausted, Gate: "", Count: int64(math.Min(allowed, 1<<53)),
			Message: fmt.Sprintf("the budget is used up: %s is %v (%.1f minutes, %.0f tokens, %.2f USD, %.1f MB were used); a larger one is set with `%s`",
				limit, allowed, spent.Minutes, spent.Tokens, spent.CostUSD, spent.MB, more),
		}, "needs a person: "+limit+" is used up")
	})
	if err == nil {
		s.note("needs_person", "%s is used up", limit)
	}
	return err
}

// limitFlags are the flags of `run continue` that set a larger limit and go on.
var limitFlags = map[string]string{"max_minutes": "--max-minutes", "max_tokens": "--max-tokens", "max_cost_usd": "--max-cost"}

// plan plans the first wave and begins it. Perspectives that were written by
// hand are checked against the rules of the job first.
func (s *settler) plan(ctx context.Context, m run.Manifest) (*pause, error) {
	r := s.board.Run()
	planned, err := r.Folder().Exists(r.Layout().Wave1Plan())
	if err != nil {
		return nil, err
	}
	if planned {
		return s.advance(ctx)
	}
	fault, err := s.perspectivesFault(m)
	if err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, s.leave(ctx, run.Failure{Code: tidegate.SchemaValidationFailed,
			Message: "the perspectives break a rule of the run: " + fault.Code + ": " + fault.Message})
	}
	if s.board.Policy().ConfirmPlan {
		return &pause{ForPerson, PlanWaits}, nil
	}
	result, err := step.Plan(ctx, s.desk, step.PlanInput{ManifestPath: s.manifest, Reason: "settled"})
	if err != nil {
		return nil, err
	}
	s.note("plan", "planned %s", report.Counted(result.Planned, "perspective"))
	return nil, nil
}

// perspectivesFault is the first rule of the job that the run's perspectives
// break, nil when they break none.
func (s *settler) perspectivesFault(m run.Manifest) (*job.Fault, error) {
	r := s.board.Run()
	name := r.Layout().Perspectives
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, err
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return &job.Fault{Code: string(tidegate.InvalidJSON), Message: name + ": " + err.Error()}, nil
	}
	faults, _, err := job.CheckPerspectives(doc, job.PerspectivesAllowed(m))
	if err != nil || len(faults) == 0 {
		return nil, err
	}
	return &faults[0], nil
}

// review reviews the first wave, judges gate B and goes on.
func (s *settler) review(ctx context.Context) (*pause, error) {
	r := s.board.Run()
	passed, err := s.gatePassed("B")
	if err != nil {
		return nil, err
	}
	if passed {
		return s.advance(ctx)
	}
	l := r.Layout()
	result, err := step.ReviewWave(ctx, s.desk, step.WaveReviewInput{PerspectivesPath: r.Path(l.Perspectives), OutputsDir: r.Path(r.WaveDir(run.Wave1)),
		MaxFailures: 50, ReportPath: r.Path(l.WaveReview)})
	if err != nil {
		return nil, err
	}
	s.note("review", "%d of %s failed", result.Failed, report.Counted(result.Validated, "output"))
	return s.advance(ctx)
}

func (s *settler) gatePassed(id string) (bool, error) {
	r := s.board.Run()
	gates, err := r.Gates()
	if err != nil {
		return false, err
	}
	state, err := r.GateState(gates, id)
	return err == nil && state.Counts() == run.GatePass, err
}

// decide decides the pivot, unless that was done for the outputs as they are, and
// goes on.
func (s *settler) decide(ctx context.Context) (*pause, error) {
	r := s.board.Run()
	there, err := r.Folder().Exists(r.Layout().Pivot)
	if err != nil {
		return nil, err
	}
	if there {
		_, err := s.move(ctx, true)
		if err == nil {
			return s.advance(ctx)
		}
		if tidegate.ClassOf(tidegate.CodeOf(err)) != tidegate.Conflict || !strings.Contains(tidegate.AsError(err).Message, "pivot") {
			return s.advance(ctx) // something else is in the way
		}
	}
	in, err := step.PivotOf(ctx, s.desk, s.manifest)
	if err != nil {
		return nil, err
	}
	in.Reason = "settled"
	decision, err := step.DecidePivot(ctx, s.desk, in)
	if err != nil {
		if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.NotMet {
			return nil, s.leave(ctx, run.Failure{Code: tidegate.CodeOf(err), Message: "the pivot cannot be decided: " + tidegate.AsError(err).Message})
		}
		return nil, err
	}
	s.note("pivot", "%s", decision.Explanation)
	return s.advance(ctx)
}

// judgeSources fetches what the outputs cite and the archive does not have,
// judges all of it, and goes on. Where fetching takes longer than one call may,
// the next call continues it.
func (s *settler) judgeSources(ctx context.Context) (*pause, error) {
	passed, err := s.gatePassed("C")
	if err != nil {
		return nil, err
	}
	if passed {
		return s.advance(ctx)
	}
	judged, err := sourcing.ValidateCitations(ctx, s.desk, s.board.Fetch, sourcing.CitationsInput{ManifestPath: s.manifest, DryRun: s.board.Fetch == nil, Reason: "settled"})
	if err != nil {
		return nil, err
	}
	usable := judged.Statuses.Valid + judged.Statuses.Paywalled
	s.note("citations", "fetched %d, %d of %s can be cited", judged.Fetched, usable, report.Counted(judged.Validated, "source"))
	return s.advance(ctx)
}

// pack builds the pack of the summaries that were accepted, unless one was handed in, and
// goes on.
func (s *settler) pack(ctx context.Context) (*pause, error) {
	r := s.board.Run()
	passed, err := s.gatePassed("D")
	if err == nil && !passed {
		passed, err = step.PackHandedIn(r) // its gate is judged on the way
	}
	if err != nil {
		return nil, err
	}
	if passed {
		return s.advance(ctx)
	}
	built, err := step.BuildPack(ctx, s.desk, step.PackInput{ManifestPath: s.manifest, Mode: step.PackGiven, ByRule: true,
		FixtureSummariesDir: r.Path(r.Layout().SummariesDir), Reason: "settled"})
	if err != nil {
		if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.NotMet {
			return nil, s.leave(ctx, run.Failure{Code: tidegate.CodeOf(err), Message: "the summaries make no pack: " + tidegate.AsError(err).Message})
		}
		return nil, err
	}
	s.note("pack", "built from %d summaries", built.SummaryCount)
	return s.advance(ctx)
}

// read takes what second readers said of the report. Where sentences do not stand, the
// run goes back to writing without a review.
func (s *settler) read(ctx context.Context) (*pause, error) {
	r := s.board.Run()
	taken, err := sentences.RecordReadings(ctx, r)
	if err != nil {
		return nil, err
	}
	if taken {
		s.note("read", "took the verdicts of the second reader")
		return nil, nil
	}
	refused, err := sentences.SendBack(ctx, r)
	if err != nil {
		return nil, err
	}
	if refused > 0 {
		s.note("read", "sentences that do not stand: %d", refused)
	}
	return s.advance(ctx)
}

// move moves the run on, or says what is in the way.
func (s *settler) move(ctx context.Context, dryRun bool) (stage.AdvanceResult, error) {
	r := s.board.Run()
	return stage.Advance(ctx, s.desk, stage.AdvanceInput{ManifestPath: s.manifest, GatesPath: r.Path(r.Layout().Gates), Reason: "settled", DryRun: dryRun})
}

// advance moves the run on. A gate in the way that does not pass when it is judged, and
// anything else in the way, is for a person.
func (s *settler) advance(ctx context.Context) (*pause, error) {
	moved, err := s.move(ctx, false)
	for _, gate := range moved.Judged {
		s.note("gate "+gate.GateID, "%s", gate.Status)
	}
	if err == nil {
		s.note("advance", "moved from %s to %s", moved.From, moved.To)
		return nil, nil
	}
	e := tidegate.AsError(err)
	switch e.Code {
	case tidegate.RevisionMismatch, tidegate.ReviewCapExceeded:
		return nil, nil // another process moved it, or it was left to a person
	case tidegate.Tampered:
		return nil, err
	}
	if _, refused := e.Details.Get("blockers"); !refused || tidegate.ClassOf(e.Code) != tidegate.Conflict {
		return nil, err
	}
	gate := ""
	if e.Code == tidegate.GateBlocked {
		id, _ := e.Details.Get("gate")
		gate, _ = id.(string)
	}
	return nil, s.leave(ctx, run.Failure{Code: e.Code, Gate: gate, Message: e.Message})
}

// Report shows a person what was done and what comes next.
func (s StepResult) Report() report.Report {
	out := report.Report{Name: "run_step", Title: "run " + s.RunID, Summary: "stage " + string(s.Stage) + ", " + string(s.Status) + "; waits for " + string(s.WaitingFor) + ": " + s.Reason}
	switch {
	case s.Status == run.Failed:
		out.Status = report.Fail
	case s.Status == run.Completed:
		out.Status = report.Pass
	}
	if len(s.Did) > 0 {
		var items report.Bullets
		for _, d := range s.Did {
			items = append(items, d.Step+": "+d.Result)
		}
		out.Add(report.Heading("Done by rule"), items)
	}
	if len(s.Jobs) > 0 {
		out.Add(report.Heading("Jobs"), job.Table(s.Jobs))
	}
	if s.Next != "" {
		out.Add(report.Heading("Next command"), report.Preformatted(s.Next))
	}
	return out
}
