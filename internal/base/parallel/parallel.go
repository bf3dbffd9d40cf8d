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
