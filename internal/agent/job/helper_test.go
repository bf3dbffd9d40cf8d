package job_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newRun makes a run, and returns the path of its manifest and its clock.
func newRun(t *testing.T, limits *run.Limits) (string, *clock, run.Desk) {
	t.Helper()
	c := &clock{now: time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)}
	desk := run.Desk{Now: c.Now}
	made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour", Limits: limits})
	return filepath.Join(made.Root, run.ManifestFile), c, desk
}

func contract(id string) tidegate.Details {
	return tidegate.Pairs("id", id, "title", "About "+id, "track", "standard", "agent_type", "researcher",
		"prompt_contract", tidegate.Pairs("max_words", 300, "max_sources", 3, "tool_budget", tidegate.Pairs("search_calls", 5),
			"must_include_sections", []string{"Findings", "Gaps", "Sources"}))
}

func perspectives(ids ...string) *codec.Value {
	list := []tidegate.Details{}
	for _, id := range ids {
		list = append(list, contract(id))
	}
	return codec.Of(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "harbour", "created_at", "2026-02-14T12:00:00.000Z", "perspectives", list))
}

// inWave1 brings a run to its first wave with these perspectives.
func inWave1(t *testing.T, ids ...string) (string, *clock, run.Desk) {
	t.Helper()
	limit := int64(max(len(ids), 6))
	manifest, set, desk := newRun(t, &run.Limits{MaxWave1Agents: &limit})
	begin(t, manifest, desk, perspectives(ids...))
	return manifest, set, desk
}

func open(t *testing.T, desk run.Desk, manifest string) *job.Board {
	t.Helper()
	b := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
	t.Cleanup(b.Close)
	return b
}

func lease(t *testing.T, b *job.Board, id string) *job.Assignment {
	t.Helper()
	a := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "tester", JobID: id}))(t)
	return a
}

func submit(ctx context.Context, b *job.Board, token, text string) (job.Verdict, error) {
	return b.Submit(ctx, job.SubmitInput{Token: token, Answer: []byte(text)})
}

const good = "## Findings\n\nTugs are electric.\n\n## Gaps\n\n- (P2) Costs.\n\n## Sources\n\n- Port https://example.org/port\n"

// read reads a file of a run.
func read(t *testing.T, manifest, name string) string {
	t.Helper()
	return must.Read(t, filepath.Join(filepath.Dir(manifest), name))
}
