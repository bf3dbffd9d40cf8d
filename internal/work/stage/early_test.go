package stage_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// pack builds the summary pack from a file that was handed in.
func (y *toy) pack() error {
	y.t.Helper()
	fixtures := y.t.TempDir()
	runs.Put(y.t, fixtures, "p1.md", "Tides turn.\n")
	_, err := step.BuildPack(y.t.Context(), runs.Pinned, step.PackInput{ManifestPath: y.files.ManifestPath, Mode: step.PackGiven, FixtureSummariesDir: fixtures, Reason: "test"})
	return err
}

func (y *toy) has(name string) bool { _, ok := y.tree()[name]; return ok }

// The specified tools know no stages.
func TestWhatIsBuiltEarlyMovesNoRun(t *testing.T) {
	for _, early := range []run.Stage{run.Init, run.Wave1, run.Citations} {
		t.Run("a pack in stage "+string(early), func(t *testing.T) {
			y := newToy(t, run.InitInput{}).to(early)
			y.put("perspectives.json", perspectives)
			y.put("citations/citations.jsonl", "")
			if err := y.pack(); err != nil || !y.has("summaries/summary-pack.json") || !y.has("summaries/p1.md") {
				t.Fatalf("no pack: %v", err)
			}
			y.gate("D", "pass", "summaries")
			y.to(run.Summaries)
			_, err := y.advance(run.Synthesis)
			if codes := codesOf(t, err); codes != "GATE_BLOCKED" {
				t.Fatalf("the pass of stage %s: %s", early, codes)
			}
			y.gate("D", "pass", "summaries") // judged in its own stage, the same files count
			y.mustAdvance(run.Synthesis)
		})
	}
	for _, early := range []run.Stage{run.Init, run.Wave1} {
		t.Run("a pivot in stage "+string(early), func(t *testing.T) {
			y := newToy(t, run.InitInput{}).to(early)
			y.put("perspectives.json", perspectives)
			y.put("wave-1/p1.md", withoutGap)
			y.decide()
			if !y.has("pivot.json") {
				t.Fatal("no decision was written")
			}
			y.to(run.Pivot)
			_, err := y.advance("")
			if err == nil || !strings.Contains(err.Error(), "it was made in stage "+string(early)) {
				t.Fatalf("the decision of stage %s: %v", early, err)
			}
			y.decide()
			y.mustAdvance(run.Citations)
		})
	}
}

func TestWhatIsBuiltLateOrBesideJobsIsNotKept(t *testing.T) {
	refused := func(t *testing.T, y *toy, reason string) {
		t.Helper()
		before := y.tree()
		if err := y.pack(); tidegate.CodeOf(err) != tidegate.WriteFailed || !strings.Contains(err.Error(), reason) {
			t.Errorf("the pack: %v", err)
		}
		if !maps.Equal(before, y.tree()) {
			t.Error("something was written")
		}
	}
	undecided := func(t *testing.T, y *toy) {
		t.Helper()
		before := y.tree()
		in := must.Get(step.PivotOf(t.Context(), runs.Pinned, y.files.ManifestPath))(t)
		if d, err := step.DecidePivot(t.Context(), runs.Pinned, in); err != nil || d.PivotPath != nil {
			t.Errorf("the pivot: %v, %v", d.PivotPath, err)
		}
		if !maps.Equal(before, y.tree()) {
			t.Error("something was written")
		}
	}
	t.Run("late", func(t *testing.T) {
		y := newToy(t, run.InitInput{}).to(run.Citations)
		undecided(t, y)
		refused(t, y.to(run.Synthesis), "stage synthesis")
	})
	t.Run("jobs", func(t *testing.T) {
		y := newToy(t, run.InitInput{}).to(run.Wave1)
		y.put("wave-1/p1.md", withoutGap)
		y.put(filepath.Join(run.JobsDir, "wave1.p1", "001", "prompt.md"), "Say it.\n")
		undecided(t, y)
		y.put("citations/citations.jsonl", "")
		refused(t, y, "jobs drive the run")
		y.to(run.Pivot).decide()
		if !y.has("pivot.json") {
			t.Error("no decision is written in stage pivot")
		}
	})
}
