package pivot

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// forEach calls functions that worker makes, one for each core, with 0 to n-1,
// and tells progress, unless it is nil, how many calls are done. It returns the
// error of the lowest number, whatever the order of the calls, or that of ctx.
// A panic of a worker becomes one of the caller, who can recover it.
func forEach(ctx context.Context, n int, progress func(done, total int), worker func() func(i int) error) error {
	var (
		next, done atomic.Int64
		failed     firstError
		panicked   atomic.Pointer[any]
		group      sync.WaitGroup
	)
	failed.index = n
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					panicked.Store(&value)
				}
			}()
			do := worker()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= failed.before() {
					return
				}
				if err := do(i); err != nil {
					failed.note(i, err)
				}
				if progress != nil {
					progress(int(done.Add(1)), n)
				}
			}
		})
	}
	group.Wait()
	if value := panicked.Load(); value != nil {
		panic(*value)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return failed.err
}

// firstError keeps the error of the lowest index.
type firstError struct {
	mu    sync.Mutex
	index int
	err   error
}

func (f *firstError) note(index int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < f.index {
		f.index, f.err = index, err
	}
}

// before is the index from which on nothing matters any more.
func (f *firstError) before() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.index
}
