package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestEveryTurnCountsAgainstTheToolBudget has an agent whose contract allows 12
// searches. What it called before an answer was refused counts in the repair, an
// attempt that has called too much is not repaired, and the sidecar has all calls
// of the attempt that was accepted.
func TestEveryTurnCountsAgainstTheToolBudget(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	turns := map[string]struct {
		searches int
		bad      bool
	}{
		"1.1": {8, true}, "1.2": {5, false}, // one too many
		"2.1": {13, false},                  // too many at once
		"3.1": {8, true}, "3.2": {4, false}, // all of them
	}
	var asked []string
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		answer, err := obedient(ctx, task)
		if task.Job != "wave1.figures" {
			return answer, err
		}
		name := fmt.Sprintf("%d.%d", task.Attempt, task.Turn)
		asked = append(asked, fmt.Sprintf("%s with %d searches left", name, task.Limits.ToolCalls[driver.SearchCalls]))
		turn := turns[name]
		if task.Turn == 2 { // the prompt of a repair does not have the task
			answer.Text = "## Findings\n\n## Gaps\n\n## Sources\n\n- Port statistics https://example.org/port\n"
		}
		if turn.bad {
			answer.Text = "## Findings\n"
		}
		answer.Session, answer.ToolCalls = "s", map[string]int{driver.SearchCalls: turn.searches, "Read": 1}
		return answer, nil
	}}
	must.Get(engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: map[string]engine.Agent{"": {Driver: "claude"}}}))(t)
	if diff := cmp.Diff([]string{"1.1 with 12 searches left", "1.2 with 4 searches left", "2.1 with 12 searches left", "3.1 with 12 searches left", "3.2 with 4 searches left"}, asked); diff != "" {
		t.Errorf("the agent is asked otherwise (-want +got)\n%s", diff)
	}
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	defer b.Close()
	shown := must.Get(b.Show("wave1.figures"))(t)
	for i, want := range []struct {
		outcome string
		faults  string // of the last answer
	}{{job.OutcomeRefused, "TOOL_BUDGET_EXCEEDED"}, {job.OutcomeRefused, "TOOL_BUDGET_EXCEEDED"}, {job.OutcomeAccepted, ""}} {
		a := shown.Attempts[i]
		var faults []string
		for _, f := range a.Submissions[len(a.Submissions)-1].Faults {
			faults = append(faults, f.Code)
		}
		if a.Outcome != want.outcome || strings.Join(faults, ",") != want.faults {
			t.Errorf("attempt %d ended as %s with %v, want %+v", i+1, a.Outcome, faults, want)
		}
	}
	r := runs.Open(t, manifest)
	sidecar, err := os.ReadFile(filepath.Join(filepath.Dir(manifest), run.Sidecar(r.WaveDir(run.Wave1)+"/figures.md")))
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(sidecar)), ""), `"tool_usage":{"Read":2,"search_calls":12}`) {
		t.Errorf("the sidecar is %s, %v", sidecar, err)
	}
	verify(t, manifest)
}

// TestAPerspectiveTakesToolsAway hands its forbidden tools to the driver of its
// jobs, and of no other.
func TestAPerspectiveTakesToolsAway(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		answer, err := obedient(ctx, task)
		switch task.Job {
		case job.PerspectivesID:
			answer.Text = strings.Replace(answer.Text, `"prompt_contract"`, `"tool_policy": {"forbidden": ["search_calls", "gossip"]}, "prompt_contract"`, 1)
		case "wave1.figures", "wave2.gap_figures_1":
			if diff := cmp.Diff([]string{"search_calls", "gossip"}, task.Tools.Forbidden); diff != "" {
				t.Errorf("the tools that are taken away differ (-want +got)\n%s", diff)
			}
		default:
			if task.Tools.Forbidden != nil {
				t.Errorf("%s has no %v", task.Job, task.Tools.Forbidden)
			}
		}
		return answer, err
	}}
	drive(t, manifest, desk, pool)
	if pool.times("wave1.figures") != 1 || pool.times("wave1.doubts") != 1 {
		t.Error("the perspectives were not taken")
	}
}
