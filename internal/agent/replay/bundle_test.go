package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestACapturedRunIsReplayed, and every change of it is found.
func TestACapturedRunIsReplayed(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	source := golden(t, home, "no-second-wave")
	if err := os.Remove(filepath.Join(source, "bundle.json")); err != nil {
		t.Fatal(err)
	}
	capture := func(home, output, id string) (replay.CaptureResult, error) {
		return replay.Capture(t.Context(), pinned, home, replay.CaptureInput{ManifestPath: filepath.Join(source, run.ManifestFile), OutputDir: output, BundleID: id, Reason: "test"})
	}
	out, err := capture(dir, dir, "one")
	if err != nil || out.RunID != "no-second-wave" || !out.NoWeb || out.SchemaVersion != replay.BundleVersion {
		t.Fatalf("%+v %v", out, err)
	}
	bundle := runs.Parse(t, forger{t, out.BundleRoot}.read("bundle.json"))
	for _, key := range []string{"schema_version", "bundle_id", "run_id", "created_at", "no_web", "included_paths", "sha256", "inputs_digest"} {
		if bundle.Get(key) == nil {
			t.Errorf("bundle.json lacks %s", key)
		}
	}
	_, err = capture(dir, dir, "one")
	runs.WantCode(t, err, tidegate.AlreadyExistsConflict)
	_, err = capture(dir, dir, "../one")
	runs.WantCode(t, err, tidegate.PathTraversal)
	_, err = capture(home, filepath.Join(source, "wave-1"), "x")
	runs.WantCode(t, err, tidegate.PathNotAllowed) // inside a run
	_, err = capture(t.TempDir(), dir, "x")
	runs.WantCode(t, err, tidegate.PathNotAllowed) // not in the home of runs
	if _, err := replay.Capture(artifact.WithRoots(t.Context(), dir, source), pinned, t.TempDir(),
		replay.CaptureInput{ManifestPath: filepath.Join(source, run.ManifestFile), OutputDir: dir, BundleID: "in-a-root", Reason: "test"}); err != nil {
		t.Error(err)
	}

	before := filesOf(t, out.BundleRoot)
	replayed, err := replay.ReplayBundle(t.Context(), "", replay.BundleReplayInput{BundleRoot: out.BundleRoot})
	if err != nil || !replayed.Passed() || replayed.Status != "pass" || len(replayed.Replay.Steps) < 50 || replayed.Summary.StatusChecks != 2 || replayed.Summary.StatusPassed != 2 {
		t.Fatalf("%s %+v %v", differences(replayed.Replay), replayed.Summary, err)
	}
	if after := filesOf(t, out.BundleRoot); len(after) != len(before) {
		t.Error("replay writes into the bundle")
	}
	if _, err := capture(dir, dir, "two"); err != nil {
		t.Fatal(err)
	}
	runs.Put(t, filepath.Join(dir, "two"), "synthesis/final-synthesis.md", "another one")
	runs.Put(t, filepath.Join(dir, "three"), "bundle.json", `{}`)
	got, err := replay.Regress(t.Context(), "", replay.RegressionInput{FixturesRoot: dir, BundleIDs: []string{"two", "one", "three", "one", " "}, Reason: "test"})
	if err != nil || got.Passed() || got.Summary != (replay.RegressionSummary{Total: 3, Pass: 1, Fail: 1, Error: 1}) {
		t.Errorf("%+v %v", got, err)
	}
	for _, o := range got.Outcomes {
		if (o.Error != nil) != (o.Status == "error") || o.OK != (o.Error == nil) || (o.Problem == "") != (o.Status == "pass") {
			t.Errorf("%+v", o)
		}
	}
	_, err = replay.Regress(t.Context(), "", replay.RegressionInput{FixturesRoot: dir, BundleIDs: []string{" "}, Reason: "test"})
	runs.WantCode(t, err, tidegate.InvalidArgs)
}

// earlierBundle is a bundle of the earlier system: its nine files, made by hand from
// their shapes.
func earlierBundle(t *testing.T, root, id, synthesis string) {
	t.Helper()
	runs.Put(t, root, "manifest.json", fmt.Sprintf(`{"schema_version":"manifest.v1","run_id":"dr_1","created_at":"2026-02-14T12:00:00.000Z","updated_at":"2026-02-14T12:00:00.000Z","revision":3,
"query":{"text":"Why?","constraints":{},"sensitivity":"normal"},"mode":"standard","status":"completed",
"stage":{"current":"finalize","started_at":"2026-02-14T12:00:00.000Z","history":[]},
"limits":{"max_wave1_agents":6,"max_wave2_agents":6,"max_summary_kb":5,"max_total_summary_kb":60,"max_review_iterations":4},
"agents":{"policy":"existing-runtime-only"},"artifacts":{"root":"/gone/%s","paths":{}},"metrics":{},"failures":[]}`, id))
	gates := `{"schema_version":"gates.v1","run_id":"dr_1","revision":2,"updated_at":"2026-02-14T12:00:00.000Z","inputs_digest":"sha256:x","gates":{`
	for i, g := range []string{"A", "B", "C", "D", "E", "F"} {
		if i > 0 {
			gates += ","
		}
		status, checked, class := "not_run", "null", "hard"
		if g == "E" {
			status, checked = "pass", `"2026-02-14T12:00:00.000Z"`
		}
		gates += fmt.Sprintf(`%q:{"id":%q,"name":"n","class":%q,"status":%q,"checked_at":%s,"metrics":{},"artifacts":[],"warnings":[],"notes":""}`, g, g, class, status, checked)
	}
	runs.Put(t, root, "gates.json", gates+"}}\n")
	runs.Put(t, root, "citations/citations.jsonl", `{"schema_version":"citation.v1","cid":"cid_a","normalized_url":"https://a.test/","url":"https://a.test/","status":"valid"}`+"\n")
	runs.Put(t, root, "synthesis/final-synthesis.md", synthesis)
	runs.Put(t, root, "reports/gate-e-numeric-claims.json", `{
  "findings": [],
  "metrics": {
    "uncited_numeric_claims": 0
  },
  "schema_version": "gate_e.numeric_claims_report.v1"
}
`)
	runs.Put(t, root, "reports/gate-e-sections-present.json", `{
  "metrics": {
    "report_sections_present": 100
  },
  "missing_headings": [],
  "present_headings": [
    "## Caveats",
    "## Evidence",
    "## Key Findings",
    "## Summary"
  ],
  "required_headings": [
    "## Summary",
    "## Key Findings",
    "## Evidence",
    "## Caveats"
  ],
  "schema_version": "gate_e.sections_present_report.v1"
}
`)
	runs.Put(t, root, "reports/gate-e-citation-utilization.json", `{
  "cids": {
    "used_cids": [
      "cid_a"
    ],
    "validated_cids": [
      "cid_a"
    ]
  },
  "metrics": {
    "citation_utilization_rate": 1,
    "duplicate_citation_rate": 0,
    "total_cid_mentions": 1,
    "used_cids_count": 1,
    "validated_cids_count": 1
  },
  "schema_version": "gate_e.citation_utilization_report.v1"
}
`)
	runs.Put(t, root, "reports/gate-e-status.json", `{
  "hard_metrics": {
    "report_sections_present": 100,
    "uncited_numeric_claims": 0
  },
  "schema_version": "gate_e.status_report.v1",
  "soft_metrics": {
    "citation_utilization_rate": 1,
    "duplicate_citation_rate": 0
  },
  "status": "pass",
  "warnings": []
}
`)
	var names, digests []string
	for _, name := range filesOf(t, root) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%q", name))
		digests = append(digests, fmt.Sprintf("%q:%q", name, codec.DigestBytes(data)))
	}
	runs.Put(t, root, "bundle.json", fmt.Sprintf(`{"schema_version":"fixture_bundle.v1","bundle_id":%q,"run_id":"dr_1","created_at":"2026-02-14T12:00:00.000Z","no_web":true,"included_paths":["bundle.json",%s],"sha256":{%s}}`,
		id, strings.Join(names, ","), strings.Join(digests, ",")))
}

const cleanSynthesis = "## Summary\n\nIt is so.\n\n## Key Findings\n\nThere are 12 of them [@cid_a].\n\n## Evidence\n\nText.\n\n## Caveats\n\nNone.\n"

// TestABundleOfTheEarlierSystemIsReplayed: it has no log, so it is judged by its four
// reports, byte by byte, and by the status of gate E.
func TestABundleOfTheEarlierSystemIsReplayed(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "b1")
	earlierBundle(t, root, "b1", cleanSynthesis)
	out, err := replay.ReplayBundle(t.Context(), "", replay.BundleReplayInput{BundleRoot: root})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil || !out.Passed() || out.Summary.Compared != 4 || out.Summary.Matched != 4 || out.Summary.StatusChecks != 4 {
		t.Errorf("%s %v", text, err)
	}
	for _, name := range []string{"reports/gate-e-status.json", "reports/gate-e-numeric-claims.json", "gates.json", "synthesis/final-synthesis.md"} {
		f := forger{t, root}
		before := f.read(name)
		f.write(name, bytes.Replace(bytes.Replace(before, []byte(`"pass"`), []byte(`"fail"`), 1), []byte(" 12 "), []byte(" 13 or 14.\n\nOr 15 "), 1))
		if bytes.Equal(before, f.read(name)) {
			f.write(name, bytes.Replace(before, []byte(": 0"), []byte(": 1"), 1))
		}
		if out, err = replay.ReplayBundle(t.Context(), "", replay.BundleReplayInput{BundleRoot: root}); err != nil || out.Passed() {
			t.Errorf("%s was changed: %+v %v", name, out.Summary, err)
		}
		f.write(name, before)
	}
}

// TestQualityAuditShowsWhatRunsShowTogether over bundles of the earlier system, golden
// runs, and folders that are not runs.
func TestQualityAuditShowsWhatRunsShowTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	earlierBundle(t, filepath.Join(dir, "a1"), "a1", cleanSynthesis)
	earlierBundle(t, filepath.Join(dir, "a2"), "a2", strings.Replace(cleanSynthesis, " [@cid_a]", "", 1))
	earlierBundle(t, filepath.Join(dir, "a3"), "a3", "## Summary\n\nIt has 12 cranes.\n")
	earlierBundle(t, filepath.Join(dir, "a4"), "a4", "## Summary\n\nNothing.\n")
	runs.Put(t, filepath.Join(dir, "none"), "bundle.json", `{}`)
	runs.Put(t, filepath.Join(dir, ".hidden"), "bundle.json", `{}`)
	run1 := golden(t, t.TempDir(), "no-second-wave")
	out, err := replay.Audit(t.Context(), dir, replay.AuditInput{FixturesRoot: dir, BundlePaths: []string{run1, filepath.Join(dir, "a1")}, Telemetry: true,
		OutputDir: filepath.Join(dir, "audit"), Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if out.BundlesScanned != 6 || out.BundlesUsed != 5 || out.Summary.InvalidBundles != 1 || out.Summary.GateE != (replay.AuditedGate{Pass: 2, Fail: 3}) {
		t.Errorf("%+v", out.Summary)
	}
	var codes []string
	for _, f := range out.Findings {
		id := "-"
		if f.BundleID != nil {
			id = *f.BundleID
		}
		codes = append(codes, f.Severity+" "+f.Code+" "+id)
	}
	if got, want := strings.Join(codes, "\n"), `error BUNDLE_INVALID none
error GATE_E_STATUS_FAIL a2
error GATE_E_STATUS_FAIL a3
error GATE_E_STATUS_FAIL a4
error MISSING_REQUIRED_SECTIONS a3
error MISSING_REQUIRED_SECTIONS a4
error RECURRING_SECTION_OMISSIONS -
warn HIGH_DUPLICATE_CITATION_RATE a2
warn HIGH_DUPLICATE_CITATION_RATE a3
warn HIGH_DUPLICATE_CITATION_RATE a4
warn HIGH_DUPLICATE_CITATION_RATE no-second-wave
warn LOW_CITATION_UTILIZATION a2
warn LOW_CITATION_UTILIZATION a3
warn LOW_CITATION_UTILIZATION a4`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if out.Summary.Errors != 7 || out.Summary.Warnings != 7 || strings.Join(out.Summary.DriftFlags, " ") != "RECURRING_SECTION_OMISSIONS" {
		t.Errorf("%+v", out.Summary)
	}
	written := forger{t, dir}.read("audit/quality-audit.json")
	if again, err := codec.MarshalFile(out); err != nil || !bytes.Equal(again, written) {
		t.Errorf("what is written is not what is returned: %v", err)
	}
	_, err = replay.Audit(t.Context(), dir, replay.AuditInput{FixturesRoot: dir, MinBundles: 5, Reason: "test"})
	runs.WantCode(t, err, tidegate.InvalidArgs)
	_, err = replay.Audit(t.Context(), dir, replay.AuditInput{FixturesRoot: t.TempDir(), Reason: "test"})
	runs.WantCode(t, err, tidegate.InvalidArgs)
}
