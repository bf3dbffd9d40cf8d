package stage_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// The calls at which the process is killed or the call fails: every one that
// changes something on the disk, and those that make it durable.
var crashCalls = []string{"openat", "write", "fsync", "renameat", "renameat2", "unlinkat", "mkdirat", "linkat", "flock", "ftruncate"}

// TestAKilledRunContinuesToTheSameArtifacts runs the whole sequence in another
// process under strace. Strace kills it at one call, or lets that call fail, or that
// and all that follow. Then the sequence is started again: the final artifacts must
// be those of an undisturbed run, byte for byte. With -full it tries every call,
// which takes minutes; without, some of each kind.
func TestAKilledRunContinuesToTheSameArtifacts(t *testing.T) {
	full.Story(t)
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	// Every attempt uses the same folder, because paths stand in the manifest.
	dir := filepath.Join(t.TempDir(), "crash")
	fresh := func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	counts := countCalls(t, dir)
	reference := runs.Tree(t, dir)
	if reference["home/r1/pivot.json"] == "" || !strings.Contains(reference["home/r1/manifest.json"], `"current": "citations"`) {
		t.Fatal("the sequence did not reach its end")
	}
	tried := 0
	for i, call := range crashCalls {
		stride := full.Stride(counts[call], 1)
		for n := 1 + stride*i/len(crashCalls); n <= counts[call]; n += stride { // the short form: one of each, ever later
			faults := []string{"signal=KILL:when=%d", "error=EIO:when=%d", "error=EIO:when=%d+"}
			if !full.Asked() {
				faults = faults[tried%3:][:1] // each in turn
			}
			for _, fault := range faults {
				fresh()
				inject := "inject=" + call + ":" + fmt.Sprintf(fault, n)
				said, _ := self("whole", dir, "strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace="+call, "-e", inject).Output()
				if out, err := self("whole", dir).CombinedOutput(); string(out) != "done" {
					t.Fatalf("%s: it said %q, and started again %q, %v", inject, said, out, err)
				}
				tried++
				got := runs.Tree(t, dir)
				if strings.HasPrefix(fault, "error") && lostLine(reference, got) {
					continue // lines of the specified tools are best effort: a disk that refuses the line does not stop the run
				}
				if err := sameArtifacts(reference, got); err != nil {
					t.Fatalf("%s: it said %q: %v", inject, said, err)
				}
				if v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: filepath.Join(dir, "home/r1/manifest.json"), Follows: stage.Follows}); err != nil || !v.Pass {
					t.Fatalf("%s: verify %+v, %v", inject, v.Findings, err)
				}
			}
		}
	}
	t.Logf("%d points tried", tried)
}

// countCalls runs the sequence once and counts its calls.
func countCalls(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	said, err := self("whole", dir, "strace", "-f", "-qq", "-o", out, "-e", "trace="+strings.Join(crashCalls, ",")).Output()
	if err != nil || string(said) != "done" {
		t.Fatalf("%s, %v", said, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(data)) {
		_, line, _ = strings.Cut(line, " ")
		call, _, ok := strings.Cut(strings.TrimSpace(line), "(")
		if ok && slices.Contains(crashCalls, call) {
			counts[call]++
		}
	}
	if counts["write"] < 20 || counts["fsync"] < 20 {
		t.Fatalf("too few calls in the trace: %v", counts)
	}
	return counts
}

// lostLine reports whether everything but the logs is as it should be.
func lostLine(want, got map[string]string) bool {
	for _, log := range []string{"home/runs-ledger.jsonl", "home/r1/logs/audit.jsonl"} {
		if _, ok := got[log]; !ok || strings.Count(got[log], "\n") <= strings.Count(want[log], "\n") {
			got[log] = want[log]
		}
	}
	got["home/r1/logs/audit.head"] = want["home/r1/logs/audit.head"]
	return sameArtifacts(want, got) == nil
}
