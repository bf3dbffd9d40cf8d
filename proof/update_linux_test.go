package proof_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
)

// TestWhatComesAfterSurvivesKill kills an update of an audit, and questions about it, at
// the system calls with which they change files. The audit is as it was, the update is
// absent or whole, and an answer is absent, or whole once it is asked again.
func TestWhatComesAfterSurvivesKill(t *testing.T) {
	full.Story(t)
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Replace(reader.Page(0), "<p>", "<p>The ferry Ampere carries 140 cars and 360 passengers.<p>", 1))
	}))
	t.Cleanup(site.Close)
	t.Setenv("TIDEGATE_FETCH_ALLOW", strings.TrimPrefix(site.URL, "http://"))
	a := newAuditing(t, map[string]string{
		"report.md":        "The ferry carries 120 cars [1].\n\n# References\n\n[1] " + site.URL + "/a\n",
		"pages/index.json": `{"` + site.URL + `/a": "a.html"}`,
		"pages/a.html":     strings.Replace(reader.Page(0), "<p>", "<p>The ferry Ampere carries 120 cars and 360 passengers.<p>", 1),
	})
	if out, status := a.run(binary, "audit", "report.md", "--pages", "pages"); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	id := filepath.Base(filepath.Dir(a.audits()[0]))
	words := strings.Fields(reader.Sentence(0, 3))
	question := "What did the " + strings.Join(words[3:], " ")
	for _, after := range []struct {
		name, folder, says string
		status             int
		line               []string
	}{
		{"update", "updates", "{+140+}", 1, []string{"run", "update", id}},
		{"question that nobody is asked", "answers", "do not answer", 1, []string{"ask", id, "Who painted the Mona Lisa?"}},
		{"question to agents", "answers", "by rule and second reader", 0, []string{"ask", id, question, "--agent", "exec:" + os.Args[0], "--unconfined"}},
	} {
		t.Run(after.name, func(t *testing.T) {
			folder := filepath.Join(a.work, "home", after.folder)
			must.Do(t, os.RemoveAll(folder))
			killAfterwards(t, a, folder, after.says, after.status, after.line)
		})
	}
}

// TestBuildingOnARunSurvivesKill kills the beginning of a run that builds on another at the
// system calls with which it changes files: the other is as it was, and the run is absent, or
// whole and bound to the other.
func TestBuildingOnARunSurvivesKill(t *testing.T) {
	full.Story(t)
	t.Parallel()
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	a := newAuditing(t, map[string]string{"mine.json": `{"schema_version": "perspectives.v1", "perspectives": [{"id": "cost", "title": "What it costs", "track": "standard", "agent_type": "researcher",
		"prompt_contract": {"max_words": 900, "max_sources": 8, "tool_budget": {}, "must_include_sections": ["Findings", "Gaps", "Sources"]}}]}`})
	runs := filepath.Join(a.work, "home", "runs")
	must.Do(t, os.CopyFS(filepath.Join(runs, "tides"), os.DirFS(begun(t, withoutGap, "completed").root)))
	before := snapshot(t, filepath.Join(runs, "tides"))
	line := []string{"research", "Next: who pays?", "--from", "tides", "--agent", "recorded:demo", "--adapt", "--perspectives", "mine.json", "--plan-only"}
	absent := 0
	killed(t, a, a.work, "the plan waits for your yes", 0, line, func(where string) {
		if !maps.EqualFunc(before, snapshot(t, filepath.Join(runs, "tides")), bytes.Equal) {
			t.Errorf("%s: the earlier run is not as it was", where)
		}
		if _, err := os.Stat(filepath.Join(runs, "next")); os.IsNotExist(err) {
			absent++
		} else if scope, err := os.ReadFile(filepath.Join(runs, "next", "operator", "scope.json")); err != nil || !bytes.Contains(scope, []byte(`"run_id": "tides"`)) {
			t.Errorf("%s: the run is there, and not bound to the other: %v", where, err)
		} else if out, status := a.run(binary, "run", "verify", "next"); status != 0 {
			t.Errorf("%s: it does not verify: %d\n%s", where, status, out)
		}
		must.Do(t, os.RemoveAll(filepath.Join(runs, "next")))
	})
	if absent == 0 {
		t.Error("no kill came before the end: nothing was tried")
	}
}

// mostKills is how often a command is killed: agents open thousands of files that are no
// change of its own, and no two runs of it open them in the same order.
const mostKills = 300

// killed kills a command at system calls with which it may change files, and calls look
// after each. Undisturbed it says that, and ends with that status. It is not killed before a
// call has named from.
func killed(t *testing.T, a auditing, from, says string, ends int, line []string, look func(where string)) {
	t.Helper()
	traced := filepath.Join(a.work, "trace")
	out, status := a.run("strace", append([]string{"-f", "--seccomp-bpf", "-qq", "-o", traced, "-e", "trace=" + strings.Join(writingCalls, ","), binary}, line...)...)
	if status != ends || !strings.Contains(string(out), says) {
		t.Fatalf("undisturbed: %d\n%s", status, out)
	}
	trace := must.Get(os.ReadFile(traced))(t)
	type point struct {
		call string
		n    int
	}
	var points []point
	for _, call := range writingCalls {
		first, all := occurrences(string(trace), call, from)
		for n := first; n <= all; n++ {
			points = append(points, point{call, n})
		}
	}
	if len(points) == 0 {
		t.Fatalf("it changes nothing:\n%s", out)
	}
	look("undisturbed")
	step := max(full.Stride(len(points), 2), (len(points)+mostKills-1)/mostKills)
	t.Logf("%d of %d points", (len(points)+step-1)/step, len(points))
	for i := 0; i < len(points); i += step {
		p := points[i]
		a.run("strace", append([]string{"-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n), binary}, line...)...)
		look(fmt.Sprintf("killed at %s %d", p.call, p.n))
	}
}

func killAfterwards(t *testing.T, a auditing, folder, says string, ends int, line []string) {
	before := snapshot(t, filepath.Dir(a.audits()[0]))
	absent := 0
	killed(t, a, a.work, says, ends, line, func(where string) {
		if !maps.EqualFunc(before, snapshot(t, filepath.Dir(a.audits()[0])), bytes.Equal) {
			t.Errorf("%s: the audit is not as it was", where)
		}
		left, whole := kept(t, folder)
		if whole == 0 {
			absent++
		}
		if filepath.Base(folder) == "updates" && whole != left {
			t.Errorf("%s: an update without a result is there", where)
		}
		if out, status := a.run(binary, line...); status != ends {
			t.Fatalf("%s: the next one: %d\n%s", where, status, out)
		}
		// A result that was being written is there when somebody looks.
		if all, now := kept(t, folder); all != whole+1 && all != left+1 || now != all {
			t.Errorf("%s: %d folders, of which %d have a result, are %d and %d after the next one", where, left, whole, all, now)
		}
		found, _ := filepath.Glob(filepath.Join(folder, "2026-*"))
		for _, one := range found {
			if out, status := a.run(binary, "verify", one); status != 0 {
				t.Errorf("%s: it does not verify: %d\n%s", where, status, out)
			}
		}
		must.Do(t, os.RemoveAll(folder))
	})
	if absent == 0 {
		t.Error("no kill came before the end: nothing was tried")
	}
}

// kept counts the folders in a folder that are no drafts, and those that have a result.
func kept(t *testing.T, dir string) (all, whole int) {
	t.Helper()
	for _, name := range []struct {
		pattern string
		n       *int
	}{{"2026-*", &all}, {"2026-*/result.json", &whole}} {
		found := must.Get(filepath.Glob(filepath.Join(dir, name.pattern)))(t)
		*name.n = len(found)
	}
	return all, whole
}
