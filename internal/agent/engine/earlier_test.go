package engine_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	answers "github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestARunBuildsOnAnother: the planner is offered that the sources of the earlier run
// disagree, researchers are shown its sentences, its pages are not fetched again, a sentence
// that stood and is dropped is listed, and the earlier run is as it was.
func TestARunBuildsOnAnother(t *testing.T) {
	full.Story(t)
	t.Parallel()
	manifest, desk := newRun(t, nil)
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: &crew{agent: priced(cheap + " [@figures] " + dear + " [@records]")}, Fetch: prices, Wait: noWait, Agents: agents})
	if err != nil || out.Status != run.Completed {
		t.Fatal(shown(out), err)
	}
	files := asking{t: t}.files
	before := files(filepath.Dir(manifest))
	earlier, from, _, err := answers.EarlierOf(t.Context(), desk, manifest, nil)
	if err != nil {
		t.Fatal(err)
	}
	made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs soon?", RunID: "next", Earlier: earlier, Asked: run.Asked{From: from}})
	next := filepath.Join(made.Root, run.ManifestFile)
	var mu sync.Mutex
	prompts, fetched := map[string]string{}, []string{}
	write := priced(cheap + " [@figures]")
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		mu.Lock()
		prompts[task.Kind] = task.Prompt
		mu.Unlock()
		return write(ctx, task)
	}}
	fetch := func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		mu.Lock()
		fetched = append(fetched, urls...)
		mu.Unlock()
		return prices(ctx, urls, keep)
	}
	if out, err = engine.Drive(t.Context(), next, engine.Options{Desk: desk, Pool: pool, Fetch: fetch, Wait: noWait, Agents: agents}); err != nil || out.Status != run.Completed {
		t.Fatal(shown(out), err)
	}
	if len(fetched) > 0 {
		t.Errorf("fetched again: %v", fetched)
	}
	if want := "- contradiction: 12.4 million euros or 15.1 million euros? "; !strings.Contains(prompts["perspectives"], want) {
		t.Errorf("the planner is not offered %q:\n%s", want, prompts["perspectives"])
	}
	for _, kind := range []string{"perspectives", "wave1", "synthesis"} {
		if want := "- " + dear + " (https://example.org/records)"; !strings.Contains(prompts[kind], want) {
			t.Errorf("%s is not shown %q:\n%s", kind, want, prompts[kind])
		}
	}
	reported := must.Get(reporting.ReadReport(t.Context(), runs.OpenAt(t, desk, next), false, "test"))(t)
	if since := reported.Report.Since; since == nil || since.RunID != "harbour" || since.Kept == 0 || !slices.Equal(since.Dropped, []string{dear}) {
		t.Errorf("since the earlier report: %+v", since)
	}
	if !maps.Equal(before, files(filepath.Dir(manifest))) {
		t.Error("the earlier run was changed")
	}
	verify(t, next)
}
