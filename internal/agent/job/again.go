package job

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/work/run"
)

// LeasedAgain is what follows by rule from giving out a job.
type LeasedAgain struct {
	Attempt  int
	PromptMD string
	MadeFrom *driver.MadeFrom
}

// LeaseAgain makes the prompt of a job's next attempt as [Board.Lease] did, for a person where
// that reads. It is for a run as it stood when the job was given out. It returns
// JOB_NOT_FOUND.
func (b *Board) LeaseAgain(ctx context.Context, id string, byPerson bool) (LeasedAgain, error) {
	j, err := b.Job(id)
	if err != nil {
		return LeasedAgain{}, err
	}
	j.byPerson = byPerson && tidegate.ActorOf(ctx).Kind == tidegate.Person
	made, err := j.task.prompt(ctx, &j)
	out := LeasedAgain{Attempt: j.next(), PromptMD: made.text}
	if err == nil {
		out.MadeFrom, err = b.madeFrom(&j)
	}
	return out, err
}

// Again is what the judge of a kept answer says when it is asked again.
type Again struct {
	Unwrapped []string `json:"unwrapped"`
	Faults    []Fault  `json:"faults"`
	Warnings  []Fault  `json:"warnings"`
	// Repair is the prompt that asks the agent to repair a refused answer, where it
	// is asked to.
	Repair string `json:"-"`
	// Held says that the answer waits for its pairs.
	Held bool `json:"-"`
}

// JudgeAgain judges an answer that the run kept, as [Board.Submit] did, and stages
// what follows from accepting it where it has no fault. It is for a rehearsal of a
// run as it stood when the answer was judged; see [run.Run.Rehearse].
//
// It returns JOB_NOT_FOUND, the errors of reading the attempt, and the errors of
// [run.Run.Rehearse].
func (b *Board) JudgeAgain(ctx context.Context, desk run.Desk, id string, number, n int) (Again, error) {
	j, err := b.Job(id)
	if err != nil {
		return Again{}, err
	}
	a, err := readAttempt(b.Folder(), id, number)
	if err != nil {
		return Again{}, err
	}
	if n < 1 || n > len(a.Submissions) {
		return Again{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id, "attempt", number, "answer", n),
			"attempt %d at %s keeps %d answers, none with the number %d", number, id, len(a.Submissions), n)
	}
	judged, took, err := b.judge(ctx, &j, a, n)
	if err != nil {
		return Again{}, err
	}
	out := Again{Unwrapped: took, Faults: judged.faults, Warnings: judged.warnings}
	if len(judged.faults) > 0 {
		out.Repair, err = Repair(j.answerFormat(), judged.faults, judged.warnings)
		return out, err
	}
	if out.Held = judged.held; out.Held {
		return out, nil
	}
	return out, b.Run().Rehearse(ctx, desk, func(u *run.Update) error {
		j.seeds = b.Seeds
		return judged.result.take(update{u, u}, &j, number)
	})
}
