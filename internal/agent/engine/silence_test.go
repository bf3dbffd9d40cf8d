package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
)

// TestRoleSaysHowLongItsAgentMayBeSilent: the run's own limit is for those that have
// words, and the limit of bytes is only the role's.
func TestRoleSaysHowLongItsAgentMayBeSilent(t *testing.T) {
	t.Parallel()
	for idle, want := range map[float64]driver.Limits{
		0:  {Idle: 5 * time.Minute, Step: 10 * time.Minute},
		12: {Idle: 12 * time.Minute, Silence: 12 * time.Minute, Step: 24 * time.Minute},
	} {
		manifest, desk := newRun(t, nil)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var got driver.Limits
		pool := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
			got = task.Limits
			stop()
			return driver.Answer{}, errors.New("enough")
		}}
		_, _ = engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Agents: map[string]engine.Agent{"planner": {Driver: "exec:x", Idle: idle}}})
		if got.Idle != want.Idle || got.Silence != want.Silence || got.Step != want.Step {
			t.Errorf("idle_minutes %v: %+v", idle, got)
		}
	}
}
