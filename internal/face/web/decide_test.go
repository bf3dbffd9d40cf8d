package web_test

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// deciding lets the pages of a site take decisions.
func deciding(s *web.Site) *web.Site {
	s.Decisions = catalog.Tools(environment(s.Project))
	return s
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// send posts a form, with the origin that a browser names, and does not follow
// redirects.
func (b *browser) send(t *testing.T, path, origin string, fields url.Values) (status int, body, to string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+path, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	client := *b.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer := must.Get(client.Do(r))(t)
	defer answer.Body.Close()
	data := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(data), answer.Header.Get("Location")
}

// hiddenFields are the hidden fields of a page.
func hiddenFields(page string) url.Values {
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		out.Set(m[1], m[2])
	}
	return out
}

// decide fills in a form and says yes.
func (b *browser) decide(t *testing.T, path string, fields url.Values) (status int, body, to string) {
	t.Helper()
	return b.send(t, path, b.base, b.confirmation(t, path, fields))
}

// confirmation fills in a form and returns the fields that its yes sends.
func (b *browser) confirmation(t *testing.T, path string, fields url.Values) url.Values {
	t.Helper()
	status, form := b.get(t, path)
	if status != http.StatusOK {
		t.Fatalf("%s is answered with %d:\n%s", path, status, form)
	}
	all := hiddenFields(form)
	for name, value := range fields {
		all[name] = value
	}
	status, asked, _ := b.send(t, path, b.base, all)
	if status != http.StatusOK || !strings.Contains(asked, "Do you mean it?") {
		t.Fatalf("%s is not asked for once more: %d\n%s", path, status, asked)
	}
	return hiddenFields(asked)
}

func status(t testing.TB, manifest string) run.Status {
	t.Helper()
	r := must.Get(run.Open(t.Context(), run.Desk{}, manifest))(t)
	defer r.Close()
	return r.Manifest().Status()
}

// TestDecisionsThatPagesTake lists them: every decision of a person that needs no
// file.
func TestDecisionsThatPagesTake(t *testing.T) {
	t.Parallel()
	s, _, _ := newRun(t)
	_, page := visit(t, deciding(s), nil).get(t, "/runs/rain/decide")
	var got []string
	_, all, _ := strings.Cut(page, `id="d-all"`)
	for _, part := range strings.Split(all, `href="/runs/rain/decide/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		got = append(got, name)
	}
	want := []string{"run-limit", "run-accept", "run-pause", "run-cancel", "run-resume", "job-release", "job-retry", "wave-restore",
		"gate-a", "gate-b", "gate-c", "gate-d", "gate-e", "gate-f", "citations-replace", "claim-accept"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatCanBeDecidedNow: the list follows the state of the run, names what each
// decision is about and what it changes, and leads to a form that is filled in.
func TestWhatCanBeDecidedNow(t *testing.T) {
	t.Parallel()
	offered := func(b *browser, id string) string {
		_, page := b.get(t, "/runs/"+id+"/decide")
		_, page, _ = strings.Cut(page, "What you can decide now")
		page, _, _ = strings.Cut(page, `id="d-all"`)
		return html.UnescapeString(page)
	}
	s, _, _ := newRun(t)
	b := visit(t, deciding(s), nil)
	inOrder(t, offered(b, "rain"), "Hold the run", "created → paused", "Change a limit", "the time in minutes: 240", "End the run for good")
	if status, _, _ := b.decide(t, "/runs/rain/decide/run-pause", nil); status != http.StatusSeeOther {
		t.Fatalf("%d", status)
	}
	if got := offered(b, "rain"); !strings.Contains(got, "Resume the run") || strings.Contains(got, "Hold the run") {
		t.Errorf("a paused run offers %s", got)
	}
	if status, page, _ := b.send(t, "/runs/rain/decide/run-limit", b.base, func() url.Values {
		_, form := b.get(t, "/runs/rain/decide/run-limit")
		fields := hiddenFields(form)
		fields.Set("name", "max_minutes")
		fields.Set("value", "500")
		return fields
	}()); status != http.StatusOK || !strings.Contains(page, "the time in minutes: 240 → 500") {
		t.Errorf("the change of a limit is not shown: %d\n%s", status, page)
	}

	failed := failedRun(t)
	inOrder(t, offered(visit(t, deciding(failed.site), nil), "harbour"), "/decide/job-retry?job_id=perspectives", "Give “Plan the perspectives of the research” its tries again", "Let it try again", "failed → running")
	if completed := offered(visit(t, deciding(demoSite(t)), nil), "harbour"); !strings.Contains(completed, "there is nothing to decide") {
		t.Errorf("a completed run offers %s", completed)
	}
}

// TestWrongInputStaysInItsForm: with what is wrong, and what was typed.
func TestWrongInputStaysInItsForm(t *testing.T) {
	t.Parallel()
	s, _, _ := newRun(t)
	b := visit(t, deciding(s), nil)
	path := "/runs/rain/decide/run-limit"
	_, form := b.get(t, path)
	fields := hiddenFields(form)
	fields.Set("name", "max_minutes")
	fields.Set("value", "a <lot>")
	status, page, _ := b.send(t, path, b.base, fields)
	if status != http.StatusBadRequest {
		t.Errorf("it is answered with %d", status)
	}
	inOrder(t, page, `role="alert"`, "value must be a number", `value="max_minutes"`, `value="a &lt;lot&gt;"`)
	// What only the rules know is wrong comes after the yes, and stays, too.
	status, page, _ = b.decide(t, path, url.Values{"name": {"max_minutes"}, "value": {"-1"}})
	if status != http.StatusBadRequest {
		t.Errorf("it is answered with %d", status)
	}
	inOrder(t, page, `role="alert"`, `value="max_minutes"`, `value="-1"`)
}

// TestTheSecondDecisionHearsOfTheFirst: of three tabs, one ends the run; the others, which
// would hold it and end it, say that it was decided already.
func TestTheSecondDecisionHearsOfTheFirst(t *testing.T) {
	t.Parallel()
	s, _, _ := newRun(t)
	b := visit(t, deciding(s), nil)
	path, before := "/runs/rain/decide/run-pause", "/runs/rain/decide/run-cancel"
	first, second, same := b.confirmation(t, before, nil), b.confirmation(t, path, nil), b.confirmation(t, before, nil)
	if status, _, _ := b.send(t, before, b.base, first); status != http.StatusSeeOther {
		t.Fatalf("the first is answered with %d", status)
	}
	status, page, _ := b.send(t, path, b.base, second)
	if status != http.StatusConflict || !strings.Contains(page, "it was decided already: the run is cancelled.") {
		t.Errorf("the second is answered with %d:\n%s", status, page)
	}
	status, page, _ = b.send(t, before, b.base, same)
	if status != http.StatusConflict || !strings.Contains(page, "it was decided already: the run is cancelled.") {
		t.Errorf("the same is answered with %d:\n%s", status, page)
	}
}

// TestDecisionsAreAskedForTwice: looking at a form and filling it in do nothing;
// the yes does it once, as the person, and leads back to the run.
func TestDecisionsAreAskedForTwice(t *testing.T) {
	t.Parallel()
	s, manifest, _ := newRun(t)
	b := visit(t, deciding(s), nil)
	before := lines(t, manifest)
	yes := b.confirmation(t, "/runs/rain/decide/run-pause", url.Values{"reason": {`lunch <b>"now"</b>`}})
	b.get(t, "/runs/rain/decide/run-pause?reason=x&form_confirm=yes&"+yes.Encode())
	if got := lines(t, manifest); got != before || status(t, manifest) == run.Paused {
		t.Fatalf("%d lines were written before anybody said yes", got-before)
	}
	yes.Set("reason", `lunch <b>"now"</b>`) // as a browser decodes it
	code, body, to := b.send(t, "/runs/rain/decide/run-pause", b.base, yes)
	if code != http.StatusSeeOther || to != "/runs/rain" {
		t.Fatalf("the yes is answered with %d, %q:\n%s", code, to, body)
	}
	if status(t, manifest) != run.Paused {
		t.Error("the run was not paused")
	}
	log := must.Get(run.Log(t.Context(), s.Desk, run.LogInput{ManifestPath: manifest}))(t)
	after := lines(t, manifest)
	if last := log.Entries[len(log.Entries)-1]; last.Entry.Get("actor").Str() != string(tidegate.Person) {
		t.Errorf("the decision is not a person's: %+v", last)
	}
	// The same yes once more, as a double click sends it.
	if code, body, _ := b.send(t, "/runs/rain/decide/run-pause", b.base, yes); code != http.StatusConflict || lines(t, manifest) != after {
		t.Errorf("the second yes is answered with %d:\n%s", code, body)
	}
}

// TestEveryKindOfDecision takes one of each kind.
func TestEveryKindOfDecision(t *testing.T) {
	t.Parallel()
	u := failedRun(t)
	b := visit(t, deciding(u.site), nil)
	for _, c := range []struct {
		what   string
		fields url.Values
		want   int
		log    string
	}{
		{"run-limit", url.Values{"name": {"max_minutes"}, "value": {"300.5"}, "reason": {"more"}}, 303, "max_minutes"},
		{"run-limit", url.Values{"name": {"no_such"}, "value": {"1"}}, 400, ""},
		{"job-retry", url.Values{"job_id": {"perspectives"}, "note": {"write JSON"}}, 303, "write JSON"},
		{"job-retry", url.Values{"job_id": {"nothing"}, "note": {"x"}}, 404, ""},
		{"run-pause", url.Values{"reason": {"lunch"}}, 303, "lunch"},
		{"run-resume", url.Values{"accept": {"yes"}, "reason": {"go on"}}, 409, ""},
		{"run-resume", url.Values{"reason": {"go on"}}, 303, "go on"},
		{"gate-a", url.Values{"accept": {"yes"}, "reason": {"I know"}}, 409, ""},
		{"run-cancel", url.Values{"reason": {"enough"}}, 303, "enough"},
		{"run-resume", url.Values{"accept": {"yes"}, "reason": {"again"}}, 409, ""},
	} {
		before := lines(t, u.manifest)
		got, body, _ := b.decide(t, "/runs/harbour/decide/"+c.what, c.fields)
		if got != c.want {
			t.Errorf("%s %v is answered with %d, want %d:\n%s", c.what, c.fields, got, c.want, body)
		}
		_, log := b.get(t, "/runs/harbour/log?q="+url.QueryEscape(c.log))
		if c.want == 303 && (lines(t, u.manifest) == before || c.log != "" && strings.Contains(log, "Nothing to show")) {
			t.Errorf("%s left no line in the log", c.what)
		}
		if c.want != 303 && lines(t, u.manifest) != before {
			t.Errorf("%s was refused and left a line in the log", c.what)
		}
	}
	if status(t, u.manifest) != run.Cancelled {
		t.Error("the run was not cancelled")
	}
}

// TestAPersonLetsAGatePass: the yes on the page counts as the person's yes that the
// command takes, and every view says so.
func TestAPersonLetsAGatePass(t *testing.T) {
	t.Parallel()
	s := deciding(site(t.TempDir()))
	u := drive(t, s, recordings(t), pages(s), nil)
	for task, more := u.next(t); !strings.HasPrefix(task.Job, "synthesis"); task, more = u.next(t) {
		if !more {
			t.Fatal("the run has ended")
		}
		u.answer()
	}
	b := visit(t, s, nil)
	if code, body, _ := b.decide(t, "/runs/harbour/decide/gate-c", url.Values{"accept": {"yes"}, "reason": {"seen by me"}}); code != http.StatusSeeOther {
		t.Fatalf("it is answered with %d:\n%s", code, body)
	}
	if _, page := b.get(t, "/runs/harbour/gates"); !strings.Contains(page, "accepted by a person") || !strings.Contains(page, "seen by me") {
		t.Error("the gate does not say that a person accepted it")
	}
}

// TestNoPageOfAnotherDecides tries to make a person's browser decide.
func TestNoPageOfAnotherDecides(t *testing.T) {
	t.Parallel()
	s, manifest, _ := newRun(t)
	now := pinned
	s.Desk.Now = func() time.Time { return now }
	b := visit(t, deciding(s), nil)
	const path = "/runs/rain/decide/run-cancel"
	reason := url.Values{"reason": {"x"}}
	fresh := func() url.Values { return b.confirmation(t, path, reason) }
	without := func(v url.Values, name string) url.Values { v.Del(name); return v }
	with := func(v url.Values, name, value string) url.Values { v.Set(name, value); return v }
	elsewhere := visit(t, s, nil)
	for _, c := range []struct {
		name, origin string
		fields       func() url.Values
		want         int
	}{
		{"another site", "https://evil.example", fresh, 403},
		{"another port of this machine", "http://127.0.0.1:1", fresh, 403},
		{"an origin that is hidden", "null", fresh, 403},
		{"no origin", "", fresh, 403},
		{"no token", b.base, func() url.Values { return without(fresh(), "form_token") }, 409},
		{"an invented token", b.base, func() url.Values { return with(fresh(), "form_token", "AAAAAAAAAAAAAAAAAAAAAAAAAA") }, 409},
		{"the token of the form in the place of that of the yes", b.base, func() url.Values {
			_, page := b.get(t, path)
			return with(with(hiddenFields(page), "form_confirm", "yes"), "reason", "x")
		}, 409},
		{"the token of another decision", b.base, func() url.Values {
			return with(b.confirmation(t, "/runs/rain/decide/run-pause", reason), "reason", "x")
		}, 409},
		{"a token for another reason", b.base, func() url.Values { return with(fresh(), "reason", "y") }, 409},
		{"a token of another server", b.base, func() url.Values { return elsewhere.confirmation(t, path, reason) }, 409},
		{"an old token", b.base, func() url.Values {
			defer func() { now = now.Add(time.Hour) }()
			return fresh()
		}, 409},
		{"a field that it does not have", b.base, func() url.Values { return with(fresh(), "manifest_path", "/etc/passwd") }, 400},
	} {
		fields := c.fields()
		before := lines(t, manifest)
		got, body, _ := b.send(t, path, c.origin, fields)
		if got != c.want {
			t.Errorf("%s is answered with %d, want %d:\n%s", c.name, got, c.want, body)
		}
		if lines(t, manifest) != before || status(t, manifest) == run.Cancelled {
			t.Fatalf("%s cancelled the run", c.name)
		}
	}
	for _, kind := range []string{"text/plain", "multipart/form-data; boundary=x", "application/json", ""} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+path, strings.NewReader(fresh().Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", b.base)
		r.Header.Set("Content-Type", kind)
		answer := must.Get(b.Do(r))(t)
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("a form as %q is answered with %d", kind, answer.StatusCode)
		}
	}
	if got, _, _ := (&browser{&http.Client{}, b.base, nil}).send(t, path, b.base, fresh()); got != http.StatusUnauthorized {
		t.Errorf("without the cookie it is answered with %d", got)
	}
	if got, _, _ := b.send(t, path, b.base, with(fresh(), "reason", strings.Repeat("x", 1<<17))); got != http.StatusBadRequest {
		t.Errorf("a form of 128 KB is answered with %d", got)
	}
	if status(t, manifest) == run.Cancelled {
		t.Error("the run was cancelled")
	}
}

// TestWithoutLeavePagesOnlyRead: without decisions there is no form, no page for one
// and no way to send one.
func TestWithoutLeavePagesOnlyRead(t *testing.T) {
	t.Parallel()
	u := failedRun(t)
	b := visit(t, u.site, nil)
	for _, view := range []string{"", "/jobs", "/jobs/perspectives", "/outputs", "/gates", "/sources", "/report", "/log"} {
		_, page := b.get(t, "/runs/harbour"+view)
		if strings.Contains(page, `method="post"`) || strings.Contains(page, "/decide") {
			t.Errorf("%s offers a decision", view)
		}
	}
	for _, path := range []string{"/runs/harbour/decide", "/runs/harbour/decide/run-cancel", "/changes/x/decide/change-resume"} {
		if got, _ := b.get(t, path); got != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, got)
		}
		if got, _, _ := b.send(t, path, b.base, url.Values{"reason": {"x"}}); got != http.StatusMethodNotAllowed {
			t.Errorf("POST to %s is answered with %d", path, got)
		}
	}
}

// TestASignedRunIsDecidedByCommand: where decisions are signed, the page takes none
// and says what to type.
func TestASignedRunIsDecidedByCommand(t *testing.T) {
	t.Parallel()
	s := deciding(site(t.TempDir()))
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	const key = "you@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"
	must.Do(t, os.WriteFile(signers, []byte(key), 0o600))
	made := must.Get(run.Create(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain", SignersPath: signers}))(t)
	manifest := filepath.Join(made.Root, run.ManifestFile)
	b := visit(t, s, nil)
	const path = "/runs/rain/decide/run-pause"
	_, page := b.get(t, path+"?reason=two+words")
	if strings.Contains(page, `method="post"`) || !strings.Contains(page, "tidegate run pause rain --reason &#39;two words&#39; --sign KEY") {
		t.Errorf("the page does not say what to type:\n%s", page)
	}
	before := lines(t, manifest)
	code, body, _ := b.send(t, path, b.base, url.Values{"reason": {"x"}})
	if code != http.StatusConflict || !strings.Contains(body, "tidegate run pause rain --reason x --sign KEY") || lines(t, manifest) != before {
		t.Errorf("it is answered with %d:\n%s", code, body)
	}
}

// TestDecisionsStandWhereTheyAreNeeded: a view offers the decision about what it
// shows, filled in as far as it can be.
func TestDecisionsStandWhereTheyAreNeeded(t *testing.T) {
	t.Parallel()
	u := failedRun(t)
	b := visit(t, deciding(u.site), nil)
	for path, want := range map[string]string{
		"/runs/harbour":                   `href="/runs/harbour/decide"`,
		"/runs/harbour/jobs/perspectives": `href="/runs/harbour/decide/job-retry?job_id=perspectives"`,
		"/runs/harbour/gates":             `href="/runs/harbour/decide/gate-a?accept=yes"`,
	} {
		if _, page := b.get(t, path); !strings.Contains(page, want) {
			t.Errorf("%s has no %s:\n%s", path, want, page)
		}
	}
	if _, page := b.get(t, "/runs/harbour/decide/job-retry?job_id=perspectives"); !strings.Contains(page, `name="job_id" value="perspectives"`) {
		t.Errorf("the form is not filled in:\n%s", page)
	}
	w := httptest.NewRecorder()
	web.Handler(u.site, token, nil).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/runs/harbour/decide/run-cancel", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("a POST from nowhere is answered with %d", w.Code)
	}
}
