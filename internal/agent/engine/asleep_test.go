package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
)

// farCrew is a crew whose agents may say that they wait.
type farCrew struct {
	crew
	before func(task driver.Task, note func(driver.Event))
}

func (c *farCrew) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	c.before(task, note)
	return c.crew.Do(ctx, task, note)
}

// TestTimeInWhichNobodyWorksIsNotCharged lets two hours go by while an agent has a job: the
// home was asleep, or no machine had begun the task. Neither uses up the run's minutes, in
// the eyes of the home and of gate F, nor the lease. An agent that works for two hours
// does.
func TestTimeInWhichNobodyWorksIsNotCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ asleep, waiting, charged bool }{
		"asleep":  {asleep: true},
		"waiting": {waiting: true},
		"at work": {charged: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, map[string]float64{"max_minutes": 30})
			var later, slept atomic.Int64
			desk.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
			pool := &farCrew{crew: crew{agent: obedient}, before: func(task driver.Task, note func(driver.Event)) {
				if task.Job != "wave1.doubts" {
					return
				}
				if c.waiting {
					note(driver.Event{Kind: driver.Waiting, Passing: true})
				}
				if c.asleep {
					slept.Store(int64(2 * time.Hour))
				}
				later.Store(int64(2 * time.Hour))
				if c.waiting {
					note(driver.Event{Kind: driver.Started, Passing: true})
				}
			}}
			out := must.Get(engine.Drive(t.Context(), manifest, engine.WithWall(
				engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: agents, Parallel: 1},
				func() time.Time { return time.Now().Round(0).Add(time.Duration(slept.Load())) })))(t)
			if completed := out.Status == run.Completed; completed == c.charged {
				t.Fatalf("the run is %s: %s", out.Status, out.Reason)
			}
			b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
			defer b.Close()
			if minutes := b.Spent().Minutes; (minutes > 40) != c.charged {
				t.Errorf("%v minutes are charged", minutes)
			}
			if c.charged {
				return
			}
			for _, j := range b.Jobs() {
				if j.Attempt != 1 {
					t.Errorf("%s took %d attempts", j.ID, j.Attempt)
				}
			}
			if found, err := gates.Judge(t.Context(), b.Run(), "F"); err != nil || found.Status() != "pass" {
				t.Errorf("gate F: %+v, %v", found, err)
			}
			verify(t, manifest)
		})
	}
}
