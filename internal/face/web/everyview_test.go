package web_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/review"
)

// hostileNames are what files may be called.
var hostileNames = []string{
	`"><img src=x onerror=pwned=1><script>pwned=1<` + "\u2215" + `script>.md`,
	`..` + "\u2215" + `..` + "\u2215" + `etc` + "\u2215" + "passwd\u202e\u2066txt.exe\u200b.md",
	strings.Repeat("x", 252) + ".md",
	"javascript:pwned=1 {{.Data}}\x1b[31m\n.md",
}

// everyView is a site that allows everything, and the address of each of its views: the run,
// the change, and the reviews of the demo, and a run that waits, with documents, audits, an
// answer and an update whose names are hostile.
func everyView(t testing.TB) (*web.Site, []string) {
	t.Helper()
	played := must.Get(play())(t)
	folder := t.TempDir()
	must.Do(t, os.CopyFS(folder, os.DirFS(played)))
	s := deciding(working(t, folder, recordedAgents, 20))
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	made := must.Get(run.Create(person, s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(t)
	writeAnswers(t, folder)
	files := t.TempDir()
	for _, name := range hostileNames {
		must.Do(t, os.WriteFile(filepath.Join(files, name), []byte("It rains 3 mm more.\n"), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(files, "<svg onload=pwned=1>.docx"), []byte("PK"), 0o600))
	documents, err := sourcing.ReadDocuments(s.Desk, files)
	if err == nil {
		err = sourcing.AttachDocuments(person, s.Desk, made.ManifestPath, documents)
	}
	if err == nil {
		_, err = stage.Pause(person, s.Desk, stage.ControlInput{ManifestPath: made.ManifestPath, Reason: "lunch"})
	}
	if err != nil {
		t.Fatal(err)
	}
	views := []string{"/", "/?q=reefer", "/?state=completed&sort=question", "/changes", "/reviews", "/audits", "/new", "/new/audit",
		"/answers/2026-03-02-aaaaaa", "/updates/2026-03-02-bbbbbb"}
	for _, name := range hostileNames {
		audited := must.Get(audit.Make(t.Context(), s.Desk, nil, audit.Input{Report: demo.ForeignReport, Name: name, NoFetch: true, Home: store.Audits.Home(s.Home)}))(t)
		views = append(views, "/audits/"+audited.AuditID)
	}
	written := must.Get(review.FormatMarkdown(codec.Of(tidegate.Pairs("change_id", "guard", "verdict", "NEEDS_FIX", "summary", "The guard is gone.",
		"issues", []tidegate.Details{tidegate.Pairs("title", "Nobody checks", "severity", "High", "category", "Security", "file", hostileNames[0], "line", 7, "description", "It was deleted.")})), false))(t)
	reviewed := filepath.Join(s.Home, "reviews", "20260302-guard")
	for name, text := range map[string]string{
		"review.json":   `{"schema_version":"review.v1","created_at":"2026-03-02T09:00:00Z","project":` + quoted(s.Project) + `,"name":` + quoted(hostileNames[0]) + `}`,
		"reviewed.json": `{"verdict":"NEEDS_FIX"}`,
		"REVIEW.md":     written.Markdown,
	} {
		must.Do(t, errors.Join(os.MkdirAll(reviewed, 0o700), os.WriteFile(filepath.Join(reviewed, name), []byte(text), 0o600)))
	}
	views = append(views, "/reviews/20260302-guard")
	changes, err := os.ReadDir(filepath.Join(folder, "openspec", "changes"))
	if err == nil && len(changes) > 0 {
		views = append(views, "/changes/"+changes[0].Name())
	}
	for _, id := range []string{"harbour", "rain"} {
		for _, view := range []string{"", "/jobs", "/jobs/perspectives", "/outputs", "/gates", "/sources", "/report", "/made", "/log", "/decide"} {
			views = append(views, "/runs/"+id+view)
		}
	}
	return s, append(views, "/runs/harbour/jobs/synthesis", "/runs/harbour/report.html", "/runs/harbour/ask?question=Why%3F", "/runs/rain/continue", "/runs/rain/retry/perspectives", "/runs/rain/decide/run-resume")
}

// TestBrowserLooksAtFormsAndAnswers: axe-core finds nothing in any view that the tour of a run
// does not reach, on screens, at twice the size and on paper, and no name of a file acts.
func TestBrowserLooksAtFormsAndAnswers(t *testing.T) {
	needsChromium(t)
	s, views := everyView(t)
	p := newTab(t, s)
	axe := axeCore(t)
	var shown strings.Builder
	toured := regexp.MustCompile(`^/$|^/runs/harbour(/(jobs.*|outputs|gates|sources|report|log))?$`)
	for i, view := range views {
		if toured.MatchString(view) {
			continue
		}
		p.open(view)
		for j, screen := range screens {
			p.media(screen.width, screen.scheme, screen.kind)
			p.fits()
			if j == i%len(screens) || j == (i+1)%len(screens) { // of each view two, of all views all
				p.check(axe)
			}
		}
		p.media(640, "light", "screen") // a window of 1,280 pixels at 200 %
		p.fits()
		if acts := ask[string](p, `[...document.querySelectorAll("img, object, embed, base, svg script, foreignObject, [onerror], [onload], [onclick], a[href^='javascript:' i], a[href^='data:' i]")].map(e => e.outerHTML).join() + ("pwned" in window ? " a script ran" : "") + (/[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.documentElement.outerHTML) ? " it reorders" : "")`); acts != "" {
			t.Errorf("%s has %s", view, acts)
		}
		shown.WriteString(p.text())
	}
	for _, want := range []string{"<img src=x onerror=pwned=1>", `\u202e`, "It rains 3 mm more", "changed since", "Continue this run?", "again?"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("no view shows %q", want)
		}
	}
	p.quiet()
}

// fits fails for a page that runs out of its width.
func (p *tab) fits() {
	p.t.Helper()
	if wide := ask[string](p, `document.documentElement.scrollWidth > innerWidth ? [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 120)).slice(0, 3).join("\n") || "?" : ""`); wide != "" {
		p.t.Errorf("%s runs out of the page at %d pixels:\n%s", ask[string](p, "location.pathname"), ask[int](p, "innerWidth"), wide)
	}
}
