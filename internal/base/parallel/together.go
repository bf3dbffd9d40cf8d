package parallel

import (
	"context"
	"sync"
	"time"
)

// Together lets steps that are asked for at the same time be done in one: what a step
// costs does not depend much on how much it does. Steps of one key are never done in one.
// The zero value is ready.
type Together[T any] struct {
	// Do does steps, and returns the error of each.
	Do func(ctx context.Context, steps []T) []error

	mu      sync.Mutex
	busy    bool // somebody does steps
	waiting []*waiting[T]
	last    int // how many steps were done in one the last time
}

// Where others came the last time, a few steps wait a moment for more. Somebody who works
// alone does not wait.
const (
	few    = 12
	moment = 2 * time.Millisecond
)

// waiting is a step that somebody waits for.
type waiting[T any] struct {
	ctx  context.Context // of the call that it belongs to
	key  string
	step T
	done chan error    // has a value once it was done, or could not be
	lead chan struct{} // has a value when it is this one's turn to do what waits
}

// Ask has a step done, with those of other keys that wait, and returns its error.
func (t *Together[T]) Ask(ctx context.Context, key string, step T) error {
	w := &waiting[T]{ctx: ctx, key: key, step: step, done: make(chan error, 1), lead: make(chan struct{}, 1)}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	leads := !t.busy
	t.busy = true
	t.mu.Unlock()
	if !leads {
		select {
		case err := <-w.done:
			return err
		case <-w.lead:
		}
	}
	t.doWaiting()
	return <-w.done
}

// doWaiting does the steps that wait, one for each key, and then lets the first of those
// that came meanwhile go on.
func (t *Together[T]) doWaiting() {
	t.mu.Lock()
	if t.last > 1 && len(t.waiting) < few {
		t.mu.Unlock()
		time.Sleep(moment)
		t.mu.Lock()
	}
	var batch, later []*waiting[T]
	var steps []T
	keys := map[string]bool{}
	for _, w := range t.waiting {
		if keys[w.key] {
			later = append(later, w)
		} else {
			batch, steps = append(batch, w), append(steps, w.step)
		}
		keys[w.key] = true
	}
	t.waiting, t.last = later, len(batch)
	t.mu.Unlock()
	ctx, stop := untilAllEnd(batch)
	errs := t.Do(ctx, steps)
	stop()
	for i, w := range batch {
		w.done <- errs[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy = len(t.waiting) > 0; t.busy {
		t.waiting[0].lead <- struct{}{}
	}
}

// untilAllEnd is a context that ends when those of all steps have ended: one that gives up
// does not stop the others.
func untilAllEnd[T any](batch []*waiting[T]) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(batch[0].ctx))
	var mu sync.Mutex
	left := len(batch)
	stops := []func() bool{}
	for _, w := range batch {
		stops = append(stops, context.AfterFunc(w.ctx, func() {
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
