package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/rule/asking"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The roles of a further question.
const (
	AskWriter = "writer"
	AskReader = "verifier"
)

// Ask puts a further question about finished reports to one agent, and every sentence of its
// answer to another. What does not stand is mended or refused, so that the outcome is an
// answer that stands as a report does, or the fixed sentence.
type Ask struct {
	Pool   Pool
	Agents map[string]Agent // by role
	Desk   run.Desk
	Runs   string // the home of runs
	Budget run.Budget
	Single bool // the writer's own agent reads
	// Spent is what the agents have cost so far, in USD. No agent is asked once it has reached
	// the budget's. Nil where nobody wants to know.
	Spent *float64
}

// Answer answers the question and keeps what became of it. It returns INVALID_STATE where an
// agent cannot work, or no reader was found that sees planted errors, BUDGET_EXHAUSTED,
// WRITE_FAILED and CANCELLED. A question that the pages do not answer is a result.
func (a Ask) Answer(ctx context.Context, asked *library.Asked) (library.Answered, error) {
	if a.Spent == nil {
		a.Spent = new(float64)
	}
	passages, err := asked.Passages(ctx)
	if err != nil {
		return library.Answered{}, err
	}
	if len(passages) == 0 {
		return asked.Keep(a.Desk, a.Runs, asking.Answer{}, "", "no passage of the archived pages is about it; no agent was asked")
	}
	last, why := "", ""
	var faults []evidence.Fault
	for n := 1; n <= int(a.Budget.Tries); n++ {
		text, err := a.do(ctx, asked, "ask.1", "ask", AskWriter, n, asked.Prompt(passages, last, faults))
		if err != nil {
			return library.Answered{}, err
		}
		answer, err := asked.Judge(ctx, job.AsJudged("synthesis", []byte(text)))
		if err != nil {
			return library.Answered{}, err
		}
		if answer.Refused {
			return asked.Keep(a.Desk, a.Runs, answer, "", "the agent found no answer in the passages")
		}
		last, faults, why = answer.Text, answer.Faults, "no answer followed the rules: "+firstOf(answer.Faults)
		if len(faults) > 0 {
			continue
		}
		if err := a.read(ctx, asked, &answer, n); err != nil {
			return library.Answered{}, err
		}
		outcome := answer.Claims.Judge(true)
		if outcome.Pass() {
			by := evidence.Readers{OneAgent: a.Single, Recorded: a.Agents[AskReader].Recording != nil}
			return asked.Keep(a.Desk, a.Runs, answer, evidence.TrustLine(&answer.Claims, by), "")
		}
		faults = asking.Refusals(outcome)
		why = "the second reader did not confirm the answer: " + firstOf(faults)
	}
	return asked.Keep(a.Desk, a.Runs, asking.Answer{}, "", why)
}

func firstOf(faults []evidence.Fault) string {
	if len(faults) == 0 {
		return ""
	}
	return faults[0].Message
}

// read lets the second reader read the sentences of an answer, those that it does not
// confirm a second time with further passages.
func (a Ask) read(ctx context.Context, asked *library.Asked, answer *asking.Answer, try int) error {
	material := asked.Material(ctx, &answer.Claims)
	number := 1
	for look, items := 1, reading.Unread(&answer.Claims); look <= 2 && len(items) > 0; look, items = look+1, reading.SecondLook(&answer.Claims, answer.Further) {
		for _, part := range reading.Divide(items, number) {
			number = part.Number + 1
			jobID := fmt.Sprintf("verify.%d.%d", try, part.Number)
			if err := a.readPart(ctx, asked, answer, part, material, jobID, look); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a Ask) readPart(ctx context.Context, asked *library.Asked, answer *asking.Answer, part reading.Part, material reading.Material, jobID string, look int) error {
	var last []evidence.Fault
	for n := 1; n <= int(a.Budget.Tries); n++ {
		seed := reading.PinnedSeed(jobID, n, answer.Claims.SynthesisDigest)
		if !a.Desk.Pinned {
			drawn := sha256.Sum256([]byte(job.ControlSeed()))
			copy(seed[:], drawn[:])
		}
		planted, err := reading.Plant(part, seed, material)
		if err != nil {
			return err
		}
		text, err := a.do(ctx, asked, jobID, "verify", AskReader, n, planted.Prompt())
		if err != nil {
			return err
		}
		judged, faults := planted.Judge([]byte(job.AsJudged("verify", []byte(text))))
		if len(faults) == 0 {
			reading.Record(&answer.Claims, judged, evidence.Verdict{Look: look, Job: jobID, Attempt: n, Round: 1})
			return nil
		}
		last = faults
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", jobID, "faults", len(last)), "the second reader could not be relied on: %s", firstOf(last))
}

// do lets an agent do a task, and keeps what it was asked and what it answered.
func (a Ask) do(ctx context.Context, asked *library.Asked, jobID, kind, role string, attempt int, prompt string) (string, error) {
	if *a.Spent >= a.Budget.MaxCostUSD {
		return "", tidegate.Errorf(tidegate.BudgetExhausted, tidegate.Pairs("spent_usd", *a.Spent, "max_cost_usd", a.Budget.MaxCostUSD), "the question has cost %.2f USD of %.2f, and is not answered", *a.Spent, a.Budget.MaxCostUSD)
	}
	idle := minutes(a.Budget.IdleMinutes)
	task := driver.Task{
		ID: driver.TaskID("", asked.Question, a.Desk.Stamp(), jobID, attempt, 1, prompt), Run: "ask", Job: jobID, Kind: kind, Attempt: attempt, Turn: 1,
		Prompt: prompt, Role: role, Model: a.Agents[role].Model,
		Limits: driver.Limits{Idle: idle, Step: 2 * idle, Deadline: minutes(a.Budget.AttemptMinutes), Answer: int(a.Budget.MaxAnswerKB) << 10, File: int64(a.Budget.MaxMB) << 20},
	}
	answer, err := a.Pool.Do(ctx, task, func(driver.Event) {})
	took := job.Guessed(len(prompt), len(answer.Text))
	if said := usage(answer); said != nil && possible(answer) {
		took = *said
	}
	if cost := took.At(a.Agents[role].Price).CostUSD; cost != nil {
		*a.Spent += *cost
	}
	if ctx.Err() != nil {
		return "", errors.Join(context.Cause(ctx), a.Pool.Cancel(context.WithoutCancel(ctx), task.ID))
	}
	var failure *driver.Error
	if errors.As(err, &failure) && slices.Contains([]driver.Kind{driver.Empty, driver.Died, driver.Idle, driver.Flood}, failure.Kind) {
		answer.Text, err = "", nil // an answer that breaks every rule; the next try mends it
	}
	if err != nil {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("role", role, "job_id", jobID), "the agent of the role %s cannot work: %w", role, err)
	}
	name := fmt.Sprintf("%s.%d", jobID, attempt)
	asked.Note(name+".prompt.md", prompt)
	asked.Note(name+".answer.md", answer.Text)
	return answer.Text, a.Pool.Cancel(context.WithoutCancel(ctx), task.ID)
}
