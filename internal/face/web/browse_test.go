package web_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// tour clicks through every view of a run, and through as many of its jobs as asked
// for. It calls check at each.
func (p *tab) tour(id string, jobs int, check func()) {
	p.t.Helper()
	p.open("/")
	check()
	p.click(`#runs a[href^="/runs/` + id + `"]`)
	p.click(`.tabs a[href="/runs/` + id + `"]`)
	check()
	for _, view := range []string{"jobs", "outputs", "gates", "sources", "report", "log"} {
		p.click(`.tabs a[href="/runs/` + id + "/" + view + `"]`)
		check()
	}
	p.click(`.tabs a[href="/runs/` + id + `/jobs"]`)
	for i, link := range p.links(`#jobs a[href^="/runs/"]`) {
		if i >= jobs {
			break
		}
		p.click(`#jobs a[href="` + link + `"]`)
		check()
		p.click(`.tabs a[href="/runs/` + id + `/jobs"]`)
	}
}

// screens are the ways in which pages are looked at.
var screens = []struct {
	width        int64
	scheme, kind string
}{{390, "light", "screen"}, {820, "dark", "screen"}, {1440, "light", "screen"}, {1440, "dark", "screen"}, {820, "light", "print"}}

// TestBrowserFollowsARun clicks through the views of the demo's run while it runs:
// the page of the run follows every answer, and each view is whole at each stage.
func TestBrowserFollowsARun(t *testing.T) {
	s := site(t.TempDir())
	p := newTab(t, s)
	axe := axeCore(t)
	u := drive(t, s, recordings(t), pages(s), nil)
	views := []string{"", "/jobs", "/outputs", "/gates", "/sources", "/report", "/log"}
	for turn := 0; ; turn++ {
		task, more := u.next(t)
		if !more {
			break
		}
		view := views[turn%len(views)]
		p.media(screens[turn%4].width, screens[turn%4].scheme, "screen")
		p.open("/")
		p.click(`#runs a[href="/runs/harbour"]`)
		if !strings.Contains(p.text(), task.Job) {
			t.Errorf("%s is at work and not on the page:\n%s", task.Job, p.text())
		}
		if view != "" {
			p.click(`.tabs a[href="/runs/harbour` + view + `"]`)
		}
		p.check(axe)
		p.until(`document.getElementById("live").dataset.state == "live"`)
		u.answer()
		if task, more = u.next(t); more {
			u.asked <- task
		}
		// The page that is open has come to the last line by itself.
		p.until(`Number(document.body.dataset.seen) >= ` + strconv.Itoa(lines(t, u.manifest)))
	}
	p.until(`document.getElementById("live").dataset.state == "ended"`)
	if outcome := <-u.ended; outcome.Status != "completed" {
		t.Errorf("the run ended as %+v", outcome)
	}
	p.quiet()
}

// TestBrowserLooksAtEveryView: axe-core finds nothing in any view of the completed
// run, of a failed one and of the change, on phone, tablet, desktop and paper, in
// light and dark, and every page fits its width.
func TestBrowserLooksAtEveryView(t *testing.T) {
	p := newTab(t, demoSite(t))
	axe := axeCore(t)
	check := func() {
		for _, s := range screens {
			p.media(s.width, s.scheme, s.kind)
			p.check(axe)
		}
		p.media(1440, "light", "screen")
	}
	p.tour("harbour", 3, check)
	p.click(`nav a[href="/changes"]`)
	check()
	p.click(p.firstOf(`main table a`))
	check()
	p.quiet()

	failed := newTab(t, failedRun(t).site)
	p = failed
	p.tour("harbour", 1, check)
	if text := p.text(); !strings.Contains(text, "needs you") {
		t.Errorf("the failed run does not say so:\n%s", text)
	}
	p.quiet()
}

// firstOf is a selector for the first link in a part of the page.
func (p *tab) firstOf(selector string) string {
	p.t.Helper()
	links := p.links(selector)
	if len(links) == 0 {
		p.t.Fatalf("no link at %s", selector)
	}
	return `a[href="` + links[0] + `"]`
}

// TestBrowserNeedsNoScript: with scripts switched off, each view has the same words,
// and everything can be opened.
func TestBrowserNeedsNoScript(t *testing.T) {
	s := site(t.TempDir())
	p := newTab(t, s)
	u := drive(t, s, recordings(t), pages(s), nil)
	for range 9 { // into the first wave: the run is under way and has something to show
		if _, more := u.next(t); !more {
			t.Fatal("the run has ended")
		}
		u.answer()
	}
	if _, more := u.next(t); !more {
		t.Fatal("the run has ended")
	}
	const words = `document.querySelector("header").innerText.replace(document.getElementById("live")?.innerText, "") + document.querySelector("main").innerText`
	with := map[string]string{}
	p.tour("harbour", 3, func() { with[ask[string](p, "location.pathname")] = ask[string](p, words) })
	p.scripts(false)
	seen := 0
	p.tour("harbour", 3, func() {
		where := ask[string](p, "location.pathname")
		if without := ask[string](p, words); without != with[where] || len(without) < 100 && where != "/" {
			t.Errorf("%s without its script:\n%s\nand with it:\n%s", where, without, with[where])
		}
		if shut := ask[int](p, `(() => { for (const d of document.querySelectorAll("details")) d.open = true; return [...document.querySelectorAll("details")].filter(d => d.getBoundingClientRect().height == 0).length })()`); shut > 0 {
			t.Errorf("%s hides %d parts", where, shut)
		}
		seen++
	})
	if seen < 11 {
		t.Errorf("%d views were seen", seen)
	}
	p.scripts(true)
	p.quiet()
}

// TestBrowserShowsHostileOutputsAsText: whatever agents and pages wrote, no view
// contains an element, a handler or an address of theirs.
func TestBrowserShowsHostileOutputsAsText(t *testing.T) {
	h := hostileRun(t)
	p := newTab(t, h.site)
	var shown strings.Builder
	p.tour("harbour", 12, func() {
		where := ask[string](p, "location.pathname")
		for _, selector := range []string{"img", "iframe", "object", "embed", "style", "base", "meta[http-equiv]", "form[action]", "main script", "main link", "svg script", "svg a", "svg image", "foreignObject",
			`a[href^="javascript:" i]`, `a[href^="data:" i]`, `a[href^="vbscript:" i]`, "[onerror]", "[onload]", "[onclick]", "[style]", "[srcdoc]"} {
			if found := ask[string](p, fmt.Sprintf("document.querySelector(%q)?.outerHTML ?? ''", selector)); found != "" {
				t.Errorf("%s has %s", where, found)
			}
		}
		if ask[bool](p, "'pwned' in window") {
			t.Errorf("a script ran in %s", where)
		}
		if bidi := ask[bool](p, `/[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/.test(document.documentElement.outerHTML)`); bidi {
			t.Errorf("%s has characters that hide or reorder", where)
		}
		if wide := ask[bool](p, "document.documentElement.scrollWidth > innerWidth"); wide {
			t.Errorf("a line runs out of %s", where)
		}
		shown.WriteString(p.text())
	})
	for _, want := range []string{"<script>pwned=1</script>", "javascript:pwned=1", `\u202e`, "<svg onload=pwned=1>", "more characters"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown as text", want)
		}
	}
	p.quiet()
}

// TestBrowserDecides pauses a run as a person does: look, fill in, say yes.
func TestBrowserDecides(t *testing.T) {
	s, manifest, _ := newRun(t)
	p := newTab(t, deciding(s))
	axe := axeCore(t)
	check := func() {
		for _, s := range screens[:4] {
			p.media(s.width, s.scheme, s.kind)
			p.check(axe)
		}
	}
	p.click(`a[href="/runs/rain"]`)
	p.click(`a[href="/runs/rain/decide"]`)
	check()
	p.click(`a[href="/runs/rain/decide/run-pause"]`)
	check()
	p.do(chromedp.SendKeys(chromedp.CSS("#f-reason"), "lunch"))
	p.click("button.yes")
	check()
	if status(t, manifest) == run.Paused {
		t.Fatal("the run was paused before anybody said yes")
	}
	p.click("button.yes")
	if text := p.text(); status(t, manifest) != run.Paused || !strings.Contains(text, "A person paused the run") {
		t.Errorf("the run is not paused:\n%s", text)
	}
	p.quiet()
}

// TestBrowserComesBack: a page whose connection is cut comes back by itself and shows
// what was written meanwhile.
func TestBrowserComesBack(t *testing.T) {
	s, manifest, desk := newRun(t)
	p := newTab(t, s)
	p.click(`a[href="/runs/rain"]`)
	p.until(`document.getElementById("live").dataset.state == "live"`)
	p.cut()
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	if _, err := stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}); err != nil {
		t.Fatal(err)
	}
	p.until(`document.body.innerText.includes("A person paused the run")`)
	p.until(`document.getElementById("live").dataset.state == "live"`)
}
