package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// folderWork is work that is no run's, while it is driven: it does by rule what follows
// from its jobs.
type folderWork struct {
	board *job.Board
	over  string // which limit of the budget is reached

	refused bool // tries are used up, and the last answer was refused
}

// folderOutcome is how driving work that is no run's ended.
type folderOutcome struct {
	Outcome
	spent   job.Spent
	refused bool // tries are used up, and the last answer was refused
}

// driveFolder drives the jobs in a folder that is no run's, for a person who wants them
// done: those that have used up their tries get them again. Present is the work as it is,
// without its folder; once every answer is accepted, advance says whether there is more of
// it. Where answers are missing at the end, left, unless nil, is told why, and whether a
// budget ended it.
func driveFolder(ctx context.Context, options Options, what, path string, present func() job.Work, advance func(context.Context, *job.Board) (more bool, err error),
	left func(ctx context.Context, b *job.Board, why Outcome, over bool) error) (folderOutcome, error) {
	board, err := job.OpenFolder(ctx, options.Desk, func(context.Context) (job.Work, error) {
		w := present()
		var err error
		w.Folder, err = options.Desk.Reach.Open(what, path)
		return w, err
	})
	if err != nil {
		return folderOutcome{}, err
	}
	defer board.Close()
	w := &folderWork{board: board}
	if err := w.grantAgain(ctx); err != nil {
		return folderOutcome{}, err
	}
	settle := func(ctx context.Context) (StepResult, error) {
		for {
			out, err := w.settle(ctx)
			if err != nil || out.WaitingFor != ForNothing {
				return out, err
			}
			if more, err := advance(ctx, board); err != nil || !more {
				return out, err
			}
			if err := w.lookAgain(ctx); err != nil {
				return out, err
			}
		}
	}
	out, err := drive(ctx, board, rules{settle, w.outOfBudget}, options)
	if err == nil && out.WaitingFor != ForNothing && left != nil {
		err = left(ctx, board, out, w.over != "")
	}
	return folderOutcome{out, board.Spent(), w.refused}, err
}

// ReadReport lets second readers read the parts of an audited report, as those of a run
// are read: with twins of sentences, in jobs that the folder of the audit keeps. It returns
// why not all of them were read, "" where they were, and what it took. It returns
// LOCK_HELD when another process drives it, CANCELLED, and the errors of reading and
// writing the folder.
func ReadReport(ctx context.Context, parts *audit.Parts, budget run.Budget, options Options) (why string, spent job.Spent, err error) {
	out, err := driveFolder(ctx, options, "audit", parts.Folder.Path(), func() job.Work {
		return job.Work{ID: parts.ID, CreatedAt: parts.CreatedAt, Budget: budget, Log: run.LogFile, IDKey: "audit_id",
			Kinds: []job.Kind{job.Reading(options.Desk, parts.Questions, 1)}}
	}, func(ctx context.Context, b *job.Board) (bool, error) {
		if len(parts.Claims.Parts) > 0 {
			return parts.Advance()
		}
		err := b.Deal(ctx, &parts.Readings)
		return len(parts.Claims.Parts) > 0, err
	}, func(ctx context.Context, b *job.Board, _ Outcome, over bool) error {
		if !over {
			return nil
		}
		return b.SettleUnread(ctx) // nothing of it goes on, so that what was answered counts
	})
	if err == nil && out.WaitingFor != ForNothing {
		why = out.Reason
	}
	return why, out.spent, err
}

// grantAgain gives jobs that have used up their tries all of them again, for a person who
// wants the work to go on.
func (w *folderWork) grantAgain(ctx context.Context) error {
	return w.board.GrantAgain(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByRule}))
}

// lookAgain reads the jobs again once there are others. Those of a review are not known
// before there is something to review.
func (w *folderWork) lookAgain(ctx context.Context) error {
	if err := w.board.Reload(ctx); err != nil {
		return err
	}
	return w.grantAgain(ctx)
}

func (w *folderWork) settle(ctx context.Context) (StepResult, error) {
	judged, _, err := w.board.JudgeLeftOver(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}))
	if err != nil {
		return StepResult{}, err
	}
	out := StepResult{RunID: w.board.ID(), Did: []Did{}, Jobs: []job.Job{}}
	for _, id := range judged {
		out.Did = append(out.Did, Did{"judge", "judged the answer to " + id + " that was left"})
	}
	var exhausted []string
	for _, j := range w.board.Jobs() {
		if j.State != job.Accepted {
			out.Jobs = append(out.Jobs, j)
		}
		if j.State == job.Exhausted {
			exhausted = append(exhausted, j.ID)
		}
	}
	counts := w.board.Work()
	switch {
	case len(out.Jobs) == 0:
		out.WaitingFor, out.Reason = ForNothing, "every answer is accepted"
	case w.over != "":
		out.WaitingFor, out.Reason = ForPerson, w.over
	case counts[job.Open]+counts[job.Leased] > 0:
		out.WaitingFor, out.Reason = ForAgents, fmt.Sprintf("%s open, %d leased", report.Counted(counts[job.Open], "job"), counts[job.Leased])
	case len(exhausted) == 0:
		out.WaitingFor, out.Reason = ForAgents, report.Counted(counts[job.Held], "answer")+" held"
	default:
		var fault string
		fault, w.refused = w.lastFault(exhausted[0])
		out.WaitingFor, out.Reason = ForPerson, "all tries are used up for "+tidegate.Cut(strings.Join(exhausted, ", "))+fault
	}
	return out, nil
}

// lastFault says why the last attempt at a job failed, as the rest of a sentence, and
// whether its answer was refused.
func (w *folderWork) lastFault(id string) (why string, refused bool) {
	shown, err := w.board.Show(id)
	if err != nil || len(shown.Attempts) == 0 {
		return "", false
	}
	last := shown.Attempts[len(shown.Attempts)-1]
	if n := len(last.Submissions); n > 0 && len(last.Submissions[n-1].Faults) > 0 {
		fault := last.Submissions[n-1].Faults[0]
		return fmt.Sprintf("; the last answer to %s was refused with %s: %s", id, fault.Code, tidegate.Cut(fault.Message)), true
	}
	if last.Reason == "" {
		return "", false
	}
	return fmt.Sprintf("; the last attempt at %s ended with: %s", id, tidegate.Cut(last.Reason)), false
}

func (w *folderWork) outOfBudget(_ context.Context, limit string, spent job.Spent) error {
	w.over = fmt.Sprintf("the budget is used up: %s is %v (%.1f minutes, %.0f tokens, %.2f USD were used)",
		limit, w.board.Policy().Budget.Of(limit), spent.Minutes, spent.Tokens, spent.CostUSD)
	return nil
}

// AskReader is the role of who reads the answer to a further question.
const AskReader = "verifier"

// Answer puts a further question about finished reports to one agent, and every sentence of
// its answer to another, in jobs that the folder of the answer keeps. What readers do not
// confirm is written again, as often as the budget has tries, so that the outcome is an
// answer that stands as a report does, or the fixed sentence. Single says that the writer's
// own agent reads. A question that was begun before goes on. Runs is the home of runs; spent
// is what agents took, this time and before.
//
// It returns INVALID_STATE where an agent cannot work or the budget is used up, or no reader
// was found that tells a sentence from its opposite; LOCK_HELD when another process answers it, CANCELLED,
// and the errors of reading and writing the folder. A question that the pages do not answer
// is a result.
func Answer(ctx context.Context, runs string, asked *library.Asked, budget run.Budget, single bool, options Options) (answered library.Answered, spent job.Spent, err error) {
	passages, err := asked.Passages(ctx)
	if err != nil {
		return answered, spent, err
	}
	if err := asked.Begin(ctx, options.Desk, runs); err != nil {
		return answered, spent, err
	}
	defer asked.Folder.Close()
	if len(passages) == 0 {
		answered, err = asked.Keep(ctx, asking.Answer{}, "", "no passage of the archived pages is about it; no agent was asked", false)
		return answered, spent, err
	}
	q := &question{asked: asked, rounds: int64(budget.Tries), round: 1, prompt: asked.Prompt(passages, "", nil), passages: passages}
	out, err := driveFolder(ctx, options, "answer", asked.Folder.Path(), func() job.Work {
		var asks *reading.Questions
		if q.readings != nil {
			asks = q.readings.Questions
		}
		return job.Work{ID: asked.ID, CreatedAt: asked.CreatedAt, Budget: budget, Log: run.LogFile, IDKey: "answer_id", OneAgent: single,
			Kinds: []job.Kind{job.Ask(job.Asking{Round: q.round, Prompt: q.prompt, Judge: q.judge}), job.Reading(options.Desk, asks, q.round)}}
	}, q.advance, nil)
	switch {
	case err != nil:
		return answered, out.spent, err
	case out.WaitingFor != ForNothing && out.refused && q.readings == nil:
		q.why, q.failed = "no answer of the agent followed the rules: "+out.Reason, true
	case out.WaitingFor != ForNothing:
		return answered, out.spent, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("answer_id", asked.ID, "help", out.Help), "the question is not answered yet, and goes on when it is asked again: %s", out.Reason)
	}
	by := evidence.Readers{OneAgent: single, Recorded: options.Agents[AskReader].Recording != nil}
	answered, err = asked.Keep(ctx, q.answer, evidence.TrustLine(&q.answer.Claims, by), q.why, q.failed)
	return answered, out.spent, err
}

// question is a further question while agents are at it.
type question struct {
	asked    *library.Asked
	passages []claim.Window
	rounds   int64 // most of them

	round    int64
	prompt   string
	answer   asking.Answer       // of the round, once it is accepted
	readings *sentences.Readings // of its sentences
	why      string              // there is no answer
	failed   bool                // which says nothing about the pages
}

func (q *question) judge(ctx context.Context, text string) ([]evidence.Fault, error) {
	answer, err := q.asked.Judge(ctx, text)
	return answer.Faults, err
}

// advance goes from an accepted answer to its readers, and from what they refuse to the next
// round.
func (q *question) advance(ctx context.Context, board *job.Board) (more bool, err error) {
	if q.readings == nil {
		text, err := q.asked.Folder.Read(job.AskedFile(q.round))
		if err != nil {
			return false, err
		}
		if q.answer, err = q.asked.Judge(ctx, string(text)); err != nil {
			return false, err
		}
		if q.answer.Refused {
			q.why = "the agent found no answer in the passages"
			return false, nil
		}
		q.readings = &sentences.Readings{Questions: &reading.Questions{Claims: &q.answer.Claims, Further: q.answer.Further, Material: reading.Material{Language: q.asked.Language, Question: q.asked.Question, Text: q.asked.Text}}, Folder: q.asked.Folder, Round: q.round}
		return true, board.Deal(ctx, q.readings)
	}
	if more, err := q.readings.Advance(); more || err != nil {
		return more, err
	}
	outcome := q.answer.Claims.Judge(true)
	if outcome.Pass() {
		return false, nil
	}
	faults := asking.Refusals(outcome)
	if q.round == q.rounds {
		q.why = "the second reader did not confirm the answer"
		if len(faults) > 0 {
			q.why += ": " + faults[0].Message
		}
		return false, nil
	}
	q.round++
	q.prompt, q.readings = q.asked.Prompt(q.passages, q.answer.Text, faults), nil
	return true, nil
}
