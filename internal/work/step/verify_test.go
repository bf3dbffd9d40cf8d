package step_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestCompletedRunIsHeldToItsGates: what it says was judged must still be what is there.
func TestCompletedRunIsHeldToItsGates(t *testing.T) {
	made := completed(t)
	verify := func() run.VerifyResult {
		v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: made.ManifestPath})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verify(); !v.Pass {
		t.Fatalf("%+v", v.Findings)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", "## Key Findings\n\nForged.\n")
	v := verify()
	stale := 0
	for _, f := range v.Findings {
		if f.Rule == "gate-stale" && f.Level == "error" && f.File == "synthesis/final-synthesis.md" {
			stale++
		}
	}
	if v.Pass || stale == 0 {
		t.Errorf("pass %v, %+v", v.Pass, v.Findings)
	}
}
