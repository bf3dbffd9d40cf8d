package engine_test

import (
	"context"
	"github.com/tidegate/tidegate/internal/base/config"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

func boardOf(t *testing.T, desk run.Desk, manifest string) *job.Board {
	t.Helper()
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	t.Cleanup(b.Close)
	return b
}

// TestTheNextHomeJudgesWhatTheLastOneKept stops a home while it judges: the answer
// is not asked for again.
func TestTheNextHomeJudgesWhatTheLastOneKept(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, map[string]float64{"max_parallel": 1})
	ctx, stop := context.WithCancel(t.Context())
	pool := &crew{agent: obedient}
	fetch := func(ctx context.Context, _ []string, _ func([]*archive.Packed) error) error {
		stop()
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: %w", ctx.Err())
	}
	if _, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Fetch: fetch, Wait: noWait}); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatalf("got %v", err)
	}
	before := boardOf(t, desk, manifest)
	kept := map[string]bool{} // others had no answer yet, and are asked for again
	for _, j := range before.Jobs() {
		if found, err := before.Show(j.ID); err == nil && len(found.Attempts) == 1 && len(found.Attempts[0].Submissions) == 1 {
			kept[j.ID] = true
		}
	}
	if len(kept) < 2 {
		t.Fatalf("only the answers to %v were kept", kept)
	}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Fatalf("%s", shown(out))
	}
	for _, j := range boardOf(t, desk, manifest).Jobs() {
		if n := pool.times(j.ID); kept[j.ID] && n != 1 || j.Attempt != 1 {
			t.Errorf("%s was asked for %d times in %d attempts", j.ID, n, j.Attempt)
		}
	}
	verify(t, manifest)
}

// TestTheNextHomeResumesWithTheRepair stops a home whose agent was to repair its
// answer: the next one has it repaired in the same attempt, by continuation where
// there is a session, else with the whole task.
func TestTheNextHomeResumesWithTheRepair(t *testing.T) {
	t.Parallel()
	for _, session := range []string{"s", ""} {
		t.Run("session "+session, func(t *testing.T) {
			t.Parallel()
			manifest, desk := newSmallRun(t, nil)
			ctx, stop := context.WithCancel(t.Context())
			whole := ""
			first := &crew{agent: func(own context.Context, task driver.Task) (driver.Answer, error) {
				if task.Turn == 1 {
					whole = task.Prompt
					return driver.Answer{Text: "{}", Session: "s"}, nil
				}
				stop()
				<-own.Done()
				return driver.Answer{}, own.Err()
			}}
			if _, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: first, Wait: noWait, Agents: agents}); tidegate.CodeOf(err) != tidegate.Cancelled {
				t.Fatalf("got %v", err)
			}
			var tasks []driver.Task
			var mu sync.Mutex
			out := drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
				if task.Kind != "perspectives" {
					return obedient(ctx, task)
				}
				mu.Lock()
				defer mu.Unlock()
				tasks = append(tasks, task)
				if session == "" && task.Session != "" {
					return driver.Answer{}, &driver.Error{Kind: driver.Unavailable, Message: "it is gone", SessionGone: true}
				}
				task.Prompt = whole
				return obedient(ctx, task)
			}})
			if out.Status != run.Completed {
				t.Fatalf("%s", shown(out))
			}
			last := tasks[len(tasks)-1]
			if last.Attempt != 1 || last.Turn != 2 || last.Session != session {
				t.Errorf("the repair was asked for as attempt %d, turn %d, session %q", last.Attempt, last.Turn, last.Session)
			}
			if complete := len(last.Prompt) > len(whole); complete != (session == "") {
				t.Errorf("the prompt of the repair has %d bytes, that of the task %d", len(last.Prompt), len(whole))
			}
		})
	}
}

// TestBothTurnsTakeWhatAnAttemptMayTake has an agent use up the time of its
// attempt with a bad answer.
func TestBothTurnsTakeWhatAnAttemptMayTake(t *testing.T) {
	t.Parallel()
	manifest, _ := newSmallRun(t, nil)
	var mu sync.Mutex
	now := time.Now()
	desk := run.Desk{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}
	spend := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	var limits []time.Duration
	out := drive(t, manifest, desk, &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind != "perspectives" {
			return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "stop here"}
		}
		limits = append(limits, task.Limits.Deadline)
		if len(limits) > 3 {
			return obedient(ctx, task)
		}
		spend([]time.Duration{5 * time.Minute, 14 * time.Minute, 20 * time.Minute}[len(limits)-1])
		return driver.Answer{Text: "{}", Session: "s"}, nil
	}})
	want := []time.Duration{20 * time.Minute, 15 * time.Minute, 20 * time.Minute, 20 * time.Minute}
	if len(limits) != 4 || limits[0] != want[0] || limits[1] != want[1] || limits[2] != want[2] || limits[3] != want[3] {
		t.Errorf("the turns had %v, want %v; %s", limits, want, shown(out))
	}
}

// TestWhatIsCharged has agents that report nothing: a quarter of the bytes is
// charged, at the price of their role, even for work that came to nothing.
func TestWhatIsCharged(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, map[string]float64{"tries": 2})
	var mu sync.Mutex
	in, calls := 0, 0
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Wait: noWait, Agents: map[string]engine.Agent{"": {Price: &config.Price{Input: 1e6, Output: 0}}},
		Pool: &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			in += (len(task.Prompt) + 3) / 4
			if calls++; calls == 1 {
				return driver.Answer{Text: "{"}, &driver.Error{Kind: driver.Died, Message: "it fell over"}
			}
			return driver.Answer{Text: "{}"}, nil
		}}})
	if err != nil || out.Status != run.Failed {
		t.Fatalf("%s, %v", shown(out), err)
	}
	spent := boardOf(t, desk, manifest).Spent()
	if calls != 2 || spent.Tokens != float64(in+1) || math.Abs(spent.CostUSD-float64(in)) > 1e-6 {
		t.Errorf("%+v, want %d tokens and %d USD after %d calls", spent, in+1, in, calls)
	}
}
