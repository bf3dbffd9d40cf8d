package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
)

// tab is a tab of a real browser. It notes what none of our pages may do: write to
// the console, ask another server, open a dialog.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string
	cut  func() // cuts all connections to the server

	mu       sync.Mutex
	said     []string
	requests []string
}

// chromium is one browser for all tests; each test has its own tab and cookies.
var chromium struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// patience is how long a browser may take before a test gives up.
const patience = time.Minute

// newTab opens a tab with the pages of a site.
func newTab(t testing.TB, s *web.Site) *tab {
	t.Helper()
	b := visit(t, s, nil) // for its server
	p := tabAt(t, b.base, token)
	p.cut = b.cut
	return p
}

// needsChromium is the path of Chromium. Without TIDEGATE_OUTSIDERS, and where there is none,
// the test is skipped.
func needsChromium(t testing.TB) string {
	t.Helper()
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to look at the pages in Chromium")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("no chromium: %v", err)
	}
	return path
}

// tabAt opens a tab with the pages of a server.
func tabAt(t testing.TB, base, token string) *tab {
	t.Helper()
	path := needsChromium(t)
	chromium.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		chromium.ctx, chromium.cancel = ctx, func() { cancel(); stop() }
		chromium.err = chromedp.Do(ctx)
	})
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, base: base}
	if err := chromedp.Do(ctx); err != nil { // the first call may have no time limit
		t.Fatal(err)
	}
	console := chromedp.Console(ctx)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return err
	}))
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			p.note(&p.said, m.String())
		}
	}()
	go func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			p.note(&p.requests, r.Request.URL)
		}
	}()
	go func() {
		for d, err := range dialogs {
			if err != nil {
				return
			}
			p.note(&p.said, "a dialog: "+d.Message)
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}
	}()
	p.open("/?token=" + token)
	return p
}

func (p *tab) note(list *[]string, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, what)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	must.Do(p.t, chromedp.Do(ctx, steps...))
}

// open loads a page of the site.
func (p *tab) open(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base + path))
}

// click follows a link as a person does, and waits until the page is there. A part
// of a live page can be replaced under the pointer; a person who sees nothing happen
// clicks again.
func (p *tab) click(selector string) {
	p.t.Helper()
	var err error
	for range 3 {
		ctx, cancel := context.WithTimeout(p.ctx, patience/3)
		_, err = chromedp.Run(ctx, chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible)))
		cancel()
		if err == nil {
			return
		}
	}
	p.t.Fatalf("%s cannot be clicked: %v\n%s", selector, err, p.text())
}

// ask is the value of an expression in the page.
func ask[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression holds. The page may be replaced while it is asked,
// so one failure says nothing.
func (p *tab) until(expression string) {
	p.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](expression))
		if holds {
			return
		}
		last = err
	}
	p.t.Fatalf("%s does not come to hold: %v\n%s", expression, last, ask[string](p, "document.body.innerText"))
}

// text is what a person reads on the page.
func (p *tab) text() string {
	p.t.Helper()
	return ask[string](p, "document.body.innerText")
}

// media shows the page on a screen of that width, in a colour scheme, or on paper.
func (p *tab) media(width int64, scheme, kind string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, 900))
	must.Get(chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}))(p.t)
}

// scripts switches the scripts of pages off or on.
func (p *tab) scripts(on bool) {
	p.t.Helper()
	must.Get(chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}))(p.t)
}

// engineRoom are the pages that show what the engine writes, as it writes it.
var engineRoom = regexp.MustCompile(`/(jobs|made|log|decide|plan)\b`)

// check looks at the current page: axe-core finds nothing in it, it fits its width, no link leads
// nowhere, and people are shown no marks, codes and names of the engine.
func (p *tab) check(axe string) {
	p.t.Helper()
	where := ask[string](p, "location.pathname")
	p.fits()
	if dead := ask[string](p, `[...document.querySelectorAll("a")].map(a => a.getAttribute("href")).filter(h => !h || h[0] == "#" && h != "#-" && !document.getElementById(decodeURIComponent(h.slice(1)))).join()`); dead != "" {
		p.t.Errorf("%s: links lead to %s", where, dead)
	}
	if found := machinery.FindString(p.text()); found != "" && !engineRoom.MatchString(where) {
		p.t.Errorf("%s says %s", where, found)
	}
	found := ask[[]string](p, `(async () => { if (!window.axe) { `+axe+` }
		const result = await axe.run(document, {resultTypes: ["violations"]});
		return result.violations.map(v => v.impact + " " + v.id + ": " + v.nodes.length + " × " + v.nodes[0].html.slice(0, 300)); })()`)
	for _, f := range found {
		p.t.Errorf("%s: %s", where, f)
	}
}

// quiet fails for everything that the tab noted: what none of our pages may do.
func (p *tab) quiet() {
	p.t.Helper()
	// What comes last in each stream shows that everything before it was seen.
	const last = "the-end"
	ask[bool](p, `(console.debug("`+last+`"), fetch("`+p.base+`/style.css?`+last+`").then(() => true))`)
	p.waitFor(&p.said, last)
	p.waitFor(&p.requests, last)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.said {
		if !strings.Contains(s, last) && !strings.Contains(s, "503 (Service Unavailable)") { // a slow machine may refuse a page of a run that is written all the time
			p.t.Errorf("the page says %s", s)
		}
	}
	for _, r := range p.requests {
		if !strings.HasPrefix(r, p.base+"/") && r != "data:," && r != "about:blank" {
			p.t.Errorf("the page asks for %s", r)
		}
	}
}

func (p *tab) waitFor(list *[]string, what string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		p.mu.Lock()
		n := len(*list)
		there := n > 0 && strings.Contains((*list)[n-1], what)
		p.mu.Unlock()
		if there {
			return
		}
		ask[int](p, "0") // a round trip
	}
	p.t.Fatalf("%s was not seen", what)
}

// axeCore is the script of axe-core, installed from npm once.
func axeCore(t *testing.T) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(fromNPM(t, "axe-core@4.14.0"), "axe-core", "axe.min.js")))(t)
	return string(data)
}

// fromNPM is the folder of modules in which a version of one is installed, from npm, once.
func fromNPM(t *testing.T, version string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no place for %s: %v", version, err)
	}
	dir := filepath.Join(cache, "tidegate-test", version)
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err != nil {
		out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", version).CombinedOutput()
		if err != nil {
			t.Skipf("npm cannot install %s: %v\n%s", version, err, out)
		}
	}
	return modules
}

// links are the addresses of the links of a part of the page.
func (p *tab) links(selector string) []string {
	p.t.Helper()
	return ask[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%q)].map(a => a.getAttribute('href'))", selector))
}
