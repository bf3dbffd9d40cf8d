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
)

// TestWhatComesAfterSurvivesKill kills an update of an audit, and a question about it, at
// every system call with which they change files. The audit is as it was, and the update or
// answer is absent or whole.
func TestWhatComesAfterSurvivesKill(t *testing.T) {
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>A</title><p>The ferry Ampere carries 140 cars and 360 passengers.")
	}))
	t.Cleanup(site.Close)
	t.Setenv("TIDEGATE_FETCH_ALLOW", strings.TrimPrefix(site.URL, "http://"))
	a := newAuditing(t, map[string]string{
		"report.md":        "The ferry carries 120 cars [1].\n\n# References\n\n[1] " + site.URL + "/a\n",
		"pages/index.json": `{"` + site.URL + `/a": "a.html"}`,
		"pages/a.html":     "<!doctype html><title>A</title><p>The ferry Ampere carries 120 cars and 360 passengers.",
	})
	if out, status := a.run(binary, "audit", "report.md", "--pages", "pages"); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	id := filepath.Base(filepath.Dir(a.audits()[0]))
	for _, after := range []struct {
		folder, says string
		line         []string
	}{
		{"updates", "{+140+}", []string{"run", "update", id}},
		{"answers", "do not answer", []string{"ask", id, "Who painted the Mona Lisa?"}},
	} {
		t.Run(after.folder, func(t *testing.T) {
			killAfterwards(t, a, filepath.Join(a.work, "home", after.folder), after.says, after.line)
		})
	}
}

func killAfterwards(t *testing.T, a auditing, folder, says string, line []string) {
	before := snapshot(t, filepath.Dir(a.audits()[0]))
	log := filepath.Join(a.work, "trace")
	if out, status := a.run("strace", append([]string{"-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=" + strings.Join(writingCalls, ","), binary}, line...)...); status != 1 || !strings.Contains(string(out), says) {
		t.Fatalf("undisturbed: %d\n%s", status, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	whole := len(snapshot(t, only(t, folder)))
	type point struct {
		call string
		n    int
	}
	var points []point
	for _, call := range writingCalls {
		first, all := occurrences(string(trace), call, a.work)
		for n := first; n <= all; n++ {
			points = append(points, point{call, n})
		}
	}
	absent := 0
	for i := 0; i < len(points); i += full.Stride(len(points), 15) {
		p := points[i]
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		a.run("strace", append([]string{"-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n), binary}, line...)...)
		where := fmt.Sprintf("killed at %s %d", p.call, p.n)
		if !maps.EqualFunc(before, snapshot(t, filepath.Dir(a.audits()[0])), bytes.Equal) {
			t.Errorf("%s: the audit is not as it was", where)
		}
		if left := only(t, folder); left == "" {
			absent++
		} else if n := len(snapshot(t, left)); n != whole {
			t.Errorf("%s: %d of %d files are there", where, n, whole)
		}
		if out, status := a.run(binary, line...); status != 1 {
			t.Fatalf("%s: the next one: %d\n%s", where, status, out)
		}
	}
	if absent == 0 {
		t.Error("no kill came before the end: nothing was tried")
	}
}

// only is the one folder of a folder that is no draft, "" for none.
func only(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "2026-*"))
	if err != nil || len(found) > 1 {
		t.Fatalf("%v: %v", found, err)
	}
	return strings.Join(found, "")
}
