package job

import "context"

// need is in which state a run must be for a change.
type need int

const (
	toBeOpen need = iota // it takes answers
	toStand              // it goes on, and stands where it stood when it was opened
)

// change is a change of one job that somebody waits for.
type change struct {
	ctx   context.Context // of the call that it belongs to
	needs need
	do    func(update) error
	job   string
}

// update makes a change of a job under the run's lock; see [run.Run.Update]. Changes of
// other jobs that are asked for at the same time are made with it: most of what one costs
// is the lock and the syncs of its transaction.
func (b *Board) update(ctx context.Context, job string, needs need, do func(update) error) error {
	return b.together.Ask(ctx, job, change{ctx: ctx, needs: needs, do: do, job: job})
}

// make makes changes, and marks what the board knows of their jobs as out of date, until
// the one that changed them says how they are.
func (b *Board) make(ctx context.Context, changes []change) []error {
	errs := b.present().update(ctx, changes)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range changes {
		if j := b.jobs[c.job]; j != nil {
			j.asOf = 0
		}
	}
	return errs
}
