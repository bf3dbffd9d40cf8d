package web_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
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
	check()
	p.open("/runs/" + id + "/report")
	check()
	p.open("/runs/" + id + "/made")
	check()
	for _, view := range []string{"jobs", "outputs", "gates", "sources", "log"} {
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
}{{390, "light", "screen"}, {1000, "dark", "screen"}, {1920, "light", "screen"}, {1440, "dark", "screen"}, {820, "light", "print"}}

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
		if len(p.links(`main a[href="/runs/harbour/jobs/`+task.Job+`"]`)) == 0 {
			t.Errorf("%s is at work and not on the page:\n%s", task.Job, p.text())
		}
		if view != "" {
			p.open("/runs/harbour" + view)
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
	needsChromium(t)
	h := hostileRun(t)
	p := newTab(t, h.site)
	var shown strings.Builder
	p.tour("harbour", 12, func() {
		where := ask[string](p, "location.pathname")
		for _, selector := range []string{"img", "iframe", "object", "embed", "style", "base", "meta[http-equiv]", "form[action]:not(header > form.omni)", "main script", "main link", "svg script", "svg a", "svg image", "foreignObject",
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

// TestBrowserDecidesOnce decides the same in two tabs: the second is told that it was decided
// already. A form that is too old says so and keeps what was filled in.
func TestBrowserDecidesOnce(t *testing.T) {
	needsChromium(t)
	s, manifest, _ := newRun(t)
	var late atomic.Bool
	s.Desk.Now = func() time.Time {
		if late.Load() {
			return pinned.Add(31 * time.Minute)
		}
		return pinned
	}
	b := visit(t, deciding(s), nil)
	one, other, old := tabAt(t, b.base, token), tabAt(t, b.base, token), tabAt(t, b.base, token)
	axe := axeCore(t)
	for _, p := range []*tab{one, other, old} {
		p.open("/runs/rain/decide/run-cancel")
		p.do(chromedp.SendKeys(chromedp.CSS("#f-reason"), "not needed"))
		if p != old {
			p.click("form.asks button.yes")
		}
	}
	one.click("button.ends")
	if status(t, manifest) != run.Cancelled {
		t.Fatalf("the run is not cancelled:\n%s", one.text())
	}
	other.click("button.ends")
	if text := other.text(); !strings.Contains(text, "it was decided already: the run is cancelled") {
		t.Errorf("the second tab is told:\n%s", text)
	}
	other.everywhere(axe)
	late.Store(true)
	old.click("form.asks button.yes")
	if text := ask[string](old, `document.querySelector("[role=alert]").innerText + document.querySelector("#f-reason").value`); !strings.Contains(text, "too old") || !strings.Contains(text, "not needed") {
		t.Errorf("a form that is too old is answered with %s", text)
	}
	old.everywhere(axe)
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
	must.Get(stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
	p.until(`document.body.innerText.includes("A person paused the run")`)
	p.until(`document.getElementById("live").dataset.state == "live"`)
}

// TestBrowserKeepsWhatAPersonDoes: while a page is made anew, a selection, the scrolling, the
// focus and what is open stay, and a person who asked for it is told at the end.
func TestBrowserKeepsWhatAPersonDoes(t *testing.T) {
	s := site(t.TempDir())
	p := newTab(t, s)
	u := drive(t, s, recordings(t), pages(s), nil)
	for range 8 {
		if _, more := u.next(t); !more {
			t.Fatal("the run has ended")
		}
		u.answer()
	}
	if _, more := u.next(t); !more {
		t.Fatal("the run has ended")
	}
	p.media(1000, "light", "screen")
	// The browser of the test shows nothing; what the page asks it for is noted. One more
	// line comes while the page of the run's end is on its way.
	must.Get(chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `
			window.told = [];
			window.Notification = class { static permission = "default"; static async requestPermission() { return "granted" } constructor(title) { told.push(title) } };
			window.EventSource = class extends EventSource { constructor(url) { super(url); window.stream = this } };
			window.ends = 0;
			const parse = DOMParser.prototype.parseFromString;
			DOMParser.prototype.parseFromString = function (text, kind) {
				if (!text.includes("data-live") && !ends++) stream.dispatchEvent(new Event("line"));
				return parse.call(this, text, kind);
			};`}))(t)
	p.open("/runs/harbour/made")
	p.until(`document.getElementById("live").dataset.state == "live"`)
	if told := ask[bool](p, `!document.getElementById("tell")`); told {
		t.Fatal("nobody can ask to be told")
	}
	ask[bool](p, `(document.getElementById("tell").click(), true)`)
	p.until(`document.getElementById("tell").getAttribute("aria-pressed") == "true"`)
	ask[bool](p, `(() => {
		document.getElementById("d-spending").open = true;
		const row = [...document.querySelectorAll(".feed li")].find(li => li.innerText.includes("Duty cycles"));
		getSelection().selectAllChildren(row.querySelector("a"));
		document.querySelector("#lanes a").focus({preventScroll: true});
		document.querySelector("#lanes").scrollIntoView();
		window.before = {top: document.querySelector("#lanes").getBoundingClientRect().top, selected: String(getSelection()), focused: document.activeElement, seen: Number(document.body.dataset.seen)};
		return true;
	})()`)
	u.answer()
	if _, more := u.next(t); !more {
		t.Fatal("the run has ended")
	}
	p.until(`Number(document.body.dataset.seen) > before.seen`)
	for what, expression := range map[string]string{
		"the selection": `String(getSelection()) == before.selected && before.selected.includes("Duty cycles")`,
		"the focus":     `document.activeElement == before.focused`,
		"what is open":  `document.getElementById("d-spending").open`,
		"the scrolling": `Math.abs(document.querySelector("#lanes").getBoundingClientRect().top - before.top) < 2`,
	} {
		if !ask[bool](p, expression) {
			t.Errorf("%s is lost: %s", what, ask[string](p, `JSON.stringify([before, String(getSelection()), document.activeElement.outerHTML.slice(0, 100), document.querySelector("#lanes").getBoundingClientRect().top])`))
		}
	}
	for u.answer(); ; u.answer() {
		if _, more := u.next(t); !more {
			break
		}
	}
	p.until(`document.getElementById("live").dataset.state == "ended" && ends == 2`)
	if told := ask[[]string](p, "told"); len(told) != 1 || !strings.Contains(told[0], "completed") {
		t.Errorf("the person was told %q", told)
	}
}

// TestBrowserNeedsNoMouse: every link, field and button of a page is reached by Tab alone, in
// the order of the page, and shows that it has the focus.
func TestBrowserNeedsNoMouse(t *testing.T) {
	p := newTab(t, demoSite(t))
	for _, path := range []string{"/", "/runs/harbour", "/runs/harbour/report", "/runs/harbour/sources"} {
		p.open(path)
		want := ask[int](p, `(() => {
			window.reached = [];
			document.addEventListener("focusin", e => { window.reached.push(e.target); if (getComputedStyle(e.target).outlineStyle == "none" && e.target.id != "main" && e.target.localName != "iframe") window.reached.hidden = e.target.outerHTML.slice(0, 200); });
			return [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.checkVisibility() && !e.closest("details:not([open]) > :not(summary)")).slice(0, 25).length;
		})()`)
		for range want {
			p.do(chromedp.KeyEvent("\t"))
		}
		if got := ask[int](p, "new Set(reached).size"); got < want-1 {
			t.Errorf("%s: Tab reaches %d of %d", path, got, want)
		}
		if hidden := ask[string](p, `reached.hidden ?? ""`); hidden != "" {
			t.Errorf("%s: nothing shows that this has the focus: %s", path, hidden)
		}
		if ordered := ask[bool](p, `reached.every((e, i) => !i || reached[i-1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING || reached[i-1].contains(e))`); !ordered {
			t.Errorf("%s is not reached in its order", path)
		}
	}
}

// TestBrowserZooms: at twice the size, every view still fits its width.
func TestBrowserZooms(t *testing.T) {
	p := newTab(t, demoSite(t))
	p.media(640, "light", "screen") // what a window of 1,280 pixels has at 200 %
	p.tour("harbour", 1, p.fits)
}

// TestBrowserKeepsArchivedPagesApart: an archived text has no origin, runs nothing, and
// cannot reach the page that shows it.
func TestBrowserKeepsArchivedPagesApart(t *testing.T) {
	p := newTab(t, demoSite(t))
	p.open("/runs/harbour/report")
	p.quiet()
	p.open(ask[string](p, `document.querySelector(".ev a[target=page]").getAttribute("href")`))
	if got := ask[string](p, `(() => { let kept; try { kept = document.cookie } catch (e) { kept = e.name } return self.origin + " " + kept + " " + document.querySelectorAll("main .text").length })()`); got != "null SecurityError 1" {
		t.Errorf("an archived page in a tab of its own has %q", got)
	}
}
