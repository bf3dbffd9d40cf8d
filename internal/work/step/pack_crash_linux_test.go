package step_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// The test binary runs itself as another process, which builds the run in this
// folder with the fixtures beside it.
const crashVar = "SUMMARY_TEST_RUN"

// begin marks in a trace where the build begins.
const begin = "/tidegate-test-begins"

// buildPack is what that process does.
func buildPack(root string) {
	r := &packRun{root: root, fixtures: filepath.Join(root, "../fixtures")}
	_ = syscall.Access(begin, 0)
	_, err := r.build()
	fmt.Print("said ", tidegate.CodeOf(err))
}

const writingCalls = "openat,write,fsync,syncfs,renameat,renameat2,unlinkat,mkdirat,linkat,ftruncate,flock"

// tracedBuild builds in another process under strace and returns what it printed,
// "" when it was killed, and the trace.
func tracedBuild(t *testing.T, root string, options ...string) (said, trace string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trace")
	args := append([]string{"-qq", "-o", out, "-e", "trace=faccessat,faccessat2," + writingCalls}, options...)
	cmd := exec.Command("strace", append(args, exe)...)
	cmd.Env = append(os.Environ(), crashVar+"="+root)
	printed, _ := cmd.Output()
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), string(data)
}

// TestKilledBuildIsFinishedOrUndoneByTheNext kills a build at every call that
// touches files. A reader then sees the old pack, or the new one with all its
// summaries; and the next build, even one that is refused, leaves everything as
// it was before or everything as it should be after.
func TestKilledBuildIsFinishedOrUndoneByTheNext(t *testing.T) {
	if err := exec.Command("strace", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	prepare := func() *packRun {
		r := newPackRun(t)
		dir := t.TempDir()
		root := filepath.Join(dir, "run")
		if err := os.Rename(r.root, root); err != nil {
			t.Fatal(err)
		}
		r.root, r.fixtures = root, filepath.Join(dir, "fixtures")
		r.fixture("p1", "Old one [@cid_a].\n")
		r.fixture("p2", "Old two [@cid_b].\n")
		r.mustBuild()
		r.fixture("p1", "New one [@cid_b].\n")
		r.fixture("p2", "New two [@cid_a].\n")
		return r
	}
	old, fresh := prepare(), prepare()
	said, trace := tracedBuild(t, fresh.root)
	if said != "said " {
		t.Fatalf("the build said %q", said)
	}
	points := 0
	for call, counts := range callsAfterBegin(t, trace) {
		for n := counts[0] + 1; n <= counts[1]; n += full.Stride(counts[1]-counts[0], 2) {
			points++
			r := prepare()
			said, trace := tracedBuild(t, r.root, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n))
			checkAfterKill(t, r, said, artifacts(old), artifacts(fresh))
			if t.Failed() {
				t.Fatalf("killed at %s %d, said %q\n%s", call, n-counts[0], said, trace)
			}
			os.RemoveAll(filepath.Dir(r.root))
		}
	}
	t.Logf("killed at %d points", points)
	if full.Asked() && points < 20 {
		t.Errorf("only %d points were tried", points)
	}
}

// callsAfterBegin counts the calls of a trace by name: those before the build
// began, and all of them.
func callsAfterBegin(t *testing.T, trace string) map[string][2]int {
	t.Helper()
	var before map[string]int
	all := map[string]int{}
	for line := range strings.Lines(trace) {
		if strings.Contains(line, begin) {
			before = maps.Clone(all)
		} else if call, _, isCall := strings.Cut(line, "("); isCall {
			all[call]++
		}
	}
	if before == nil {
		t.Fatalf("no begin in the trace:\n%s", trace)
	}
	counts := map[string][2]int{}
	for call, n := range all {
		counts[call] = [2]int{before[call], n}
	}
	return counts
}

// artifacts are the files that a build writes, the log aside, and what a
// transaction leaves.
func artifacts(r *packRun) map[string]string {
	files := r.tree()
	maps.DeleteFunc(files, func(name, _ string) bool {
		return !strings.HasPrefix(name, "summaries/") && !strings.HasPrefix(name, ".tidegate")
	})
	return files
}

func checkAfterKill(t *testing.T, r *packRun, said string, old, fresh map[string]string) {
	t.Helper()
	if said != "" {
		t.Errorf("it was not killed, it said %q", said)
	}
	pack, err := codec.Parse([]byte(r.read("summaries/summary-pack.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range pack.Get("summaries").Elems() {
		text := r.read(entry.Get("summary_md").Str())
		isNew := strings.HasPrefix(entry.Get("key_claims").Elems()[0].Get("claim").Str(), "New")
		if isNew && codec.DigestBytes([]byte(text)) != entry.Get("summary_digest").Str() {
			t.Errorf("the new pack is there and %s is %q", entry.Get("summary_md").Str(), text)
		}
	}
	// The next holder of the lock finishes what was interrupted.
	if _, err := run.Recover(t.Context(), run.Desk{Now: time.Now}, r.path("manifest.json")); err != nil {
		t.Errorf("recovering says %v", err)
	}
	after := artifacts(r)
	if !maps.Equal(after, old) && !maps.Equal(after, fresh) {
		t.Errorf("neither undone nor finished (-old +now):\n%s\n(-new +now):\n%s", cmp.Diff(old, after), cmp.Diff(fresh, after))
	}
	lines := r.auditLines()
	if finished := maps.Equal(after, fresh); len(lines) != 1 && !finished || len(lines) != 2 && finished {
		t.Errorf("finished: %v, the log has %d lines", finished, len(lines))
	}
	if _, err := r.build(); err != nil {
		t.Errorf("a build after that says %v", err)
	}
}
