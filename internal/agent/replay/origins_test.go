package replay_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/work/run"
)

// finder is a pool whose client finds the source that it cites only after its first answer
// was refused for it. In the first task its home dies, once it has the first answer.
type finder struct {
	engine.Pool
	dies func()
}

func (f *finder) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	note(driver.Event{Kind: driver.Other, Raw: `{"type":"system"}`})
	if task.Turn == 2 {
		if f.dies != nil {
			f.dies()
			return driver.Answer{}, ctx.Err()
		}
		note(driver.Event{Kind: driver.Other, Raw: `{"type":"user","message":{"content":[{"type":"tool_result","content":"See https://example.org/port."}]}}`})
	}
	return f.Pool.Do(ctx, task, note)
}

// TestOriginsAreReplayed has answers refused by what the events of clients had shown until
// then, and accepted by what they showed later, with a home that dies in between. What the
// client of one agent finds stands in the log before the verdict on another's answer, where
// all work at once: the short form has no other.
func TestOriginsAreReplayed(t *testing.T) {
	t.Parallel()
	for name, parallel := range full.Some(map[string]int{"one agent at a time": 1, "all agents at once": 0}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replayFound(t, parallel)
		})
	}
}

func replayFound(t *testing.T, parallel int) {
	var ticks atomic.Int64
	desk := run.Desk{Pinned: true, Now: func() time.Time {
		return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC).Add(time.Duration(ticks.Add(1)) * time.Millisecond)
	}}
	made := must.Get(run.Create(t.Context(), desk, t.TempDir(), run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "found", Asked: run.Asked{Origins: run.OriginsRequired}}))(t)
	ctx, dies := context.WithCancel(t.Context())
	options := played.Options(desk, played.Writer(nil))
	pool := &finder{options.Pool, dies}
	options.Pool, options.Parallel = pool, parallel
	if _, err := engine.Drive(ctx, made.ManifestPath, options); err == nil {
		t.Fatal("the home does not die")
	}
	pool.dies = nil
	out, err := engine.Drive(t.Context(), made.ManifestPath, options)
	if err != nil || out.Status != run.Completed {
		t.Fatalf("%s: %s, %v", out.Status, out.Reason, err)
	}
	r := open(t, made.Root)
	log := must.Read(t, r.Path(run.LogFile))
	if n := strings.Count(log, `"faults":["ORIGIN_UNKNOWN"]`); n == 0 {
		t.Error("no answer was refused")
	}
	result, err := replay.Run(t.Context(), r, "")
	if err != nil || !result.Pass {
		t.Errorf("%s %v", differences(result), err)
	}
}
