package job

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// LeasedAgain is what follows by rule from giving out a job.
type LeasedAgain struct {
	Attempt  int
	PromptMD string
	// ControlSeedDigest is that of the seed that chose the errors planted in the prompt,
	// "" where none are.
	ControlSeedDigest string
	MadeFrom          *MadeFrom
}

// LeaseAgain makes the prompt of a job's next attempt as [Board.Lease] did. Driver and
// seed are those that the attempt keeps: the seed counts where no rule says which it must
// be, and a person may be asked without one. It is for a run as it stood when the job was
// given out.
//
// It returns JOB_NOT_FOUND, and INVALID_STATE where a seed is lacking.
func (b *Board) LeaseAgain(ctx context.Context, id, driver, seed string) (LeasedAgain, error) {
	j, err := b.Job(id)
	if err != nil {
		return LeasedAgain{}, err
	}
	j.drawn, j.byPerson = &seed, seed == "" && tidegate.ActorOf(ctx).Kind == tidegate.Person
	if strings.HasPrefix(driver, "recorded") {
		j.recorded = &recordedAttempt{ControlSeed: seed}
	}
	made, err := j.task.prompt(ctx, &j)
	out := LeasedAgain{Attempt: j.next(), PromptMD: made.text}
	if made.seed != "" {
		out.ControlSeedDigest = seedDigest(made.seed)
	}
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
	// ControlSeed chose the errors that were planted for a second reader, where the
	// verdict uses it up.
	ControlSeed string `json:"-"`
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
	missed := missedControls(judged.faults)
	if missed || len(judged.faults) == 0 {
		out.ControlSeed = a.ControlSeed
	}
	if missed {
		before, err := b.readingsBefore()
		if err != nil {
			return out, err
		}
		return out, b.Run().Rehearse(ctx, desk, func(u *run.Update) error {
			b.noteUnfit(update{u, u}, &j, a, before)
			return nil
		})
	}
	if len(judged.faults) > 0 {
		out.Repair, err = Repair(j.answerFormat(), judged.faults, judged.warnings)
		return out, err
	}
	return out, b.Run().Rehearse(ctx, desk, func(u *run.Update) error { return judged.result.take(update{u, u}, &j, number) })
}

// readingsBefore says what had become of each attempt to read, by the verdicts that the
// log has: the attempts themselves may know more than was known then.
func (b *Board) readingsBefore() (func(*Attempt) (judged, failed bool), error) {
	verdicts, err := b.Run().EventsOf(run.EventVerdict)
	if err != nil {
		return nil, err
	}
	type attempt struct {
		job    string
		number int64
	}
	failed := map[attempt]bool{}
	for _, v := range verdicts {
		number, _ := v.Entry.Get("attempt").Int()
		failed[attempt{v.Entry.Get("job_id").Str(), number}] = slices.Contains(v.Entry.Get("faults").Strs(), string(tidegate.ControlFailed))
	}
	return func(a *Attempt) (bool, bool) {
		missed, judged := failed[attempt{a.JobID, int64(a.Number)}]
		return judged, missed
	}, nil
}
