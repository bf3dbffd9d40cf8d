package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// answerText meets the contracts of withJobs.
const answerText = "## Findings\n\nTugs are electric.\n\n## Gaps\n\nNone.\n\n## Sources\n\n- Port https://example.org/port\n"

// withJobs makes a run whose first wave has the given number of jobs.
func withJobs(t testing.TB, desk run.Desk, dir string, jobs int) (manifest string) {
	t.Helper()
	limit := int64(jobs)
	made := must.Get(run.Create(t.Context(), desk, dir, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour", Limits: &run.Limits{MaxWave1Agents: &limit}}))(t)
	list := []tidegate.Details{}
	for i := range jobs {
		list = append(list, tidegate.Pairs("id", fmt.Sprintf("p%04d", i), "title", "T", "track", "standard", "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", 300, "max_sources", 10, "tool_budget", tidegate.Pairs(), "must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	doc := codec.Of(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "harbour", "created_at", "2026-02-14T12:00:00.000Z", "perspectives", list))
	must.Get(step.WritePerspectives(t.Context(), desk, step.PerspectivesInput{PerspectivesPath: filepath.Join(made.Root, "perspectives.json"), Value: doc, Reason: "test"}))(t)
	return filepath.Join(made.Root, run.ManifestFile)
}

// attemptsOf counts the attempts at the jobs of withJobs.
func attemptsOf(t *testing.T, manifest string, jobs int) (all int) {
	t.Helper()
	r := runs.Open(t, manifest)
	for i := range jobs {
		has := must.Get(r.Jobs().Of(run.WaveJob(run.Wave1, fmt.Sprintf("p%04d", i))))(t)
		all += len(has.Attempts)
	}
	return all
}

func TestNoMoreAgentsWorkAtOnceThanAllowed(t *testing.T) {
	t.Parallel()
	const jobs, most = 60, 3
	desk := run.Desk{Now: time.Now}
	manifest := withJobs(t, desk, t.TempDir(), jobs)
	var working, highest atomic.Int32
	pool := &crew{agent: func(context.Context, driver.Task) (driver.Answer, error) {
		n := working.Add(1)
		defer working.Add(-1)
		for {
			if before := highest.Load(); n <= before || highest.CompareAndSwap(before, n) {
				return driver.Answer{Text: answerText}, nil
			}
		}
	}}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Parallel: most, Wait: noWait})
	if err != nil || out.Stage != run.Citations {
		t.Fatalf("%s, %v", shown(out), err)
	}
	if n := highest.Load(); n > most {
		t.Errorf("%d agents worked at once, %d are allowed", n, most)
	}
	if n := attemptsOf(t, manifest, jobs); n != jobs {
		t.Errorf("%d attempts at %d jobs", n, jobs)
	}
}

// TestAgentsThatTakeTheirTimeAreLeasedNothingAhead stops a home once all its
// agents work: nothing but their jobs was leased.
func TestAgentsThatTakeTheirTimeAreLeasedNothingAhead(t *testing.T) {
	t.Parallel()
	const jobs, most = 20, 3
	desk := run.Desk{Now: time.Now}
	manifest := withJobs(t, desk, t.TempDir(), jobs)
	stopAfter(t, manifest, desk, most)
	if n := attemptsOf(t, manifest, jobs); n != most {
		t.Errorf("%d jobs were leased for %d agents that had not answered", n, most)
	}
}

// stopAfter drives a run until the given number of agents work; they do not answer.
func stopAfter(t *testing.T, manifest string, desk run.Desk, agents int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working atomic.Int32
	pool := &crew{agent: func(ctx context.Context, _ driver.Task) (driver.Answer, error) {
		if working.Add(1) == int32(agents) {
			stop()
		}
		<-ctx.Done()
		return driver.Answer{}, context.Cause(ctx)
	}}
	_, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Pool: pool, Parallel: agents, Wait: noWait})
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Fatal(err)
	}
}

// TestALeaseThatWaitedForItsAgentLasts has two attempts to go on with and one agent
// at a time, whose first answer takes almost as long as a lease lasts. Both together
// take longer.
func TestALeaseThatWaitedForItsAgentLasts(t *testing.T) {
	t.Parallel()
	const jobs, most = 2, 2
	var mu sync.Mutex
	now := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	desk := run.Desk{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}
	manifest := withJobs(t, desk, t.TempDir(), jobs)
	stopAfter(t, manifest, desk, most)
	r := runs.Open(t, manifest)
	takes := []time.Duration{45 * time.Minute, 10 * time.Minute}
	pool := &crew{agent: func(ctx context.Context, _ driver.Task) (driver.Answer, error) {
		if len(takes) == 1 {
			for e := range r.Tail(ctx, 1) { // the first answer has its own lease
				if e.Event == run.EventVerdict {
					break
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		now, takes = now.Add(takes[0]), takes[1:]
		return driver.Answer{Text: answerText}, nil
	}}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Parallel: 1, Wait: noWait})
	if err != nil || out.Stage != run.Citations {
		t.Fatalf("%s, %v", shown(out), err)
	}
	if n := attemptsOf(t, manifest, jobs); n != jobs {
		t.Errorf("%d attempts at %d jobs", n, jobs)
	}
	for i := range jobs {
		if n := pool.times(run.WaveJob(run.Wave1, fmt.Sprintf("p%04d", i))); n != 1 {
			t.Errorf("agent %d was asked %d times", i, n)
		}
	}
}
