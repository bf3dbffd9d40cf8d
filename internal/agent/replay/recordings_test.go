package replay_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/library"
)

// TestRunsOfAModelComeOutTheSame replays runs over real documents that a language model drove
// by its prompts alone: what it was asked, how its answers were judged, and every file that a
// rule made. What is made otherwise since is written beside each run, so that a change of a
// prompt or rule shows what it does to them; -update writes it again.
func TestRunsOfAModelComeOutTheSame(t *testing.T) {
	bundles := must.Get(filepath.Glob("testdata/recordings/*.bundle.gz"))(t)
	if len(bundles) == 0 {
		t.Fatal("there are no recordings")
	}
	for _, path := range bundles {
		name := strings.TrimSuffix(filepath.Base(path), ".bundle.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed := must.Get(os.Open(path))(t)
			defer packed.Close()
			bundle := must.Get(io.ReadAll(must.Get(gzip.NewReader(packed))(t)))(t)
			taken := must.Get(library.Import(t.Context(), pinned, filepath.Join(t.TempDir(), "runs"), bundle))(t)
			out := must.Get(replay.Run(t.Context(), open(t, taken.Path), ""))(t)
			var differs strings.Builder
			prompts := 0
			for _, s := range out.Steps {
				if strings.HasSuffix(s.What, "/prompt.md") {
					prompts++
				}
				if !s.Same {
					fmt.Fprintf(&differs, "%s: %s\n", s.What, s.Difference)
				}
			}
			if prompts < 10 || len(out.Left) > 0 {
				t.Errorf("%d prompts were compared, and left out was %v", prompts, out.Left)
			}
			golden.Check(t, filepath.Join("testdata", "recordings", name+".differences.txt"), []byte(differs.String()))
		})
	}
}
