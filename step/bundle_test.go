package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/step"
)

// TestACapturedRunIsReplayed, and every change of it is found.
func TestACapturedRunIsReplayed(t *testing.T) {
	made := completed(t)
	dir := t.TempDir()
	capture := func(id string) (step.CaptureResult, error) {
		return step.Capture(t.Context(), pinned, dir, step.CaptureInput{ManifestPath: made.ManifestPath, OutputDir: dir, BundleID: id, Reason: "test"})
	}
	out, err := capture("one")
	if err != nil || out.RunID != "r1" || !out.NoWeb {
		t.Fatalf("%+v %v", out, err)
	}
	_, err = capture("one")
	wantCode(t, err, tidegate.AlreadyExistsConflict)
	_, err = capture("../one")
	wantCode(t, err, tidegate.PathTraversal)
	_, err = step.Capture(t.Context(), pinned, filepath.Dir(made.Root), step.CaptureInput{ManifestPath: made.ManifestPath, OutputDir: filepath.Join(made.Root, "wave-1"), BundleID: "x", Reason: "test"})
	wantCode(t, err, tidegate.PathNotAllowed)
	_, err = step.Capture(t.Context(), pinned, t.TempDir(), step.CaptureInput{ManifestPath: made.ManifestPath, OutputDir: dir, BundleID: "x", Reason: "test"})
	wantCode(t, err, tidegate.PathNotAllowed) // not in the home of runs
	_, err = step.Capture(artifact.WithRoots(t.Context(), dir, made.Root), pinned, t.TempDir(), step.CaptureInput{ManifestPath: made.ManifestPath, OutputDir: dir, BundleID: "in-a-root", Reason: "test"})
	wantCode(t, err, "")
	if err := os.RemoveAll(filepath.Join(dir, "in-a-root")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, out.BundleRoot)
	replayed, err := step.ReplayBundle(t.Context(), step.BundleReplayInput{BundleRoot: out.BundleRoot})
	if err != nil || !replayed.Passed() || replayed.Summary.Compared < 7 {
		t.Fatalf("%+v %v", replayed, err)
	}
	if after := tree(t, out.BundleRoot); len(after) != len(before) {
		t.Error("replay writes into the bundle")
	}
	if _, err := capture("two"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "two"), "synthesis/final-synthesis.md", draft("Another one."))
	put(t, filepath.Join(dir, "three"), "bundle.json", `{}`)
	got, err := step.Regress(t.Context(), step.RegressionInput{FixturesRoot: dir, BundleIDs: []string{"two", "one", "three", "one", " "}, Reason: "test"})
	if err != nil || got.Passed() || got.Summary != (step.RegressionSummary{Total: 3, Pass: 1, Fail: 1, Error: 1}) {
		t.Errorf("%+v %v", got, err)
	}
	_, err = step.Regress(t.Context(), step.RegressionInput{FixturesRoot: dir, BundleIDs: []string{" "}, Reason: "test"})
	wantCode(t, err, tidegate.InvalidArgs)

	audit, err := step.AuditQuality(t.Context(), dir, step.AuditInput{FixturesRoot: dir, OutputDir: filepath.Join(dir, "audit"), Reason: "test"})
	if err != nil || audit.BundlesScanned != 3 || audit.BundlesUsed != 2 || audit.OutputPath == nil {
		t.Fatalf("%+v %v", audit, err)
	}
	var codes []string
	for _, f := range audit.Findings {
		codes = append(codes, f.BundleID+" "+f.Code)
	}
	if got := strings.Join(codes, ", "); !strings.HasPrefix(got, "three BUNDLE_INVALID, ") || !strings.Contains(got, "two LOW_CITATION_UTILIZATION") || !strings.Contains(got, " UTILIZATION_TREND_DOWN") {
		t.Errorf("%s", got)
	}
	_, err = step.AuditQuality(t.Context(), dir, step.AuditInput{FixturesRoot: dir, MinBundles: 3, Reason: "test"})
	wantCode(t, err, tidegate.InvalidArgs)
}

// TestASeededRunKeepsNothingThatWasDecided: a snapshot brings its files and its
// stage, and nothing by which an agent could move on.
func TestASeededRunKeepsNothingThatWasDecided(t *testing.T) {
	made := completed(t)
	put(t, made.Root, "review/review-bundle.json", `{"decision":"PASS","synthesis_digest":"x","made_by":{"actor":"person"}}`)
	put(t, made.Root, "run-config/policy.json", `{"schema_version":"run_policy.v1","legacy_gates":true}`)
	home := t.TempDir()
	out, err := run.Seed(t.Context(), pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "again", Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t, out.Root)
	for _, name := range []string{"review/review-bundle.json", "evidence/archive.warc.gz", "evidence/index.json"} {
		if _, there := files[name]; there {
			t.Errorf("%s came with the snapshot", name)
		}
	}
	r := open(t, out.ManifestPath)
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
	_, err = run.Seed(t.Context(), pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "again", Reason: "test"})
	wantCode(t, err, tidegate.AlreadyExistsConflict)
	_, err = run.Seed(t.Context(), pinned, made.Root, run.SeedInput{FixtureDir: made.Root, RunID: "inside", Reason: "test"})
	wantCode(t, err, tidegate.PathNotAllowed)
	_, err = run.Seed(t.Context(), pinned, home, run.SeedInput{FixtureDir: t.TempDir(), RunID: "empty", Reason: "test"})
	wantCode(t, err, tidegate.MissingArtifact)

	_, err = run.Seed(t.Context(), pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "outside", RootOverride: t.TempDir(), Reason: "test"})
	wantCode(t, err, tidegate.PathNotAllowed)
	dry, err := run.SeedDryRun(t.Context(), pinned, home, run.SeedInput{FixtureDir: made.Root, RunID: "dry", Reason: "test"})
	if err != nil || strings.Join(dry.Copied.Roots, " ") != "citations wave-1" || open(t, dry.ManifestPath).Manifest().Sensitivity() != "no_web" {
		t.Errorf("%+v %v", dry, err)
	}
	if v, err := run.Verify(t.Context(), run.VerifyInput{ManifestPath: dry.ManifestPath}); err != nil || !v.Pass {
		t.Errorf("%+v %v", v.Findings, err)
	}
}

func TestFallbackChangesNoStatus(t *testing.T) {
	made := earlierRun(t, run.Review)
	in := step.FallbackInput{ManifestPath: made.ManifestPath, GatesPath: made.GatesPath, Reason: "see https://ada:secret@a.test/?token=x"}
	_, err := step.OfferFallback(t.Context(), pinned, in)
	wantCode(t, err, tidegate.InvalidState)
	put(t, made.Root, "synthesis/final-synthesis.md", draft("It has 12 cranes."))
	judged(t, made, "E")
	out, err := step.OfferFallback(t.Context(), pinned, in)
	if err != nil || out.FailedGateID != "E" || strings.Contains(out.Reason, "secret") || strings.Contains(out.Reason, "token=x") {
		t.Errorf("%+v %v", out, err)
	}
	if status := open(t, made.ManifestPath).Manifest().Status(); status != run.Created {
		t.Errorf("the run is %s", status)
	}
}
