package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// farAway is a pool that shows an event while its agent works, and hands over all
// events with the answer, as one on many machines does.
type farAway struct {
	crew
	seen func(task driver.Task) // while the agent works
}

func (f *farAway) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	note(driver.Event{Kind: driver.ToolCall, Tool: "search_calls", Passing: true})
	f.seen(task)
	note(driver.Event{Kind: driver.Started})
	note(driver.Event{Kind: driver.ToolCall, Tool: "search_calls"})
	return f.crew.Do(ctx, task, note)
}

// TestPassingEventsAreShownAndNotKept checks that what a far agent does is seen while
// it does it, and stands once in the record.
func TestPassingEventsAreShownAndNotKept(t *testing.T) {
	manifest, desk := newSmallRun(t, map[string]float64{"max_parallel": 1})
	r := runs.Open(t, manifest)
	seen := false
	pool := &farAway{crew: crew{agent: obedient}, seen: func(task driver.Task) {
		seen = seen || run.LastTools(r.Folder())[task.Job] == "search_calls"
	}}
	if out := drive(t, manifest, desk, pool); out.WaitingFor != engine.ForNothing {
		t.Fatal(shown(out))
	}
	if !seen {
		t.Error("nobody saw what the agents did")
	}
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(manifest), "jobs", "*", "*", "events.jsonl"))
	if err != nil || len(kept) == 0 {
		t.Fatal(kept, err)
	}
	for _, file := range kept {
		text := must.Get(os.ReadFile(file))(t)
		if n := strings.Count(string(text), "search_calls"); n != 1 {
			t.Errorf("%s names the call %d times", file, n)
		}
	}
}
