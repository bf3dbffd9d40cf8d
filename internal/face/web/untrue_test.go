package web_test

import (
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/store"

	"context"
)

// TestPagesLeadWhereTheySay: a folder of a run under another name leads to itself, every
// archived page that stands beside a sentence is there, and no view of a run without a report
// offers one.
func TestPagesLeadWhereTheySay(t *testing.T) {
	t.Parallel()
	played := must.Get(play())(t)
	s := site(t.TempDir())
	must.Do(t, os.CopyFS(filepath.Join(s.Home, "copy"), os.DirFS(filepath.Join(played, "runs", "harbour"))))
	b := visit(t, s, nil)
	for _, path := range []string{"/runs/copy", "/runs/copy/made", "/runs/copy/jobs", "/runs/copy/sources"} {
		_, page := b.get(t, path)
		if strings.Contains(page, `"/runs/harbour`) {
			t.Errorf("%s leads to another run", path)
		}
	}
	_, page := b.get(t, "/runs/copy/report")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`<a target="page" href="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		address := html.UnescapeString(m[1])
		if path, _, _ := strings.Cut(address, "?"); !seen[path] {
			seen[path] = true
			if status, _ := b.get(t, address); status != http.StatusOK {
				t.Errorf("%s is answered with %d", address, status)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d archived pages are led to", len(seen))
	}
	if status, page := b.get(t, "/runs/copy/continue"); status == http.StatusOK {
		t.Errorf("a completed run asks whether it goes on:\n%s", page)
	}
}

// TestFailedRunsAreFound: by the filter of that name, though each needs a person.
func TestFailedRunsAreFound(t *testing.T) {
	t.Parallel()
	b := visit(t, failedRun(t).site, nil)
	if _, page := b.get(t, "/?state=failed"); !strings.Contains(page, `class="what"><a href="/runs/harbour"`) {
		t.Errorf("the failed run is not found:\n%s", page)
	}
	for _, path := range []string{"/runs/harbour", "/runs/harbour/made", "/runs/harbour/jobs"} {
		if _, page := b.get(t, path); strings.Contains(page, `href="/runs/harbour/report"`) {
			t.Errorf("%s offers a report that is not there", path)
		}
	}
}

// TestAnEmptyHomeSaysWhatThisIs: with an example that every server has, and without an agent.
func TestAnEmptyHomeSaysWhatThisIs(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	s.Agents = func() string { return "No agent is set up." }
	s.Demo = func(ctx context.Context) (foreign.Result, error) {
		return audit.Make(ctx, s.Desk, demo.Pages{Now: s.Desk.Now}.Fetch, audit.Input{Report: demo.ForeignReport, Name: "electric-tugs.md", Home: store.Audits.Home(t.TempDir())})
	}
	b := visit(t, s, nil)
	_, page := b.get(t, "/")
	inOrder(t, page, "<main", "every sentence is held against its page", `href="/demo"`, "A report with lies in it", "No agent is set up.")
	status, sample := b.get(t, "/demo")
	if status != http.StatusOK || !strings.HasPrefix(sample, web.FirstBytes) || strings.Count(sample, "<!DOCTYPE") != 1 {
		t.Errorf("%d: %.200s", status, sample)
	}
	inOrder(t, sample, "not on the page that they cite", "310,000 euro", `data-state="refused"`, `<span class="missing">310,000 euro</span>`)
}

// TestACompletedReportThatChangedIsNotGreen: in the list, in the rail and in its own head, once
// its pages were fetched again; the document shows which sentence changed, and to what.
func TestACompletedReportThatChangedIsNotGreen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must.Do(t, os.CopyFS(folder, os.DirFS(must.Get(play())(t))))
	s := site(folder)
	dir := filepath.Join(folder, "updates", "2026-03-02-dddddd")
	must.Do(t, os.MkdirAll(dir, 0o700))
	const of = `{"kind":"run","id":"harbour","head":"h","title":"Tugs?"}`
	must.Do(t, os.WriteFile(filepath.Join(dir, "about.json"), []byte(`{"schema_version":"update.v1","id":"2026-03-02-dddddd","created_at":"2026-03-02T08:00:00Z","of":[`+of+`]}`), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "result.json"), []byte(`{"ok":true,"pass":false,"update_id":"2026-03-02-dddddd","of":`+of+`,"summary":{"sentences":1,"changed":1},
 "sentences":[{"id":"c7","line":9,"text":"x","state":"changed","pages":[{"cid":"k","state":"changed","why":"the page says something else","passages":[{"then":"On 88 % of days","now":"On 70 % of days","difference":[{"op":"same","text":"On "},{"op":"removed","text":"88"},{"op":"added","text":"70"},{"op":"same","text":" % of days"}]}]}]}],"sources":[]}`), 0o600))
	b := visit(t, s, nil)
	_, page := b.get(t, "/runs/harbour/report")
	inOrder(t, page, "≠</span> 1 of 39 changed since", "≠ 1 changed since", `data-state="changed" id="c7"`, "On <del", ">88</del>", " % of days", "the page now says “70 %”")
	_, list := b.get(t, "/")
	inOrder(t, list, `id="runs"`, "1 changed since", `id="everything"`, `<span class="sign bad"`, "1 changed since")
	if strings.Contains(list[strings.Index(list, `id="runs"`):], "state good") {
		t.Error("a list is green")
	}
}

var (
	addressed = regexp.MustCompile(`<a [^>]*href="([^"]*)"`)
	named     = regexp.MustCompile(` id="([^"]*)"`)
	machinery = regexp.MustCompile(`\[@[^\]]*\]|U\+0009|\bmax_[a-z_]+\b|\b[A-Z]+(_[A-Z]+)+\b`)
)

// TestEveryLinkLeadsSomewhere: on the pages that people read no address is empty, no place of
// the page is missing, and no mark, code or name of the engine stands in the text.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	links := 0
	for _, path := range []string{"/", "/?q=reefer", "/?q=battery", "/?state=completed", "/audits", "/changes", "/reviews", "/runs/harbour/report", "/runs/harbour/made", "/runs/harbour/sources", "/runs/harbour/outputs", "/runs/harbour/gates"} {
		_, page := b.get(t, path)
		ids := map[string]bool{"-": true} // what closes a sheet
		for _, m := range named.FindAllStringSubmatch(page, -1) {
			ids[html.UnescapeString(m[1])] = true
		}
		for _, m := range addressed.FindAllStringSubmatch(page, -1) {
			links++
			place, inside := strings.CutPrefix(html.UnescapeString(m[1]), "#")
			if m[1] == "" || inside && !ids[place] {
				t.Errorf("%s: a link leads to %q", path, m[1])
			}
		}
		if found := machinery.FindString(tags.ReplaceAllString(page, " ")); found != "" && !strings.HasSuffix(path, "/made") {
			t.Errorf("%s says %s", path, found)
		}
	}
	if links < 200 {
		t.Errorf("%d links were looked at", links)
	}
	for _, path := range []string{"/?q=reefer", "/?q=battery"} {
		if _, page := b.get(t, path); !strings.Contains(page, `id="found"`) && !strings.Contains(page, "hits") && !strings.Contains(page, "/runs/harbour") {
			t.Errorf("%s finds nothing", path)
		}
	}
}

// TestASentenceFromTheRunIsNoDeadLink: one that is inferred from the run itself leads to how it stands.
func TestASentenceFromTheRunIsNoDeadLink(t *testing.T) {
	t.Parallel()
	_, page := visit(t, demoSite(t), nil).get(t, "/runs/harbour/report")
	_, from, found := strings.Cut(page, "Of the sources 17 are valid")
	mark := regexp.MustCompile(`href="#([a-z0-9]+)"[^>]*>°<`).FindStringSubmatch(from)
	if !found || mark == nil || !strings.Contains(page, `id="e-`+mark[1]+`"`) {
		t.Errorf("the sentence leads to %q", mark)
	}
}
