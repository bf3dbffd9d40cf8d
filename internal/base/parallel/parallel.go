// Package parallel does many like steps at once and answers as if they had been
// done one after the other: parallel inside, ordered outside.
//
// It knows nothing of what a step does.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Each does the steps 0 to n-1 on all cores; start makes a separate function for
// each worker. It returns the error of the lowest step that fails, whatever the order
// in which they were done, or that of ctx when it ends first; steps after one that
// failed may not be done.
//
// Progress, unless it is nil, hears how many steps are done, from several
// goroutines. A panic in a step becomes a panic of the caller, who can recover it.
func Each(ctx context.Context, n int, progress func(done, total int), start func() func(i int) error) error {
	s := steps{ctx: ctx, n: n, progress: progress}
	s.failed.Store(int64(n))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		workers.Go(func() { s.work(start) })
	}
	if n > 0 {
		s.work(start) // few steps are done before another goroutine has begun
	}
	workers.Wait()
	if s.panicked != nil {
		panic(s.panicked)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.err
}

// All is [Each] for steps that need neither anything of their worker nor a progress.
func All(ctx context.Context, n int, step func(i int) error) error {
	return Each(ctx, n, nil, func() func(int) error { return step })
}

// steps is what the workers share.
type steps struct {
	ctx        context.Context
	n          int
	progress   func(done, total int)
	next, done atomic.Int64
	failed     atomic.Int64 // the lowest step that failed; later steps do not matter

	mu       sync.Mutex
	err      error // of that step
	panicked any
}

func (s *steps) work(start func() func(i int) error) {
	defer func() {
		if value := recover(); value != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.panicked = value
			s.failed.Store(-1)
		}
	}()
	step := start()
	for s.ctx.Err() == nil {
		i := s.next.Add(1) - 1
		if i >= s.failed.Load() {
			return
		}
		if err := step(int(i)); err != nil {
			s.mu.Lock()
			if i < s.failed.Load() {
				s.failed.Store(i)
				s.err = err
			}
			s.mu.Unlock()
		}
		if done := s.done.Add(1); s.progress != nil {
			s.progress(int(done), s.n)
		}
	}
}

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
