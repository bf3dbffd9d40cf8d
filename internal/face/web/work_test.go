package web_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

const recordedAgents = "[agents.default]\ndriver = \"recorded:demo\"\n"

// working lets the pages of a folder start work for an amount, with the agents of the
// person's own file.
func working(t testing.TB, folder, file string, allowed float64) *web.Site {
	t.Helper()
	env := environment(folder)
	env.ConfigDir = filepath.Join(folder, "config")
	must.Do(t, os.MkdirAll(env.ConfigDir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(env.ConfigDir, "tidegate.toml"), []byte(file), 0o600))
	s := site(folder)
	commands := recorded(env)
	works := must.Get(commands.OpenBackground(t.Context(), allowed))(t)
	t.Cleanup(func() {
		if s.Background == works { // else the test has ended it
			works.End()
		}
	})
	s.Background, s.Standing = works, commands.Standing
	return s
}

// restarted ends the work of a site, and is the site of the server that comes after it.
func restarted(t *testing.T, s *web.Site, file string, allowed float64) *web.Site {
	t.Helper()
	s.Background.End()
	s.Background = nil
	return working(t, s.Project, file, allowed)
}

// becomes waits until the run of the demo has a status.
func becomes(t *testing.T, s *web.Site, want run.Status) {
	t.Helper()
	manifest := filepath.Join(s.Home, "harbour", run.ManifestFile)
	r := must.Get(run.Open(t.Context(), s.Desk, manifest))(t)
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

// begun asks the question of the demo on the page, and waits for its plan.
func begun(t *testing.T, b *browser) {
	t.Helper()
	if status, page, to := b.fill(t, "/new?question="+url.QueryEscape(demo.Question), nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("the question is answered with %d, %s: %s", status, to, words(page))
	}
	b.shows(t, "/runs/harbour", "Begin the research?")
}

// TestARunFromThePage takes a question to its report without scripts: the plan before and
// after the planner, what is sent where, the yes, and what was spent in the end.
func TestARunFromThePage(t *testing.T) {
	full.Story(t)
	t.Parallel()
	folder := t.TempDir()
	s := working(t, folder, recordedAgents, 20)
	b := visit(t, s, nil)
	_, list := b.get(t, "/")
	inOrder(t, list, `action="/new"`, `name="question"`, "At most $5.00", "More choices")
	if status, page, to := b.again(t, "/new", list, url.Values{"question": {demo.Question}}); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	if status, page, _ := b.again(t, "/new", list, url.Values{"question": {demo.Question}}); status != http.StatusConflict || !strings.Contains(page, "was sent already") || !strings.Contains(html.UnescapeString(page), demo.Question) {
		t.Errorf("the same form again: %d: %s", status, words(page))
	}
	plan := b.shows(t, "/runs/harbour", "Begin the research?") // the run leads to its plan
	inOrder(t, html.UnescapeString(plan), "Expected cost: none", "It stops at $5.00", "economics", "What it costs over fifteen years", "Another perspective", "Yes, begin", `href="/">Not now`, "Agents, limits, and what is sent where", "recorded:demo", "Budget", "USD in all", "What is sent where", "Nothing is sent to a model")
	if status, page, to := b.again(t, "/runs/harbour/plan", plan, nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	becomes(t, s, run.Completed)
	b.shows(t, "/runs/harbour", "Ask these pages a further question")
	b.shows(t, "/new", "$20.00 are left of the $20.00") // recorded agents cost nothing
	if status, page, to := b.fill(t, "/runs/harbour/ask?question=Who+painted+the+Mona+Lisa%3F", url.Values{"most_usd": {"x"}}); status != http.StatusBadRequest || !strings.Contains(page, "Mona Lisa") {
		t.Errorf("an amount that is none: %d %s: %s", status, to, words(page))
	}
	if status, page, to := b.fill(t, "/runs/harbour/ask?question=Who+painted+the+Mona+Lisa%3F", nil); status != http.StatusSeeOther || to != "/runs/harbour/report#asked" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	page := b.shows(t, "/runs/harbour/report", "not answered")
	inOrder(t, html.UnescapeString(page), "not answered", `href="/answers/`, "Who painted the Mona Lisa?", "The archived pages do not answer this question.")
	_, answer, _ := strings.Cut(page, `href="/answers/`)
	answer, _, _ = strings.Cut(answer, `"`)
	_, page = b.get(t, "/answers/"+answer)
	inOrder(t, html.UnescapeString(page), "do not answer it", "no agent was asked", `href="/runs/harbour/report"`, "Who painted the Mona Lisa?", "tidegate research 'Who painted the Mona Lisa?'")
	if info, err := os.Stat(filepath.Join(folder, "work.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what was spent is kept as %v, %v", info, err)
	}
	status2, late, _ := b.again(t, "/runs/harbour/plan", plan, nil)
	if status2 != http.StatusConflict || !strings.Contains(late, "it was decided already") {
		t.Errorf("a late yes is answered with %d: %s", status2, words(late))
	}
	r := must.Get(run.Open(t.Context(), s.Desk, filepath.Join(s.Home, "harbour", run.ManifestFile)))(t)
	defer r.Close()
	entries, err := r.EventsOf(run.EventCreated)
	if err != nil || entries[0].Entry.Get("by").Str() != "token" {
		t.Errorf("the log says %v, %v", entries, err)
	}
}

// TestARetryIsTakenOnce has the form of a retry sent from three tabs at once, and again by one
// that was left open. No second server works in the home.
func TestARetryIsTakenOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one := working(t, folder, failing, 20)
	env := environment(folder)
	env.ConfigDir = filepath.Join(folder, "config")
	if _, err := recorded(env).OpenBackground(t.Context(), 20); tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("a second server works there: %v", err)
	}
	tabs := []*browser{visit(t, one, nil), visit(t, one, nil), visit(t, one, nil)}
	if status, page, to := tabs[0].fill(t, "/new?question=Does+it+rain+more%3F", nil); status != http.StatusSeeOther || to != "/runs/does-it-rain-more" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	const here = "/runs/does-it-rain-more"
	tabs[0].shows(t, here, "needs you")
	pages := make([]string, len(tabs))
	for i, b := range tabs {
		_, pages[i] = b.get(t, here+"/retry/perspectives")
	}
	taken := make([]bool, len(tabs))
	var sent sync.WaitGroup
	for i, b := range tabs {
		sent.Go(func() {
			status, _, _ := b.again(t, here+"/retry/perspectives", pages[i], url.Values{"note": {"name three"}})
			taken[i] = status == http.StatusSeeOther
		})
	}
	sent.Wait()
	n := 0
	for _, one := range taken {
		if one {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d were taken", n, len(tabs))
	}
	tabs[0].shows(t, here+"/log", "name three")
	tabs[0].shows(t, here, "needs you")
	if status, page, _ := tabs[1].again(t, here+"/retry/perspectives", pages[1], url.Values{"note": {"name three"}}); status == http.StatusSeeOther {
		t.Errorf("the form that was left open is taken: %s", words(page))
	}
}

// failing are agents that do nothing but fail, and could cost something.
const failing = "[agents.default]\ndriver = \"exec:false\"\nprice = { input = 1, output = 1 }\n"

// TestWhatWentWrongIsTriedAgain: a run whose agents fail needs the person, who tries a job
// again with a note, from the page, and is told what is wrong with what they fill in.
func TestWhatWentWrongIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := working(t, t.TempDir(), failing, 20)
	b := visit(t, s, nil)
	if status, page, to := b.fill(t, "/new?question=Does+it+rain+more%3F", nil); status != http.StatusSeeOther || to != "/runs/does-it-rain-more" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	const here = "/runs/does-it-rain-more"
	page := b.shows(t, here, "needs you")
	inOrder(t, page, `action="`+here+`/retry/perspectives"`, "Try again with this note")
	if status, page := b.get(t, here+"/continue"); status != http.StatusOK {
		t.Errorf("%d: %s", status, words(page))
	}
	if status, page, _ := b.fill(t, here+"/continue", nil); status != http.StatusConflict || !strings.Contains(page, "needs a decision") {
		t.Errorf("a run that needs a decision is continued: %d: %s", status, words(page))
	}
	if status, page, _ := b.fill(t, here+"/retry/perspectives", url.Values{"note": {" "}}); status != http.StatusBadRequest || !strings.Contains(page, "the note is missing") {
		t.Errorf("no note: %d: %s", status, words(page))
	}
	if status, page, to := b.fill(t, here+"/retry/perspectives", url.Values{"note": {"name <b>three</b>"}}); status != http.StatusSeeOther || to != here {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	if page := b.shows(t, here+"/log", "name <b>three</b>"); strings.Contains(page, "<b>three") {
		t.Error("a note acts on the page")
	}
	if status, _ := b.get(t, here+"/retry/none"); status != http.StatusNotFound {
		t.Errorf("a job that is not there: %d", status)
	}
}

// TestNoWorkWithoutLeave: where nobody allowed work, no page offers any, and none is taken.
func TestNoWorkWithoutLeave(t *testing.T) {
	t.Parallel()
	s, _, _ := newRun(t)
	b := visit(t, deciding(s), nil)
	for _, path := range []string{"/new", "/new/audit", "/runs/rain/plan", "/runs/rain/continue", "/runs/rain/retry/perspectives", "/runs/rain/ask"} {
		if status, _ := b.get(t, path); status != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, status)
		}
		if status, _, _ := b.send(t, path, b.base, url.Values{"form_token": {"x"}}); status != http.StatusMethodNotAllowed {
			t.Errorf("what is sent to %s is answered with %d", path, status)
		}
	}
	for _, path := range []string{"/", "/audits", "/runs/rain"} {
		if _, page := b.get(t, path); strings.Contains(page, `/new`) || strings.Contains(page, "/continue") {
			t.Errorf("%s offers work: %s", path, words(page))
		}
	}
}

// waiting is a file whose agents never answer.
const waiting = "[agents.default]\ndriver = \"exec:sleep 600\"\nprice = { input = 1, output = 1 }\n"

// TestWorkStaysWithinItsMoney sends the same yes many times at once: no more runs begin than
// the amount allows, and what they may cost is kept over a restart.
func TestWorkStaysWithinItsMoney(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := working(t, folder, waiting, 5)
	b := visit(t, s, nil)
	var plans []string
	for range 6 {
		_, form := b.get(t, "/new?question=Does+it+rain+more%3F")
		plans = append(plans, form)
	}
	var begun, refused atomic.Int32
	var all sync.WaitGroup
	for _, plan := range plans {
		all.Go(func() {
			switch status, page, _ := b.again(t, "/new", plan, url.Values{"most_usd": {"2"}}); {
			case status == http.StatusSeeOther:
				begun.Add(1)
			case status == http.StatusConflict && strings.Contains(html.UnescapeString(page), "1.00 USD are left of the 5.00 that `serve --allow-work` allows"):
				refused.Add(1)
			default:
				t.Errorf("%d: %s", status, words(page))
			}
		})
	}
	all.Wait()
	if begun.Load() != 2 || refused.Load() != 4 {
		t.Errorf("%d begin and %d do not", begun.Load(), refused.Load())
	}
	if _, err := recorded(environment(folder)).OpenBackground(t.Context(), 5); tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("a second server spends in the same home: %v", err)
	}
	// A killed server leaves what it put aside.
	killed := must.Get(os.ReadFile(filepath.Join(folder, "work.json")))(t)
	s = restarted(t, s, waiting, 5)
	if left, _ := s.Background.Left(); left != 5 {
		t.Errorf("runs that cost nothing leave %v", left)
	}
	s.Background.End()
	s.Background = nil
	unknown := bytes.ReplaceAll(killed, []byte(`"does-it-rain-more-2"`), []byte(`"gone"`))
	must.Do(t, os.WriteFile(filepath.Join(folder, "work.json"), unknown, 0o600))
	s = working(t, folder, waiting, 5)
	if left, _ := s.Background.Left(); left != 3 {
		t.Errorf("a run that is gone counts with the most that it may have cost, and %v are left", left)
	}
	s.Background.End()
	s.Background = nil
	must.Do(t, os.WriteFile(filepath.Join(folder, "work.json"), []byte(`{"works":[]}`), 0o600))
	if _, err := recorded(environment(folder)).OpenBackground(t.Context(), 5); tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
		t.Errorf("a damaged ledger is taken: %v", err)
	}
}

// TestALimitIsRaisedWithinTheMoney: who decides raises what a run may cost that the server
// drives only as far as the server may spend, and what is raised is put aside.
func TestALimitIsRaisedWithinTheMoney(t *testing.T) {
	t.Parallel()
	s := deciding(working(t, t.TempDir(), waiting, 5))
	s.Users = user.List{Home: s.Project, Now: s.Desk.Now}
	b := visit(t, s, nil)
	if status, page, _ := b.fill(t, "/new?question=Does+it+rain+more%3F", url.Values{"most_usd": {"2"}}); status != http.StatusSeeOther {
		t.Fatalf("%d: %s", status, words(page))
	}
	given := must.Get(s.Users.Add(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), "dora", user.Decide, 0))(t)
	b.get(t, "/?token="+given)
	const here = "/runs/does-it-rain-more/decide/run-limit"
	raise := func(to string) (int, string) {
		status, page, _ := b.send(t, here, b.base, b.confirmation(t, here, url.Values{"name": {"max_cost_usd"}, "value": {to}, "reason": {"more"}}))
		return status, html.UnescapeString(page)
	}
	if status, page := raise("5.01"); status != http.StatusConflict || !strings.Contains(page, "3.00 USD are left") {
		t.Errorf("more than is left: %d: %s", status, words(page))
	}
	if status, page := raise("4"); status != http.StatusSeeOther {
		t.Errorf("what is left: %d: %s", status, words(page))
	}
	if left, _ := s.Background.Left(); left != 1 {
		t.Errorf("%v are left", left)
	}
	if status, page := raise("1"); status != http.StatusSeeOther {
		t.Errorf("less than before: %d: %s", status, words(page))
	}

	// The price of one model does not pay for another.
	b = visit(t, restarted(t, s, waiting+"model = \"large\"\n", 5), nil)
	if status, page, _ := b.fill(t, "/runs/does-it-rain-more/continue", nil); status != http.StatusConflict || !strings.Contains(page, "names exec large") {
		t.Errorf("with another model: %d: %s", status, words(page))
	}
}

// TestAPlanIsEditedAndARunContinued: a plan is edited on the page and outlives the server, the
// run that a server left is continued by the next one, and two tabs decide once.
func TestAPlanIsEditedAndARunContinued(t *testing.T) {
	t.Parallel()
	s := working(t, t.TempDir(), recordedAgents, 20)
	b := visit(t, s, nil)
	begun(t, b)
	s = restarted(t, s, recordedAgents, 20)
	b = visit(t, s, nil)
	_, shown := b.get(t, "/runs/harbour/plan")
	if status, page, _ := b.fill(t, "/runs/harbour/plan", url.Values{"words0": {"many"}, "title1": {"Air & <i>carbon</i>"}}); status != http.StatusBadRequest ||
		!strings.Contains(html.UnescapeString(page), `must be a whole number, got "many"`) || !strings.Contains(page, "Air &amp; &lt;i&gt;carbon&lt;/i&gt;") {
		t.Errorf("words that are no number: %d: %s", status, words(page))
	}
	if status, page, _ := b.fill(t, "/runs/harbour/plan", url.Values{"sections0": {""}}); status != http.StatusBadRequest || !strings.Contains(page, "role=\"alert\"") {
		t.Errorf("no sections: %d: %s", status, words(page))
	}
	_, other := b.get(t, "/runs/harbour/plan")
	if status, page, _ := b.again(t, "/runs/harbour/plan", shown, url.Values{"title0": {""}, "title1": {"What changes in the air"}, "title6": {"Who trains the crews"}}); status != http.StatusSeeOther {
		t.Fatalf("%d: %s", status, words(page))
	}
	planned := string(must.Get(os.ReadFile(filepath.Join(s.Home, "harbour", "perspectives.json")))(t))
	if strings.Contains(planned, "What it costs over fifteen years") || !strings.Contains(planned, "What changes in the air") || !strings.Contains(planned, "Who trains the crews") {
		t.Errorf("the plan is %s", planned)
	}
	if status, page, _ := b.again(t, "/runs/harbour/plan", other, nil); status != http.StatusConflict || !strings.Contains(page, "it was decided already") {
		t.Errorf("the yes of the other tab: %d: %s", status, words(page))
	}
	s = restarted(t, s, recordedAgents, 20)
	b = visit(t, s, nil)
	inOrder(t, b.shows(t, "/runs/harbour", "Continue it here"), "nobody drives it", `href="/runs/harbour/continue"`)
	_, shown = b.get(t, "/runs/harbour/continue")
	inOrder(t, html.UnescapeString(shown), "Continue this run?", "spent so far", "$0.00", "its limit", "$5.00", "left here", "$20.00 of the $20.00")
	if status, page, to := b.again(t, "/runs/harbour/continue", shown, nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	if status, page, _ := b.again(t, "/runs/harbour/continue", shown, nil); status != http.StatusConflict || !strings.Contains(page, "was sent already") {
		t.Errorf("the same form again: %d: %s", status, words(page))
	}
	other = restartedFile
	s = restarted(t, s, other, 2)
	b = visit(t, s, nil)
	if status, page, _ := b.fill(t, "/runs/harbour/continue", nil); status != http.StatusConflict || !strings.Contains(html.UnescapeString(page), "your own tidegate.toml names exec") {
		t.Errorf("a run goes on with other agents than it has: %d: %s", status, words(page))
	}
	if status, page := b.get(t, "/runs/harbour/continue"); !strings.Contains(html.UnescapeString(page), "$5.00 → $2.00") {
		t.Errorf("a limit that is lowered is not shown: %d: %s", status, words(page))
	}
}

const restartedFile = "[agents.default]\ndriver = \"exec:false\"\nprice = { input = 1, output = 1 }\n"

// TestOnlyThePersonsOwnAgents: neither the project's file, nor a form, nor what the person's
// file says of cells changes who works and how they are kept.
func TestOnlyThePersonsOwnAgents(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "tidegate.toml"), []byte("[agents.default]\ndriver = \"claude\"\n"), 0o600))
	s := working(t, folder, "[agents]\nconfine = false\n[agents.default]\ndriver = \"exec:false\"\nprice = { input = 1, output = 1 }\n", 20)
	b := visit(t, s, nil)
	status, page, _ := b.fill(t, "/new?question=Does+it+rain%3F", url.Values{"agent": {"exec:touch /tmp/x"}, "unconfined": {"true"}})
	if status != http.StatusSeeOther {
		t.Fatalf("%d: %s", status, words(page))
	}
	if text := html.UnescapeString(b.shows(t, "/runs/does-it-rain/made", "confined to cells")); strings.Contains(text, "touch") || strings.Contains(text, "claude") {
		t.Errorf("other agents than the person's own: %s", words(text))
	}
	for name, value := range map[string]string{"template": "/etc/passwd", "perspectives": "/etc/passwd", "sensitivity": "all", "length": "../x", "most_usd": "-1", "language": "xx-<b>", "question": "  "} {
		status, page, _ := b.fill(t, "/new?question=Does+it+rain%3F", url.Values{name: {value}})
		if status != http.StatusBadRequest || !strings.Contains(page, `role="alert"`) || name != "question" && !strings.Contains(page, "Does it rain?") {
			t.Errorf("%s %q: %d: %s", name, value, status, words(page))
		}
	}
	if status, page, _ := b.fill(t, "/new", url.Values{"question": {strings.Repeat("rain ", 200_000)}}); status != http.StatusBadRequest || !strings.Contains(page, "too large") {
		t.Errorf("a question of a megabyte: %d: %s", status, words(page))
	}
	none := working(t, t.TempDir(), "", 20)
	if status, page, _ := visit(t, none, nil).fill(t, "/new?question=Does+it+rain%3F", nil); status != http.StatusConflict || !strings.Contains(page, "tidegate setup") {
		t.Errorf("without agents: %d: %s", status, words(page))
	}
	typed := t.TempDir()
	if status := program(typed)(t.Context(), []string{"research", demo.Question, "--agent", "recorded:demo", "--plan-only", "--yes"}); status != 0 {
		t.Fatalf("the run cannot be planned: %d", status)
	}
	// The plan of a terminal is agreed to here, with the agents that are here and their price.
	s = working(t, typed, recordedAgents, 20)
	b = visit(t, s, nil)
	if status, page := b.get(t, "/runs/harbour/plan"); status != http.StatusOK || strings.Contains(page, "instead of") || !strings.Contains(page, "It stops at $5.00") { // it has no limit of its own
		t.Errorf("the plan of a terminal: %d: %s", status, words(page))
	}
	s = restarted(t, s, restartedFile, 20)
	b = visit(t, s, nil)
	if _, page := b.get(t, "/runs/harbour/plan"); !strings.Contains(html.UnescapeString(page), "writer: exec instead of recorded") {
		t.Errorf("with other agents: %s", words(page))
	}
	s = restarted(t, s, recordedAgents, 20)
	if status, page, to := visit(t, s, nil).fill(t, "/runs/harbour/plan", nil); status != http.StatusSeeOther || to != "/runs/harbour" {
		t.Errorf("the yes is answered with %d, %s: %s", status, to, words(page))
	}
	becomes(t, s, run.Completed)
	unpriced := working(t, t.TempDir(), "[agents.default]\ndriver = \"codex\"\n", 20)
	if status, page, _ := visit(t, unpriced, nil).fill(t, "/new?question=Does+it+rain%3F", nil); status != http.StatusConflict || !strings.Contains(page, "whose cost is known") {
		t.Errorf("an agent that does not say what it costs: %d: %s", status, words(page))
	}
}

// handIn sends a file to the form of audits.
func (b *browser) handIn(t *testing.T, token, name string, data []byte) (status int, body, to string) {
	t.Helper()
	var sent bytes.Buffer
	parts := multipart.NewWriter(&sent)
	must.Do(t, parts.WriteField("form_token", token))
	part := must.Get(parts.CreateFormFile("report", name))(t)
	must.Get(part.Write(data))(t)
	parts.Close()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/new/audit", &sent))(t)
	r.Header.Set("Content-Type", parts.FormDataContentType())
	r.Header.Set("Origin", b.base)
	client := *b.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(page), answer.Header.Get("Location")
}

// bomb is a docx whose text is far larger than its bytes.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	part := must.Get(z.Create("word/document.xml"))(t)
	blank := bytes.Repeat([]byte(" "), 1<<20)
	for range 65 {
		must.Get(part.Write(blank))(t)
	}
	must.Do(t, z.Close())
	return out.Bytes()
}

// TestAFileIsAuditedFromThePage hands over reports, a hostile name among them, and what is no
// report.
func TestAFileIsAuditedFromThePage(t *testing.T) {
	full.Story(t)
	t.Parallel()
	s := working(t, t.TempDir(), "", 20)
	b := visit(t, s, nil)
	form := func() string {
		status, page := b.get(t, "/new/audit")
		if status != http.StatusOK || !strings.Contains(page, `type="file"`) {
			t.Fatalf("%d: %s", status, words(page))
		}
		return filled(page).Get("form_token")
	}
	if status, page, to := b.handIn(t, form(), `..\..\etc/<b onload=x>tugs.md`, []byte(demo.ForeignReport+"\n## Tugs "+bidi+"\n")); status != http.StatusSeeOther || !strings.HasPrefix(to, "/audits/") {
		t.Fatalf("%d %s: %s", status, to, words(page))
	}
	page := b.shows(t, "/audits", "fails")
	if text := html.UnescapeString(page); strings.Contains(page, "<b onload") || !strings.Contains(text, "<b onload=x>tugs.md") || strings.Contains(text, "etc") {
		t.Errorf("the list shows %s", words(page))
	}
	_, list, _ := strings.Cut(page, `<th scope="row" class="what"><a href="`)
	link, _, _ := strings.Cut(list, `"`)
	if status, page := b.get(t, link); status != http.StatusOK || !strings.Contains(page, `Tugs \u202egnp.exe`) || strings.Contains(page, "\u202e") {
		t.Errorf("%s has characters that reorder text: %d: %s", link, status, words(page))
	}
	for _, c := range []struct {
		name, file string
		data       []byte
		token      string
		status     int
		want       string
	}{
		{"nothing", "", nil, form(), 400, "not empty"},
		{"a docx that is none", "x.docx", []byte("PK\x03\x04nothing"), form(), 400, `role="alert"`},
		{"a bomb", "x.docx", bomb(t), form(), 400, "larger than 64 MiB"},
		{"too much", "x.md", bytes.Repeat([]byte("x"), 101<<20), form(), 400, "too large"},
		{"a form that is not ours", "x.md", []byte("# x"), "nonsense", 409, "not one of ours"},
	} {
		if status, page, _ := b.handIn(t, c.token, c.file, c.data); status != c.status || !strings.Contains(page, c.want) {
			t.Errorf("%s: %d: %s", c.name, status, words(page))
		}
	}
}

// TestWorkIsForOurOwnForms: what another site sends, or names another host, or has no
// token, starts nothing, and a form that is too old is shown again with what it holds.
func TestWorkIsForOurOwnForms(t *testing.T) {
	t.Parallel()
	s := working(t, t.TempDir(), recordedAgents, 20)
	at := pinned
	s.Desk.Now = func() time.Time { return at }
	b := visit(t, s, nil)
	_, form := b.get(t, "/new?question=x")
	fields := filled(form)
	for _, origin := range []string{"https://evil.example", "null", ""} {
		if status, _, _ := b.send(t, "/new", origin, fields); status != http.StatusForbidden {
			t.Errorf("from %q: %d", origin, status)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/new", strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Host = "rebound.example"
	r.Header.Set("Origin", "http://rebound.example")
	if answer, err := b.Do(r); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("another host: %v, %v", answer, err)
	}
	stranger := &browser{&http.Client{}, b.base, nil}
	if status, _, _ := stranger.send(t, "/new", b.base, fields); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	if status, _ := b.get(t, "/runs/harbour/decide"); status != http.StatusNotFound {
		t.Errorf("leave to work is no leave to decide: %d", status)
	}
	_, form = b.get(t, "/new?question="+url.QueryEscape(demo.Question))
	at = at.Add(31 * time.Minute)
	if status, page, _ := b.again(t, "/new", form, nil); status != http.StatusConflict || !strings.Contains(page, "too old") || !strings.Contains(html.UnescapeString(page), demo.Question) {
		t.Errorf("a form that is too old: %d: %s", status, words(page))
	}
}

// writeAnswers writes an answer and an update about the run rain, with markup wherever there
// can be any, and returns what writes more files to the folder.
func writeAnswers(t testing.TB, folder string) (write func(path, text string)) {
	t.Helper()
	write = func(path, text string) {
		t.Helper()
		path = filepath.Join(folder, path)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	const of = `{"kind":"run","id":"rain","head":"h","title":"Does it <u>rain</u>?"}`
	write("answers/2026-03-02-aaaaaa/about.json", `{"schema_version":"answer.v1","id":"2026-03-02-aaaaaa","created_at":"2026-03-02T08:00:00Z","of":[`+of+`]}`)
	write("answers/2026-03-02-aaaaaa/result.json", `{"ok":true,"pass":true,"answer_id":"2026-03-02-aaaaaa","of":[`+of+`],"question":"How <script>much</script>?","answer":"It rains.","trust":"1 sentence: 1 stands.",
 "sentences":[{"id":"c1","line":1,"text":"It rains 3 mm more.","form":"cited","cids":["s1"],"standing":"found","findings":[],"windows":[{"cid":"s1","start":0,"end":21,"text":"It rains 3 mm more <b>now</b>.","digest":"d"}],
  "verdict":{"verdict":"supported","words":"3 mm more","because":"it says so"}}],
 "sources":[{"id":"s1","of":"rain","cid":"c","url":"javascript:alert(1)","title":"<img src=x>"}],"next":""}`)
	write("updates/2026-03-02-bbbbbb/about.json", `{"schema_version":"update.v1","id":"2026-03-02-bbbbbb","created_at":"2026-03-02T08:00:00Z","of":[`+of+`]}`)
	write("updates/2026-03-02-bbbbbb/result.json", `{"ok":true,"pass":false,"update_id":"2026-03-02-bbbbbb","of":`+of+`,"summary":{"sentences":2,"stands":1,"changed":1},
 "sentences":[{"id":"c1","line":3,"text":"It stands.","state":"stands","pages":[]},
  {"id":"c2","line":4,"text":"It costs 5 euro.","state":"changed","pages":[{"cid":"k","state":"changed","why":"the page says something else","passages":[{"then":"It costs 5 euro.","now":"It costs 7 euro.","difference":[{"op":"same","text":"It costs "},{"op":"removed","text":"5"},{"op":"added","text":"7 <i>"},{"op":"same","text":" euro."}]}]}]}],
 "sources":[{"cid":"k","url":"https://example.org/a","state":"changed","why":"","text":"other","cited":1}]}`)
	return write
}

// TestAnswersAndUpdatesHavePages shows what was asked and what became of sources, by whoever
// it was written.
func TestAnswersAndUpdatesHavePages(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := site(folder)
	write := writeAnswers(t, folder)
	write("answers/2026-03-02-cccccc/about.json", `nonsense`)
	write("answers/2026-03-02-cccccc/result.json", `nonsense`)
	write("answers/2026-03-02-dddddd/about.json", `{"schema_version":"answer.v1","id":"2026-03-02-dddddd","created_at":"2026-03-02T09:00:00Z","question":"Who pays?","of":[{"kind":"run","id":"rain"}]}`)
	write("answers/2026-03-02-dddddd/result.json", `{"ok":true,"pass":false,"answer_id":"2026-03-02-dddddd","of":[{"kind":"run","id":"rain"}],"question":"Who pays?","why":"the agent failed","sentences":[],"sources":[],"next":""}`)
	b := visit(t, s, nil)
	_, page := b.get(t, "/audits")
	inOrder(t, page, `<span class="sign waiting"`, "Who pays?", "a question, not answered", `<span class="sign good"`, "How &lt;script&gt;much", "a question, answered")
	_, page = b.get(t, "/answers/2026-03-02-aaaaaa")
	inOrder(t, page, `href="/runs/rain/report"`, "How &lt;script&gt;much", "1 sentence: 1 stands.", "It rains 3 mm more.", "It rains <mark>3 mm more</mark> &lt;b&gt;now", ">Sources</h2>", "&lt;img")
	if strings.Contains(page, `href="javascript`) || strings.Contains(page, "<script>much") {
		t.Error("an answer acts on the page")
	}
	_, page = b.get(t, "/updates/2026-03-02-bbbbbb")
	inOrder(t, page, "1 changed since", "2 sentences that cite: 1 stands, 1 changed", "Its sources", "Does it &lt;u&gt;rain", "It stands.", `data-state="changed" id="c2"`, "It costs 5 euro.", `href="https://example.org/a"`, "The page said", "It costs <del", ">5</del>", "It says", "7 &lt;i&gt;</ins>", "the page now says “7 &lt;i&gt;”")
	for _, path := range []string{"/answers/2026-03-02-bbbbbb", "/answers/..%2f..", "/updates/none", "/answers/2026-03-02-cccccc"} {
		if status, _ := b.get(t, path); status == http.StatusOK {
			t.Errorf("%s is answered with %d", path, status)
		}
	}
	must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(t)
	_, page = b.get(t, "/runs/rain/report")
	inOrder(t, page, `href="/updates/2026-03-02-bbbbbb"`, `href="/answers/2026-03-02-aaaaaa"`, "How &lt;script&gt;much")
}
