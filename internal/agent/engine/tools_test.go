package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// searching is a pool whose agents use tools, and check what others can see of
// that.
type searching struct {
	*crew
	t        *testing.T
	manifest string
	once     sync.Once
}

func (s *searching) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	s.once.Do(func() { // the planner, who works alone
		r := runs.Open(s.t, s.manifest)
		for _, tt := range []struct {
			e    driver.Event
			want string
		}{
			{driver.Event{Kind: driver.Message, Tool: "none"}, ""},
			{driver.Event{Kind: driver.ToolCall, Tool: driver.SearchCalls}, driver.SearchCalls},
			{driver.Event{Kind: driver.ToolCall, Tool: "a much longer name of a tool"}, "a much longer name of a tool"},
			{driver.Event{Kind: driver.ToolCall, Tool: "x"}, "x"},
			{driver.Event{Kind: driver.Message}, "x"},
		} {
			note(tt.e)
			if got := run.LastTools(r.Folder())[task.Job]; got != tt.want {
				s.t.Errorf("after %+v the last tool of %s is %q, want %q", tt.e, task.Job, got, tt.want)
			}
		}
	})
	return s.crew.Do(ctx, task, note)
}

// TestOthersSeeTheLastToolOfAnAgent reads it as a process that drives nothing
// would.
func TestOthersSeeTheLastToolOfAnAgent(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	r := runs.Open(t, manifest)
	rested := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "wave1.figures" {
			if tools := run.LastTools(r.Folder()); len(tools) != 0 {
				t.Errorf("the planner has answered, and still uses %v", tools)
			}
		}
		return obedient(ctx, task)
	}}
	drive(t, manifest, desk, &searching{crew: rested, t: t, manifest: manifest})
	if tools := run.LastTools(r.Folder()); len(tools) != 0 {
		t.Errorf("nobody drives the run, and agents use %v", tools)
	}
}
