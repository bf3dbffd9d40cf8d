package step_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestASeededRunKeepsNothingThatWasDecided: a snapshot brings its files and its
// stage, and nothing that would let an agent move the run on.
func TestASeededRunKeepsNothingThatWasDecided(t *testing.T) {
	made := completed(t)
	runs.Put(t, made.Root, "review/review-bundle.json", `{"decision":"PASS","synthesis_digest":"x","made_by":{"actor":"person"}}`)
	runs.Put(t, made.Root, "run-config/policy.json", `{"schema_version":"run_policy.v1","legacy_gates":true}`)
	home := t.TempDir()
	out, err := run.Seed(t.Context(), runs.Pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "again", Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	files := runs.Tree(t, out.Root)
	for _, name := range []string{"review/review-bundle.json", "evidence/archive.warc.gz", "evidence/index.json"} {
		if _, there := files[name]; there {
			t.Errorf("%s came with the snapshot", name)
		}
	}
	r := runs.Open(t, out.ManifestPath)
	if r.Legacy() || r.ID() != "again" || r.Manifest().Stage() != run.Finalize || r.Manifest().Status() != run.Running {
		t.Errorf("%v %s %s %s", r.Legacy(), r.ID(), r.Manifest().Stage(), r.Manifest().Status())
	}
	gates, err := step.ListGates(t.Context(), out.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gates.Gates {
		if g.Status != "not_run" {
			t.Errorf("gate %s is %s", g.GateID, g.Status)
		}
	}
	if v, err := run.Verify(t.Context(), run.VerifyInput{ManifestPath: out.ManifestPath}); err != nil || !v.Pass {
		t.Errorf("%+v %v", v.Findings, err)
	}
	_, err = run.Seed(t.Context(), runs.Pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "again", Reason: "test"})
	runs.WantCode(t, err, tidegate.AlreadyExistsConflict)
	_, err = run.Seed(t.Context(), runs.Pinned, made.Root, run.SeedInput{FixtureDir: made.Root, RunID: "inside", Reason: "test"})
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	_, err = run.Seed(t.Context(), runs.Pinned, home, run.SeedInput{FixtureDir: t.TempDir(), RunID: "empty", Reason: "test"})
	runs.WantCode(t, err, tidegate.MissingArtifact)

	_, err = run.Seed(t.Context(), runs.Pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "outside", RootOverride: t.TempDir(), Reason: "test"})
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	dry, err := run.SeedDryRun(t.Context(), runs.Pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "dry", Reason: "test"})
	if err != nil || strings.Join(dry.Copied.Roots, " ") != "citations wave-1" || runs.Open(t, dry.ManifestPath).Manifest().Sensitivity() != "no_web" {
		t.Errorf("%+v %v", dry, err)
	}
	if v, err := run.Verify(t.Context(), run.VerifyInput{ManifestPath: dry.ManifestPath}); err != nil || !v.Pass {
		t.Errorf("%+v %v", v.Findings, err)
	}
}

func TestFallbackChangesNoStatus(t *testing.T) {
	made := earlierRun(t, run.Review)
	in := step.FallbackInput{ManifestPath: made.ManifestPath, GatesPath: made.GatesPath, Reason: "see https://ada:secret@a.test/?token=x"}
	_, err := step.OfferFallback(t.Context(), runs.Pinned, in)
	runs.WantCode(t, err, tidegate.InvalidState)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	judged(t, made, "E")
	out, err := step.OfferFallback(t.Context(), runs.Pinned, in)
	if err != nil || out.FailedGateID != "E" || strings.Contains(out.Reason, "secret") || strings.Contains(out.Reason, "token=x") {
		t.Errorf("%+v %v", out, err)
	}
	if status := runs.Open(t, made.ManifestPath).Manifest().Status(); status != run.Created {
		t.Errorf("the run is %s", status)
	}
}
