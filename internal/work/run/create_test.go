package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

func TestNewRunIsWholeAndDocumented(t *testing.T) {
	home := t.TempDir()
	out, err := run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "What moves the tide?", RunID: "r1", Mode: "deep", Sensitivity: "restricted"})
	if err != nil || !out.Created || !out.Ledger.Written {
		t.Fatalf("%+v, %v", out, err)
	}
	files := must.Tree(t, home)
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	golden.Check(t, "testdata/init/tree.txt", []byte(strings.Join(list, "\n")+"\n"))
	for _, name := range []string{"r1/operator/scope.json", "r1/gates.json", "r1/run-config/policy.json"} {
		golden.Check(t, "testdata/init/"+filepath.Base(name), []byte(files[name]))
	}
	// The two that hold paths; the log's digests depend on them and are checked by Verify.
	golden.Check(t, "testdata/init/manifest.json", []byte(strings.ReplaceAll(files["r1/manifest.json"], home, "/runs")))
	golden.Check(t, "testdata/init/ledger.jsonl", []byte(strings.ReplaceAll(files["runs-ledger.jsonl"], home, "/runs")))
	if v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: out.ManifestPath}); err != nil || !v.Pass || len(v.Findings) != 0 || len(v.Checked) != 5 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestNewRunIsPrivate(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	for name, want := range map[string]os.FileMode{out.Root: 0o700, out.ManifestPath: 0o600, out.Paths.Wave1Dir: 0o700, out.PolicyPath: 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestRefusedInitLeavesNothing(t *testing.T) {
	zero, many := int64(0), int64(51)
	for _, tt := range []struct {
		name string
		in   run.InitInput
		code tidegate.Code
		arg  string
	}{
		{"blank query", run.InitInput{Query: " \n"}, tidegate.InvalidArgs, "query"},
		{"mode", run.InitInput{Query: "q", Mode: "warp"}, tidegate.InvalidArgs, "mode"},
		{"sensitivity", run.InitInput{Query: "q", Sensitivity: "secret"}, tidegate.InvalidArgs, "sensitivity"},
		{"id leads out", run.InitInput{Query: "q", RunID: "../x"}, tidegate.PathTraversal, "run_id"},
		{"id is the folder itself", run.InitInput{Query: "q", RunID: "."}, tidegate.PathTraversal, "run_id"},
		{"id is the folder above", run.InitInput{Query: "q", RunID: ".."}, tidegate.PathTraversal, "run_id"},
		{"absolute id", run.InitInput{Query: "q", RunID: "/x"}, tidegate.PathTraversal, "run_id"},
		{"backslash", run.InitInput{Query: "q", RunID: `a\b`}, tidegate.PathTraversal, "run_id"},
		{"hidden id", run.InitInput{Query: "q", RunID: ".x"}, tidegate.InvalidArgs, "run_id"},
		{"id of the ledger", run.InitInput{Query: "q", RunID: "runs-ledger.jsonl"}, tidegate.InvalidArgs, "run_id"},
		{"control character", run.InitInput{Query: "q", RunID: "a\nb"}, tidegate.InvalidArgs, "run_id"},
		{"blank ends", run.InitInput{Query: "q", RunID: " a"}, tidegate.InvalidArgs, "run_id"},
		{"long id", run.InitInput{Query: "q", RunID: strings.Repeat("x", 129)}, tidegate.InvalidArgs, "run_id"},
		{"relative root", run.InitInput{Query: "q", RootOverride: "runs"}, tidegate.InvalidArgs, "root_override"},
		{"limit too low", run.InitInput{Query: "q", Limits: &run.Limits{MaxWave1Agents: &zero}}, tidegate.InvalidArgs, "limits.max_wave1_agents"},
		{"limit too high", run.InitInput{Query: "q", Limits: &run.Limits{MaxReviewIterations: &many}}, tidegate.InvalidArgs, "limits.max_review_iterations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			_, err := run.Create(t.Context(), runs.Pinned, home, tt.in)
			e := runs.WantCode(t, err, tt.code)
			if _, ok := e.Details.Get(tt.arg); !ok {
				t.Errorf("details %v do not name %s", e.Details, tt.arg)
			}
			if _, err := os.Stat(home); !os.IsNotExist(err) {
				t.Errorf("the home was made: %v", must.Tree(t, home))
			}
		})
	}
}

func TestIDsWithTwoDotsInsideAreAllowed(t *testing.T) {
	runs.Create(t, run.InitInput{RunID: "a..b"})
}

func TestGeneratedIDsAreFullLengthAndDiffer(t *testing.T) {
	home := t.TempDir()
	seen := map[string]bool{}
	for range 20 {
		out, err := run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "q"})
		if err != nil || !strings.HasPrefix(out.RunID, "dr_20260214120000_") || len(out.RunID) != 24 || seen[out.RunID] {
			t.Fatalf("%q, %v", out.RunID, err)
		}
		seen[out.RunID] = true
	}
}

func TestSecondInitWithTheSameArgumentsChangesNothing(t *testing.T) {
	home := t.TempDir()
	in := run.InitInput{Query: "q", RunID: "r1"}
	first := must.Get(run.Create(t.Context(), runs.Pinned, home, in))(t)
	before := must.Tree(t, home)
	second, err := run.Create(t.Context(), runs.Pinned, home, in)
	if err != nil || second.Created {
		t.Fatalf("%+v, %v", second, err)
	}
	if diff := cmp.Diff(before, must.Tree(t, home)); diff != "" {
		t.Error(diff)
	}
	second.Created = true
	if first != second {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestInitWithOtherArgumentsSaysWhatDiffers(t *testing.T) {
	home := t.TempDir()
	must.Get(run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "q", RunID: "r1"}))(t)
	before := must.Tree(t, home)
	nine := int64(9)
	for _, tt := range []struct {
		in      run.InitInput
		differs string
	}{
		{run.InitInput{Query: "other"}, "query"},
		{run.InitInput{Query: "q", Mode: "deep"}, "mode"},
		{run.InitInput{Query: "q", Sensitivity: "no_web"}, "sensitivity"},
		{run.InitInput{Query: "q", Limits: &run.Limits{MaxWave1Agents: &nine}}, "limits.max_wave1_agents"},
	} {
		tt.in.RunID = "r1"
		_, err := run.Create(t.Context(), runs.Pinned, home, tt.in)
		e := runs.WantCode(t, err, tidegate.AlreadyExistsConflict)
		if differs, _ := e.Details.Get("differs"); !cmp.Equal(differs, []string{tt.differs}) {
			t.Errorf("details %v, want %s", e.Details, tt.differs)
		}
	}
	if diff := cmp.Diff(before, must.Tree(t, home)); diff != "" {
		t.Error(diff)
	}
}

func TestInitOverSomethingThatIsNoRunIsAConflict(t *testing.T) {
	for name, spoil := range map[string]func(root string) error{
		"a folder without manifest": func(root string) error { return os.MkdirAll(root, 0o700) },
		"a file":                    func(root string) error { return os.WriteFile(root, nil, 0o600) },
		"a broken manifest": func(root string) error {
			if err := os.MkdirAll(root, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, "manifest.json"), []byte("{"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			must.Do(t, spoil(filepath.Join(home, "r1")))
			before := must.Tree(t, home)
			_, err := run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "q", RunID: "r1"})
			runs.WantCode(t, err, tidegate.AlreadyExistsConflict)
			if diff := cmp.Diff(before, must.Tree(t, home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOfTwoInitsWithOneIDOneWins(t *testing.T) {
	home := t.TempDir()
	var wait sync.WaitGroup
	results := make([]run.InitResult, 16)
	errs := make([]error, len(results))
	for i := range results {
		in := run.InitInput{Query: "q", RunID: "r1"}
		if i%2 == 1 {
			in.Query = "other"
		}
		wait.Go(func() { results[i], errs[i] = run.Create(t.Context(), runs.Pinned, home, in) })
	}
	wait.Wait()
	made := 0
	for i := range results {
		if results[i].Created {
			made++
		}
		if code := tidegate.CodeOf(errs[i]); errs[i] != nil && code != tidegate.AlreadyExistsConflict {
			t.Error(errs[i])
		}
	}
	if lines := strings.Count(must.Tree(t, home)["runs-ledger.jsonl"], "\n"); made != 1 || lines != 1 {
		t.Errorf("%d runs made, %d ledger lines", made, lines)
	}
}

func TestLedgerLineThatACrashLostIsWrittenByTheNextInit(t *testing.T) {
	home := t.TempDir()
	in := run.InitInput{Query: "q", RunID: "r1"}
	must.Get(run.Create(t.Context(), runs.Pinned, home, in))(t)
	before := must.Tree(t, home)
	must.Do(t, os.Remove(filepath.Join(home, "runs-ledger.jsonl")))
	must.Get(run.Create(t.Context(), runs.Pinned, home, in))(t)
	if diff := cmp.Diff(before, must.Tree(t, home)); diff != "" {
		t.Error(diff)
	}
}

// TestIDsAreNoCommands: an agent names runs, and a person pastes the commands that name them.
func TestIDsAreNoCommands(t *testing.T) {
	for id, ok := range map[string]bool{
		"tide": true, "it is mine": true, "港口": true, "2026-05.a_b": true,
		"--notify=touch x": false, "--unconfined": false, "-y": false, "quay$(touch x)1": false, "a`b`": false, "a;b": false, "a|b": false, "a&b": false, "a>b": false,
		"it's": false, `a"b`: false, "a*": false, "~a": false, "#a": false, "!a": false, "h\u200barbour": false, "a\u00a0b": false,
	} {
		_, err := run.Create(t.Context(), runs.Pinned, t.TempDir(), run.InitInput{Query: "q", RunID: id})
		if (err == nil) != ok || err != nil && tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestSuggestedCommandNamesTheRunInOneWord(t *testing.T) {
	home := filepath.Join(t.TempDir(), "my runs")
	for _, tt := range []struct {
		in   run.InitInput
		want string
	}{
		{run.InitInput{RunID: "tide"}, "tidegate run status tide"},
		{run.InitInput{RunID: "it is mine"}, `tidegate run status 'it is mine'`},
		{run.InitInput{RunID: "tide", RootOverride: filepath.Join(home, "a")}, "tidegate run status '" + filepath.Join(home, "a/tide") + "'"},
	} {
		tt.in.Query = "q"
		out := must.Get(run.Create(t.Context(), runs.Pinned, home, tt.in))(t)
		blocks := out.Report().Blocks
		if got := blocks[len(blocks)-1]; got != report.Preformatted(tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
