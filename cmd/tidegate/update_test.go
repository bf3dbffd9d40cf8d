package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// changing is a site whose page a test changes. It says when nothing has changed.
type changing struct {
	*httptest.Server
	page    atomic.Value // string
	status  atomic.Int64
	without atomic.Int64 // requests that did not say what is known
}

func newChanging(t *testing.T, page string) *changing {
	c := &changing{}
	c.page.Store(page)
	c.status.Store(200)
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := c.page.Load().(string)
	tag := `"` + codec.DigestBytes([]byte(page)) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == "" {
		c.without.Add(1)
	}
	switch status := int(c.status.Load()); {
	case status != 200:
		w.WriteHeader(status)
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		fmt.Fprint(w, page)
	}
}

const ferryPage = "<!doctype html><title>The ferry Ampere</title><p>The ferry Ampere carries 120 cars and 360 passengers across the fjord.</p><p>Its battery holds 1.04 MWh and weighs ten tonnes.</p>"

// TestUpdateSaysWhatNoLongerStands updates an audit over a web that changes, and looks at
// what is printed, told and returned.
func TestUpdateSaysWhatNoLongerStands(t *testing.T) {
	t.Parallel()
	site := newChanging(t, ferryPage)
	home := t.TempDir()
	variables := map[string]string{"TIDEGATE_HOME": home, "TIDEGATE_FETCH_ALLOW": strings.TrimPrefix(site.URL, "http://")}
	report := filepath.Join(home, "report.md")
	text := "The ferry carries 120 cars across the fjord [1]. Its battery holds 1.04 MWh [1].\n\n# References\n\n[1] " + site.URL + "/ampere\n"
	must.Do(t, os.WriteFile(report, []byte(text), 0o600))
	if out, status := typedIn(t.Context(), home, variables, "audit", report); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	ids, err := os.ReadDir(filepath.Join(home, "audits"))
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	site.without.Store(0)
	for _, step := range []struct {
		name, page string
		code       int
		want       int
		says       []string
	}{
		{"nothing changed", ferryPage, 200, 0, []string{"2 sentences that cite: 2 stand", "same", "the server says that the archived page has not changed"}},
		{"a number changed", strings.Replace(ferryPage, "120 cars", "140 cars", 1), 200, 1, []string{"1 stands, 1 changed", "Line 1: changed", "[-120-] {+140+}"}},
		{"the page is gone", ferryPage, 404, 1, []string{"2 gone", "no such page"}},
		{"a wall", ferryPage, 403, 1, []string{"2 behind a wall now"}},
		{"the server fails", ferryPage, 500, 4, []string{"2 not reachable", "the server failed"}},
	} {
		site.page.Store(step.page)
		site.status.Store(int64(step.code))
		told := filepath.Join(home, "told")
		out, status := typedIn(t.Context(), home, variables, "run", "update", ids[0].Name(), "--notify", "cat > '"+told+"'")
		if status != step.want {
			t.Errorf("%s: status %d, want %d\n%s", step.name, status, step.want, out)
		}
		for _, says := range step.says {
			if !strings.Contains(out, says) {
				t.Errorf("%s: it does not say %q:\n%s", step.name, says, out)
			}
		}
		if data, err := os.ReadFile(told); err != nil || !strings.Contains(string(data), `"update_id"`) {
			t.Errorf("%s: others are told %s, %v", step.name, data, err)
		}
	}
	if n := site.without.Load(); n != 0 {
		t.Errorf("%d requests did not say what is known of the page", n)
	}
	site.status.Store(200)
	if out, status := typedIn(t.Context(), home, variables, "run", "update", ids[0].Name(), "--format", "json"); status != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"state":"stands"`) {
		t.Errorf("%d: %s", status, out)
	}
	for _, bad := range []string{"1s", "daily", "-24h"} {
		if out, status := typedIn(t.Context(), home, variables, "run", "update", ids[0].Name(), "--every="+bad); status != 2 || !strings.Contains(out, "a minute or more") {
			t.Errorf("--every %s: %d %s", bad, status, out)
		}
	}
	if out, status := typedIn(t.Context(), home, variables, "run", "update", "nowhere"); status != 3 || !strings.Contains(out, "no run and no audit") {
		t.Errorf("%d: %s", status, out)
	}
}

// TestUpdateEvery updates again and again until it is interrupted.
func TestUpdateEvery(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	ctx, stop := context.WithCancel(t.Context())
	var out strings.Builder
	s.stdout = writes(func(data []byte) {
		out.Write(data)
		if strings.Contains(out.String(), `"update_id"`) {
			stop()
		}
	})
	if status := s.run(ctx, "run", "update", "harbour", "--every", "24h", "--format", "json"); status != 130 || strings.Count(out.String(), `"update_id"`) != 1 {
		t.Errorf("status %d:\n%s", status, out.String())
	}
	made, err := filepath.Glob(filepath.Join(home, "updates", "2026-*"))
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	if status := s.run(t.Context(), "verify", filepath.Base(made[0])); status != 0 || !strings.Contains(out.String(), "0 differences") {
		t.Errorf("the update does not verify: %d\n%s", status, out.String())
	}
	if !strings.Contains(out.String(), `"pass":true`) || !strings.Contains(out.String(), `"kind":"run"`) {
		t.Errorf("the demo does not stand on its own pages:\n%s", out.String())
	}
}

type writes func(data []byte)

func (w writes) Write(data []byte) (int, error) { w(data); return len(data), nil }

// demoRun is the run of the demo, harbour, completed, in a home; its pages are at hand.
func demoRun(t *testing.T, home string) surroundings {
	t.Helper()
	done := must.Get(theResearch())(t)
	must.Do(t, os.CopyFS(home, os.DirFS(done.folder)))
	variables := map[string]string{"TIDEGATE_HOME": home, "TIDEGATE_NOW": "2026-05-04T10:00:00Z", "PATH": os.Getenv("PATH"), "HOME": home, "XDG_CONFIG_HOME": home}
	return surroundings{dir: home, getenv: func(name string) string { return variables[name] }, stdout: io.Discard, stderr: io.Discard, fetch: demo.Pages{Now: time.Now}.Fetch}
}

// TestUpdateRewrites updates the run of the demo over a web in which a price has changed, and
// begins a run for the sentences that no longer stand, and for those beside which something new
// stands, so that its reader judges them. In the short form that run has tokens
// for its plan alone.
func TestUpdateRewrites(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	pages := s.fetch
	s.fetch = func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return pages(ctx, urls, func(batch []*archive.Packed) error {
			for i, packed := range batch {
				c := packed.Capture()
				if len(c.Hops) > 0 {
					last := &c.Hops[len(c.Hops)-1]
					last.Body = bytes.ReplaceAll(last.Body, []byte("7.2 million"), []byte("8.9 million"))
					if bytes.Contains(last.Body, []byte("8.9 million")) {
						last.Body = bytes.ReplaceAll(last.Body, []byte("</p>"), []byte(" It is told to visitors.</p>"))
					}
				}
				var err error
				if batch[i], err = archive.Pack(c); err != nil {
					return err
				}
			}
			return keep(batch)
		})
	}
	var out strings.Builder
	s.stdout, s.stderr = &out, &out
	before := snapshot(t, filepath.Join(home, "runs", "harbour"))
	lines := taught(t)
	if status := s.run(t.Context(), typedWords(lines[0])...); status != 1 || !strings.Contains(out.String(), "{+8.9+}") {
		t.Fatalf("%d: %s", status, out.String())
	}
	out.Reset()
	args, want, end := append(typedWords(lines[1]), "--agent", "recorded:demo", "--parallel", "1", "--yes"), 0, "completed: every gate passed by its judge"
	if !full.Asked() {
		args, want, end = append(args, "--max-tokens", "1000"), 4, "the budget is used up: "
	}
	if status := s.run(t.Context(), args...); status != want || !strings.Contains(out.String(), "[-7.2-]") || !strings.Contains(out.String(), end) {
		t.Fatalf("%d: %s", status, out.String())
	}
	read := func(name string) string {
		data := must.Get(os.ReadFile(filepath.Join(home, "runs", "harbour-2", name)))(t)
		return string(data)
	}
	if text := read("run-config/earlier.json"); !strings.Contains(text, `"kind": "changed"`) || !strings.Contains(text, `"changed": [`+"\n    \"https://shipyardledger.example/orders/tugs-2025\"") {
		t.Errorf("the run does not know what changed:\n%s", text)
	}
	if prompt := read("jobs/perspectives/001/prompt.md"); !strings.Contains(prompt, "- changed: ") || strings.Contains(prompt, "changed: changed:") || !strings.Contains(prompt, "{+8.9+}") ||
		!strings.Contains(prompt, "- changed: something new stands beside it: ") || !strings.Contains(prompt, "New there: It is told to visitors.") {
		t.Errorf("the planner is not shown what changed:\n%s", prompt)
	}
	for name, data := range snapshot(t, filepath.Join(home, "runs", "harbour")) {
		if before[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
	checks := [][]string{{"run", "verify", "harbour-2"}}
	if full.Asked() {
		checks = append(checks, []string{"run", "replay", "harbour-2"})
	}
	for _, check := range checks {
		if status := s.run(t.Context(), check...); status != 0 {
			t.Errorf("%v: %d\n%s", check, status, out.String())
		}
	}
	out.Reset()
	if status := s.run(t.Context(), "run", "update", "harbour", "--rewrite", "--every", "24h"); status != 2 || !strings.Contains(out.String(), "give --every or --rewrite") {
		t.Errorf("%d: %s", status, out.String())
	}
}

// TestTheUnitsOfTheDocumentsAreUnits takes the timer and its service out of the document:
// systemd accepts them, and they and the line for cron start a command that there is.
func TestTheUnitsOfTheDocumentsAreUnits(t *testing.T) {
	t.Parallel()
	text := documents(t)["docs/guide.md"]
	dir := t.TempDir()
	var files []string
	for _, b := range blocksOf(text) {
		unit := strings.Join(b.lines, "\n") + "\n"
		name := "tidegate-update@harbour.service"
		switch {
		case strings.Contains(unit, "[Timer]"):
			name = "tidegate-update@harbour.timer"
		case !strings.Contains(unit, "[Service]"):
			continue
		}
		if _, line, found := strings.Cut(unit, "ExecStart="); found {
			line, _, _ = strings.Cut(line, "\n")
			if problem := refuses(strings.ReplaceAll(line, "%i", "harbour")); problem != "" {
				t.Errorf("%s: %s", line, problem)
			}
			unit = strings.Replace(unit, "ExecStart=tidegate", "ExecStart=/bin/true", 1)
		}
		files = append(files, filepath.Join(dir, name))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(unit), 0o600))
	}
	if len(files) != 2 {
		t.Fatalf("the document has the units %v", files)
	}
	_, cron, found := strings.Cut(text, "With cron: `17 5 * * * ")
	cron, _, _ = strings.Cut(cron, " ||")
	if problem := refuses(cron); !found || problem != "" {
		t.Errorf("%q: %s", cron, problem)
	}
	verify := exec.Command("systemd-analyze", append([]string{"verify", "--user", "--man=no", "--recursive-errors=no"}, files...)...)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := verify.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) || strings.Contains(string(out), "Failed to initialize manager") {
		t.Skipf("systemd cannot be asked: %v", err)
	}
	if err != nil || strings.Contains(string(out), "tidegate-update") {
		t.Errorf("%v\n%s", err, out)
	}
}
