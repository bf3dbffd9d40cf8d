package step_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestPivotReport(t *testing.T) {
	required, in := pivotRun(t, `{"schema_version": "manifest.v1", "run_id": "r1", "limits": {"max_wave2_agents": 1}}`)
	write(t, filepath.Join(required, "wave-1", "p1.md"), "# Findings\nx\n\n# Gaps\n- (P3) later\n- (P1) a \x1b[31mhostile\x1b[0m | text\n- (P0) now #soon\n")
	root, unlimited := pivotRun(t, plainManifest)
	skipped := wave1(t, map[string]string{"p1": "# Gaps\n"})
	explicit := wave1(t, map[string]string{"p1": ""})
	explicit.ExplicitGaps = list(t, `[{"gap_id": "g1", "priority": "P2", "text": "from an operator"}]`)
	for _, test := range []struct {
		name, root string
		in         step.PivotInput
	}{{"required", required, in}, {"unlimited", root, unlimited}, {"skipped", "", skipped}, {"explicit", "", explicit}} {
		for _, format := range []string{"text", "markdown"} {
			t.Run(test.name+" as "+format, func(t *testing.T) {
				f, _ := report.Lookup(format)
				var out bytes.Buffer
				if err := f.Write(&out, decided(t, test.in).Report(), report.Options{Root: test.root}); err != nil {
					t.Fatal(err)
				}
				got := out.Bytes()
				if test.root != "" {
					got = bytes.ReplaceAll(got, []byte(test.root), []byte("ROOT"))
				}
				golden(t, test.name+"."+format, got)
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "pivot", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run: go test ./internal/work/step -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
