package engine

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

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
// was found that sees planted errors; LOCK_HELD when another process answers it, CANCELLED,
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
	}, q.advance)
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
func (q *question) advance(ctx context.Context, _ *job.Board) (more bool, err error) {
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
		reading.SetParts(&q.answer.Claims)
		material := q.asked.Material(ctx, &q.answer.Claims)
		q.readings = &sentences.Readings{Questions: &reading.Questions{Claims: &q.answer.Claims, Further: q.answer.Further, First: material, Second: material}, Folder: q.asked.Folder, Round: q.round}
		return true, nil
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
