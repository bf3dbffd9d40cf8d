package step_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
)

const contracts = `{"schema_version": "perspectives.v1", "perspectives": [
	{"id": "b", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": ["Gaps", "Sources"]}},
	{"id": "a", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": ["Gaps"]}, "source_artifact": "else/where.md"}]}`

func TestFromRunValidatesEveryOutput(t *testing.T) {
	root := t.TempDir()
	manifest := write(t, filepath.Join(root, "manifest.json"), plainManifest)
	write(t, filepath.Join(root, "perspectives.json"), contracts)
	b := write(t, filepath.Join(root, "wave-1", "b.md"), "# Gaps\n- (P1) x\n# Sources\n- https://example.org\n")
	a := write(t, filepath.Join(root, "wave-1", "a.md"), "# Gaps\n")
	write(t, filepath.Join(root, "else", "where.md"), "# Gaps\n- (P0) what nobody judged\n")
	in, err := step.PivotOf(t.Context(), runClock, manifest)
	if err != nil {
		t.Fatal(err)
	}
	want := []pivot.Output{{PerspectiveID: "a", Path: a}, {PerspectiveID: "b", Path: b}}
	if diff := cmp.Diff(want, in.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	reports, _ := codec.MarshalLine(in.Reports)
	wantReports := `[{"ok":true,"perspective_id":"a","markdown_path":"` + a + `","words":2,"sources":0,"missing_sections":[]},` +
		`{"ok":true,"perspective_id":"b","markdown_path":"` + b + `","words":9,"sources":1,"missing_sections":[]}]`
	if diff := cmp.Diff(wantReports, string(reports)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if d := decided(t, in); d.Metrics.Total != 1 || *d.PivotPath != filepath.Join(root, "pivot.json") {
		t.Errorf("got %+v", d)
	}

	write(t, b, "# Gaps\n")
	if in, err = step.PivotOf(t.Context(), runClock, manifest); err != nil {
		t.Fatal(err)
	}
	refused(t, in, tidegate.Wave1NotValidated, tidegate.Pairs("perspective_id", "b",
		"failure", tidegate.Pairs("code", "MISSING_REQUIRED_SECTION", "message", "Missing section: Sources")))

	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	_, err = step.PivotOf(t.Context(), runClock, manifest)
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.FileNotFound {
		t.Fatalf("got %v, want NOT_FOUND", err)
	}
	if diff := cmp.Diff(tidegate.Pairs("perspective_id", "b", "output_md_path", b), e.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestFromRunLooksWhereTheManifestSays(t *testing.T) {
	root := t.TempDir()
	manifest := write(t, filepath.Join(root, "manifest.json"),
		`{"schema_version": "manifest.v1", "run_id": "r1", "artifacts": {"paths": {"wave1_dir": "first", "perspectives_file": "p/p.json"}}}`)
	write(t, filepath.Join(root, "p", "p.json"), `{"schema_version": "perspectives.v1", "perspectives": [
		{"id": "x", "prompt_contract": {"max_words": 20, "max_sources": 2, "must_include_sections": []}}]}`)
	x := write(t, filepath.Join(root, "first", "x.md"), "# Gaps\n")
	in, err := step.PivotOf(t.Context(), runClock, manifest)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pivot.Output{{PerspectiveID: "x", Path: x}}, in.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}
