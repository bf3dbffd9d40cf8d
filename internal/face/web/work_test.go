package web_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/work/run"
)

const recordedAgents = "[agents.default]\ndriver = \"recorded:demo\"\n"

// working lets the pages of a folder start work for an amount, with the agents of the
// person's own file.
func working(t *testing.T, folder, file string, allowed float64) *web.Site {
	t.Helper()
	env := environment(folder)
	env.ConfigDir = filepath.Join(folder, "config")
	if err := os.MkdirAll(env.ConfigDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(env.ConfigDir, "tidegate.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s := site(folder)
	commands := recorded(env)
	works, err := commands.OpenWorks(t.Context(), allowed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(works.End)
	s.Works, s.Standing = works, commands.Standing
	return s
}

// becomes waits until the run of the demo has a status.
func becomes(t *testing.T, s *web.Site, want run.Status) {
	t.Helper()
	manifest := filepath.Join(s.Home, "harbour", run.ManifestFile)
	r, err := run.Open(t.Context(), s.Desk, manifest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, stop := context.WithTimeout(t.Context(), 3*patience)
	defer stop()
	for entry, err := range r.Tail(ctx, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if (entry.Event == run.EventMoved || entry.Event == run.EventStatus) && status(t, manifest) == want {
			return
		}
	}
	t.Fatalf("the run is %s and does not come to be %s", status(t, manifest), want)
}

// shows asks for a page until it shows a text.
func (b *browser) shows(t *testing.T, path, text string) string {
	t.Helper()
	page := ""
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if _, page = b.get(t, path); strings.Contains(html.UnescapeString(page), text) {
			return page
		}
	}
	t.Fatalf("%s does not come to show %q: %s", path, text, words(page))
	return ""
}

// words are what a person reads first on a page.
func words(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	text := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
	return text[:min(len(text), 1500)]
}

var tags = regexp.MustCompile(`<[^>]*>`)

// fill sends the form of a page with some of its fields filled in.
func (b *browser) fill(t *testing.T, path string, fields url.Values) (status int, body, to string) {
	t.Helper()
	status, page := b.get(t, path)
	if status != http.StatusOK {
		t.Fatalf("%s is answered with %d: %s", path, status, words(page))
	}
	return b.again(t, path, page, fields)
}

// again sends the form of a page that was shown.
func (b *browser) again(t *testing.T, path, page string, fields url.Values) (status int, body, to string) {
	t.Helper()
	all := filled(page)
	for name, value := range fields {
		all[name] = value
	}
	path, _, _ = strings.Cut(path, "?")
	return b.send(t, path, b.base, all)
}

var (
	inputs = regexp.MustCompile(`<input [^>]*name="([^"]*)"[^>]* value="([^"]*)"`)
	areas  = regexp.MustCompile(`(?s)<textarea [^>]*name="([^"]*)"[^>]*>\n?(.*?)</textarea>`)
)

// filled are the fields of a page as a browser would send them.
func filled(page string) url.Values {
	out := url.Values{}
	for _, pattern := range []*regexp.Regexp{inputs, areas} {
		for _, m := range pattern.FindAllStringSubmatch(page, -1) {
			out.Set(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
		}
	}
	return out
}

// begun asks the question of the demo on the page, and says yes to both plans.
func begun(t *testing.T, b *browser) {
	t.Helper()
	status, plan, _ := b.fill(t, "/new?question="+url.QueryEscape(demo.Question), nil)
	if status != http.StatusOK || !strings.Contains(plan, "Yes, plan it") {
		t.Fatalf("the question is answered with %d: %s", status, words(plan))
	}
	if status, page, to := b.again(t, "/new", plan, nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("the yes is answered with %d, %s: %s", status, to, words(page))
	}
	b.shows(t, "/runs/harbour", "Look at the plan")
}

// TestARunFromThePage takes a question to its report without scripts: the plan before and
// after the planner, what is sent where, the yes, and what was spent in the end.
func TestARunFromThePage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := working(t, folder, recordedAgents, 20)
	b := visit(t, s, nil)
	_, list := b.get(t, "/")
	inOrder(t, list, `action="/new"`, `name="question"`)
	status, plan, _ := b.fill(t, "/new?question="+url.QueryEscape(demo.Question), nil)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, words(plan))
	}
	inOrder(t, html.UnescapeString(plan), demo.Question, "Agents", "recorded:demo", "Budget", "USD in all", "5", "What it will probably take", "What is sent where", "Nothing is sent to a model", "Yes, plan it", "Edit", "No")
	if left, _ := s.Works.Left(); left != 20 {
		t.Errorf("before the yes %v are left", left)
	}
	if status, page, to := b.again(t, "/new", plan, nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	if status, page, _ := b.again(t, "/new", plan, nil); status != http.StatusConflict || !strings.Contains(page, "was sent already") || !strings.Contains(html.UnescapeString(page), demo.Question) {
		t.Errorf("the second yes is answered with %d: %s", status, words(page))
	}
	waits := b.shows(t, "/runs/harbour", "Look at the plan")
	inOrder(t, waits, "needs you", `href="/runs/harbour/plan"`)
	status, plan = b.get(t, "/runs/harbour/plan")
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, words(plan))
	}
	inOrder(t, html.UnescapeString(plan), "Begin the research?", "Perspectives, with the most words and sources of each", "economics", "What it costs over fifteen years", "Sections that an output must have", "What is sent where", "Yes, begin", `href="/runs/harbour/plan/edit"`, `href="/runs/harbour">No`)
	if status, page, to := b.again(t, "/runs/harbour/plan", plan, nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	becomes(t, s, run.Completed)
	b.shows(t, "/runs/harbour", "Read the report")
	if left, _ := s.Works.Left(); left != 20 {
		t.Errorf("recorded agents cost nothing, and %v are left", left)
	}
	if info, err := os.Stat(filepath.Join(folder, "work.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what was spent is kept as %v, %v", info, err)
	}
	status2, late, _ := b.again(t, "/runs/harbour/plan", plan, nil)
	if status2 != http.StatusConflict || !strings.Contains(late, "it was decided already") {
		t.Errorf("a late yes is answered with %d: %s", status2, words(late))
	}
	r, err := run.Open(t.Context(), s.Desk, filepath.Join(s.Home, "harbour", run.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	entries, err := r.EventsOf(run.EventCreated)
	if err != nil || entries[0].Entry.Get("by").Str() != "token" {
		t.Errorf("the log says %v, %v", entries, err)
	}
}
