package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// TestCopiesHaveTasksOfTheirOwn asks for the first task of a run as the home of each copy
// would: no home can stop what another one's agents do.
func TestCopiesHaveTasksOfTheirOwn(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	idOf := func(copied string) (id string) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		pool := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
			id = task.ID
			stop()
			return driver.Answer{}, errors.New("enough")
		}}
		_, _ = engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Agents: agents, Fetch: new(web).fetch,
			Copy: func(*artifact.Folder) (string, error) { return copied, nil }})
		return id
	}
	one, again, other := idOf("one"), idOf("one"), idOf("other")
	if one == "" || one != again || one == other {
		t.Errorf("%q, %q and %q", one, again, other)
	}
}
