package engine

import (
	"context"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// A home looks at the clock every second. If it could not for longer than noLook, it was
// stopped, or its machine slept.
const (
	lookInterval = time.Second
	noLook       = 10 * time.Second
)

// sleepWatch knows when this process was asleep.
type sleepWatch struct {
	wall func() time.Time // has no monotonic reading, which stands still while a machine sleeps
	now  func() time.Time // as the record has it

	mu    sync.Mutex
	last  time.Time // when somebody looked
	slept []run.Span
}

func wallClock() time.Time { return time.Now().Round(0) }

// watch looks at the clock until ctx ends.
func (w *sleepWatch) watch(ctx context.Context) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look()
		}
	}
}

// look looks at the clock and returns when this process was asleep so far.
func (w *sleepWatch) look() []run.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := w.wall()
	if gap := wall.Sub(w.last); gap > noLook {
		now := w.now()
		w.slept = append(w.slept, run.Span{From: now.Add(-gap), To: now})
	}
	w.last = wall
	return w.slept
}

// rested keeps in the attempt that this home was asleep meanwhile.
func (a *attempt) rested(ctx context.Context) error {
	a.resting.Lock()
	defer a.resting.Unlock()
	for _, span := range a.engine.awake.look()[a.sleeps:] {
		a.sleeps++
		if err := a.unspent(ctx, span); err != nil {
			return err
		}
	}
	return nil
}

// waited keeps in the attempt that it waited for a machine until now.
func (a *attempt) waited(ctx context.Context) error {
	if a.waits.IsZero() {
		return nil
	}
	span := run.Span{From: a.waits, To: a.engine.Desk.Now()}
	a.waits = time.Time{}
	defer a.engine.board.Waits(a.held.JobID, time.Time{})
	a.resting.Lock()
	defer a.resting.Unlock()
	return a.unspent(ctx, span)
}

// unspent keeps in the attempt a time in which nobody worked at it. That a person has taken
// the job away is found out elsewhere.
func (a *attempt) unspent(ctx context.Context, span run.Span) error {
	a.idle += span.To.Sub(span.From)
	err := a.engine.board.Unspent(context.WithoutCancel(ctx), a.held.Token, span)
	switch tidegate.CodeOf(err) {
	case tidegate.LeaseLost, tidegate.InvalidState, tidegate.JobNotFound:
		return nil
	}
	return err
}
