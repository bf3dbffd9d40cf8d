package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestLookedUpPapersAreReplayed: a run in which one answer was refused for a paper that
// was retracted, and another for a source that the person does not allow, is replayed
// from its archive.
func TestLookedUpPapersAreReplayed(t *testing.T) {
	root := played.Drive(t, t.TempDir(), played.Kind{Name: "papers", Ends: run.Completed, Policy: policy.Policy{DenyDomains: []string{"forum.example"}, Since: "2020-01-01"}, Agent: played.Writer(map[string]string{
		"wave1.figures sources": "- Port statistics https://www.forum.example/port-1",
		"wave1.doubts sources":  "- Statistics of ports https://doi.org/10.5555/withdrawn.5",
	})})
	for job, want := range map[string]string{"wave1.figures": "SOURCE_NOT_ALLOWED", "wave1.doubts": "Crossref says of doi:10.5555/withdrawn.5: retraction"} {
		attempt, err := os.ReadFile(filepath.Join(root, "jobs", job, "001", "attempt.json"))
		if err != nil || !strings.Contains(string(attempt), want) {
			t.Errorf("%s was not refused for %s: %v", job, want, err)
		}
	}
	result, err := replay.Run(t.Context(), open(t, root), "")
	if err != nil || !result.Pass || len(result.Left) > 0 {
		t.Errorf("%s %v", differences(result), err)
	}
}
