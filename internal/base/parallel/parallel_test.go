package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestEveryStepIsDoneOnce(t *testing.T) {
	const n = 1000
	var calls [n]atomic.Int64
	var workers atomic.Int64
	var mu sync.Mutex
	var heard []int
	must.Do(t, parallel.Each(t.Context(), n, func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if total != n {
			t.Errorf("progress of %d steps, want %d", total, n)
		}
		heard = append(heard, done)
	}, func() func(int) error {
		workers.Add(1)
		return func(i int) error {
			calls[i].Add(1)
			return nil
		}
	}))
	for i := range calls {
		if got := calls[i].Load(); got != 1 {
			t.Errorf("step %d was done %d times", i, got)
		}
	}
	if got := workers.Load(); got > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d workers on %d cores", got, runtime.GOMAXPROCS(0))
	}
	slices.Sort(heard)
	for i, done := range heard {
		if done != i+1 {
			t.Fatalf("progress heard %d in the place of %d", done, i+1)
		}
	}
	if len(heard) != n {
		t.Errorf("progress heard of %d steps, want %d", len(heard), n)
	}
}

// TestTheLowestFailureWins lets a later step fail first, whenever two workers can
// run at once.
func TestTheLowestFailureWins(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	later := make(chan struct{})
	err := parallel.Each(t.Context(), 2, nil, func() func(int) error {
		return func(i int) error {
			if i == 0 {
				<-later
			} else {
				close(later)
			}
			return fmt.Errorf("step %d", i)
		}
	})
	if err == nil || err.Error() != "step 0" {
		t.Errorf("got %v, want the error of step 0", err)
	}
}

func TestNothingIsBegunAfterAFailure(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	broken := errors.New("broken")
	done := 0
	err := parallel.Each(t.Context(), 10, nil, func() func(int) error {
		return func(i int) error {
			done++
			if i == 3 {
				return broken
			}
			return nil
		}
	})
	if err != broken || done != 4 {
		t.Errorf("%d steps and %v, want 4 and %v", done, err, broken)
	}
}

func TestAnEndedContextEndsTheSteps(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	err := parallel.Each(ctx, 10, nil, func() func(int) error {
		return func(i int) error {
			done++
			cancel()
			return errors.New("because the context ended")
		}
	})
	if err != context.Canceled || done != 1 {
		t.Errorf("%d steps and %v, want 1 and %v", done, err, context.Canceled)
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	for name, start := range map[string]func() func(int) error{
		"of a step":   func() func(int) error { return func(int) error { panic("lost") } },
		"of a worker": func() func(int) error { panic("lost") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != "lost" {
					t.Errorf("recovered %v", got)
				}
			}()
			err := parallel.Each(t.Context(), 10, nil, start)
			t.Errorf("it returned %v", err)
		})
	}
}

func TestNoSteps(t *testing.T) {
	err := parallel.Each(t.Context(), 0, nil, func() func(int) error {
		t.Error("a worker was started for nothing")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
