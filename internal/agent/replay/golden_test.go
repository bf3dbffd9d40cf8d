package replay_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/work/run"
)

func open(t *testing.T, root string) *run.Run {
	t.Helper()
	r := must.Get(run.Open(t.Context(), pinned, filepath.Join(root, run.ManifestFile)))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// TestGoldenRuns drives a run of each kind: what agents are asked and what rules make of
// their answers is what testdata/golden shows. With -update the files are made again.
func TestGoldenRuns(t *testing.T) {
	for _, k := range played.Kinds {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			golden.Check(t, filepath.Join("testdata", "golden", k.Name+".txtar"), played.Text(t, played.Drive(t, t.TempDir(), k)))
		})
	}
}

// TestRunsComeOutTheSame replays a run of each kind, on one core and on several. The short
// form has one kind; other tests replay runs before they forge them.
func TestRunsComeOutTheSame(t *testing.T) {
	const roundly = "review-rounds" // replayed on one core and on several, and shown alike
	dir := t.TempDir()
	var names []string
	for _, k := range played.Kinds {
		if !full.Asked() && k.Name != roundly {
			continue
		}
		root := played.Lay(t, dir, k.Name)
		names = append(names, k.Name)
		if got := open(t, root).Manifest().Status(); got != k.Ends {
			t.Errorf("%s is %s, not %s", k.Name, got, k.Ends)
		}
		for _, file := range k.Has {
			if found, err := filepath.Glob(filepath.Join(root, file)); len(found) == 0 || err != nil {
				t.Errorf("%s is not of its kind: it lacks %s, %v", k.Name, file, err)
			}
		}
	}
	before := played.Files(t, dir)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var shown []string
	for i, cores := range []int{1, max(2, runtime.NumCPU())} {
		runtime.GOMAXPROCS(cores)
		for j := range names {
			if names[j] == roundly || i > 0 && !full.Asked() {
				continue
			}
			out, err := replay.Run(t.Context(), open(t, filepath.Join(dir, names[j])), "")
			if err != nil || !out.Passed() || len(out.Left) > 0 {
				t.Errorf("%s on %d cores: %s %v %v", names[j], cores, differences(out), out.Left, err)
			}
		}
		result, err := replay.Run(t.Context(), open(t, filepath.Join(dir, roundly)), "")
		if err != nil || !result.Passed() || len(result.Left) > 0 {
			t.Errorf("%s on %d cores: %s %v %v", roundly, cores, differences(result), result.Left, err)
		}
		shown = append(shown, fmt.Sprintf("%+v", result))
	}
	if shown[0] != shown[1] {
		t.Error("what is said depends on the number of cores")
	}
	if after := played.Files(t, dir); !slices.Equal(before, after) {
		t.Error("replay writes into the run")
	}
}

// TestReplayMakesWhatRulesMade: replay makes every file of a run that a rule has made. The
// short form has one kind.
func TestReplayMakesWhatRulesMade(t *testing.T) {
	stride := full.Stride(len(played.Kinds), 1)
	for i := stride - 1; i < len(played.Kinds); i += stride {
		k := played.Kinds[i]
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			root := played.Lay(t, t.TempDir(), k.Name)
			result, err := replay.Run(t.Context(), open(t, root), "")
			if err != nil || !result.Pass || len(result.Left) > 0 {
				t.Errorf("%s %v", differences(result), err)
			}
			made := map[string]bool{}
			for _, s := range result.Steps {
				made[s.What] = true
			}
			for _, name := range played.Files(t, root) {
				if !made[name] && !givenFile(name) {
					t.Errorf("a rule made %s, and replay does not", name)
				}
			}
		})
	}
}

// givenFile reports whether a file is not made by a rule: what agents handed in, the archive and the log. Manifest and gates are compared
// line by line of the log.
func givenFile(name string) bool {
	switch name {
	case run.ManifestFile, "gates.json", run.LogFile, run.HeadFile, "evidence/archive.warc.gz":
		return true
	}
	base := filepath.Base(name)
	return strings.HasPrefix(name, "jobs/") && (strings.HasPrefix(base, "answer-") || base == "retry.json" || base == "lease.json" || base == "events.jsonl")
}

func differences(r replay.Result) string {
	var out []string
	for _, s := range r.Steps {
		if !s.Same {
			out = append(out, s.What+": "+s.Difference)
		}
	}
	return strings.Join(out, "\n")
}
