package job

import (
	"context"
	"sync"
	"time"
)

// queue lets changes of a run that are asked for at the same time share a
// transaction, with its lock and its syncs: most of what a change costs does not
// depend on how much it changes.
type queue struct {
	mu      sync.Mutex
	busy    bool // somebody makes changes
	waiting []*change
	last    int // how many changes were made together the last time
}

// Where others came the last time, a few changes wait a moment for more: less than a
// transaction takes on a disk. Somebody who works alone does not wait.
const (
	few    = 12
	moment = 2 * time.Millisecond
)

// change is a change of one job that somebody waits for.
type change struct {
	ctx  context.Context // of the call that it belongs to
	do   func(update) error
	job  string
	made chan error    // has a value once it was made, or could not be
	lead chan struct{} // has a value when it is this one's turn to make what waits
}

// update makes a change of a job under the run's lock; see [run.Run.Update].
// Waiting changes of other jobs are made with it.
func (b *Board) update(ctx context.Context, job string, do func(update) error) error {
	c := &change{ctx: ctx, do: do, job: job, made: make(chan error, 1), lead: make(chan struct{}, 1)}
	t := &b.queue
	t.mu.Lock()
	t.waiting = append(t.waiting, c)
	leads := !t.busy
	t.busy = true
	t.mu.Unlock()
	if !leads {
		select {
		case err := <-c.made:
			return err
		case <-c.lead:
		}
	}
	b.makeWaiting()
	return <-c.made
}

// makeWaiting makes the changes that wait, one for each job, and then lets the
// first of those that came meanwhile go on.
func (b *Board) makeWaiting() {
	t := &b.queue
	t.mu.Lock()
	if t.last > 1 && len(t.waiting) < few {
		t.mu.Unlock()
		time.Sleep(moment)
		t.mu.Lock()
	}
	var batch, later []*change
	jobs := map[string]bool{}
	for _, c := range t.waiting {
		if jobs[c.job] {
			later = append(later, c)
		} else {
			batch = append(batch, c)
		}
		jobs[c.job] = true
	}
	t.waiting, t.last = later, len(batch)
	t.mu.Unlock()
	ctx, stop := untilAllEnd(batch)
	errs := b.present().update(ctx, b.desk, batch)
	stop()
	b.forget(batch)
	for i, c := range batch {
		c.made <- errs[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy = len(t.waiting) > 0; t.busy {
		t.waiting[0].lead <- struct{}{}
	}
}

// forget marks what the board knows of changed jobs as out of date, until the one
// that changed them says how they are.
func (b *Board) forget(batch []*change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range batch {
		if j := b.jobs[c.job]; j != nil {
			j.asOf = 0
		}
	}
}

// untilAllEnd is a context that ends when those of all changes have ended: one
// that gives up does not stop the others.
func untilAllEnd(batch []*change) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(batch[0].ctx))
	var mu sync.Mutex
	left := len(batch)
	stops := []func() bool{}
	for _, c := range batch {
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
