package summary

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls the work of n steps on all cores and returns the error of the
// first step, by number, that fails: steps after it may not have been done.
// Each worker makes its own function with start. Progress hears how many steps
// are done.
func inParallel(ctx context.Context, n int, progress func(done, total int), start func() func(i int) error) error {
	p := parallel{ctx: ctx, n: n, progress: progress}
	p.failed.Store(int64(n))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() { p.work(start()) })
	}
	workers.Wait()
	if p.panicked != nil {
		panic(p.panicked)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.err
}

type parallel struct {
	ctx        context.Context
	n          int
	progress   func(done, total int)
	next, done atomic.Int64
	failed     atomic.Int64 // the lowest step that failed

	mu       sync.Mutex
	err      error
	panicked any
}

func (p *parallel) work(step func(i int) error) {
	defer func() {
		if value := recover(); value != nil { // the goroutine that waits can recover it
			p.mu.Lock()
			p.panicked = value
			p.mu.Unlock()
			p.failed.Store(-1)
		}
	}()
	for p.ctx.Err() == nil {
		i := p.next.Add(1) - 1
		if i >= p.failed.Load() {
			return
		}
		if err := step(int(i)); err != nil {
			p.fail(i, err)
		}
		if done := p.done.Add(1); p.progress != nil {
			p.progress(int(done), p.n)
		}
	}
}

func (p *parallel) fail(i int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i < p.failed.Load() {
		p.failed.Store(i)
		p.err = err
	}
}

// later calls f beside the caller, who gets what it returns, or its panic, from
// the function that is returned.
func later[T any](f func() (T, error)) func() (T, error) {
	var (
		value    T
		err      error
		panicked any
		done     sync.WaitGroup
	)
	done.Go(func() {
		defer func() { panicked = recover() }()
		value, err = f()
	})
	return func() (T, error) {
		done.Wait()
		if panicked != nil {
			panic(panicked)
		}
		return value, err
	}
}
