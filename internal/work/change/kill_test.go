package change_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/review"
)

const killedProject = "TIDEGATE_TEST_KILLED_PROJECT"

func TestMain(m *testing.M) {
	if root := os.Getenv(killedProject); root != "" {
		reviewForEver(root)
	}
	os.Exit(m.Run())
}

// reviewForEver reviews and advances a change until the process is killed, and
// says after each step what its caller was promised. A person lets it resume
// whenever it needs one.
func reviewForEver(root string) {
	failed := func(what string, err error) {
		if err != nil {
			fmt.Println(what+":", err)
			os.Exit(3)
		}
	}
	for n := 1; ; n++ {
		verdict := []review.Verdict{review.NeedsFix, review.NeedsFix, review.MajorIssues}[n%3]
		_, err := change.CreateReview(agent, desk, root, payload("c", verdict, fmt.Sprint(n), "one"), false)
		failed("create", err)
		fmt.Println("created", n)
		advanced, err := change.Advance(agent, desk, root, "c")
		failed("advance", err)
		fmt.Println("advanced", n)
		if advanced.NeedsPerson != "" {
			_, err := change.Resume(person, desk, root, "c", true, "go on")
			failed("resume", err)
		}
	}
}

// TestAKillLeavesFilesThatBelongTogether kills a reviewer in the middle of its
// work, again and again in the same project.
func TestAKillLeavesFilesThatBelongTogether(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	kept := 0
	for kill := 0; kill < 12; kill += full.Stride(12, 6) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedProject+"="+root)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		lines := bufio.NewScanner(out)
		created := 0
		for range 3 + kill {
			if !lines.Scan() {
				t.Fatal("the reviewer ended by itself")
			}
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "created %d", &n); err == nil {
				created = n
			}
		}
		must.Do(t, cmd.Process.Kill())
		for lines.Scan() { // what it still said before it died
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "created %d", &n); err == nil {
				created = n
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the reviewer was not killed")
		}
		kept = checkFiles(t, root, kept+created)
	}
}

// checkFiles takes the lock, so that what was interrupted is finished or undone,
// and checks that all files belong together. It returns how many reviews are
// kept, which are those that were promised and perhaps one more.
func checkFiles(t *testing.T, root string, promised int) int {
	t.Helper()
	must.Get(change.Advance(agent, desk, root, "c"))(t)
	list := must.Get(change.Reviews(desk, root, "c"))(t)
	if n := len(list.Reviews); n < promised || n > promised+1 {
		t.Fatalf("%d reviews are kept, want %d or one more", n, promised)
	}
	for i, r := range list.Reviews {
		if r.Number != i+1 || !r.Complete {
			t.Fatalf("review %d is %+v", i+1, r)
		}
	}
	last := list.Reviews[len(list.Reviews)-1]
	if filepath.Base(last.Path) == "REVIEW.md" || read(t, root, reviewPath) != read(t, root, "agentd/changes/c/reviews/"+filepath.Base(last.Path)) {
		t.Fatal("REVIEW.md is not the newest kept review")
	}
	status := must.Get(change.StatusOf(t.Context(), desk, root, "c"))(t)
	if status.Review == nil || len(status.Review.Problems) > 0 {
		t.Fatalf("the record does not match: %+v", status.Review)
	}
	log := read(t, root, "agentd/changes/c/log.jsonl")
	folder := must.Get(artifact.Everywhere.Open("folder", filepath.Join(root, "agentd/changes/c")))(t)
	defer folder.Close()
	chain, err := folder.VerifyLog("log.jsonl")
	if err != nil || chain.Broken+chain.Unchained > 0 || chain.Torn || strings.Count(log, `"event":"kept"`) != len(list.Reviews) {
		t.Fatalf("log: %+v (error %v) with %d reviews", chain, err, len(list.Reviews))
	}
	rounds := 0
	for _, r := range list.Reviews {
		if r.Verdict == "NEEDS_FIX" {
			rounds++
		}
	}
	if status.Iteration > int64(rounds)+1 {
		t.Fatalf("iteration is %d after %d reviews that ask for fixes", status.Iteration, rounds)
	}
	return len(list.Reviews)
}
