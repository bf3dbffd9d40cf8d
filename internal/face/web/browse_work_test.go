package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// reach goes to an element with the Tab key.
func (p *tab) reach(selector string) {
	p.t.Helper()
	for range 240 {
		p.do(chromedp.KeyEvent("\t"))
		if ask[bool](p, `document.activeElement.matches(`+"`"+selector+"`"+`)`) {
			return
		}
	}
	p.t.Fatalf("no Tab leads to %s: %s", selector, p.text())
}

// press presses Enter on an element, by keys alone, and waits for the page with a path.
func (p *tab) press(selector, path string) {
	p.t.Helper()
	p.reach(selector)
	p.do(chromedp.KeyEvent("\r"))
	p.until("location.pathname == '" + path + "' && document.readyState == 'complete'")
}

// everywhere looks at the current page at three widths and in both schemes.
func (p *tab) everywhere(axe string) {
	p.t.Helper()
	for i, width := range []int64{390, 900, 1920} {
		p.media(width, []string{"light", "dark", "light"}[i], "screen")
		p.check(axe)
	}
	p.media(1200, "light", "screen")
}

// TestBrowserStartsWork asks, says yes to the plan and asks again in a browser, by keys alone, and
// looks at every page on the way at three widths and in both schemes.
func TestBrowserStartsWork(t *testing.T) {
	folder := t.TempDir()
	s := working(t, folder, recordedAgents, 20)
	p := newTab(t, s)
	axe := axeCore(t)
	p.reach("#question")
	p.do(chromedp.KeyEvent(demo.Question + "\r"))
	p.until("location.pathname.startsWith('/runs/harbour')")
	p.until("document.querySelector('#f-title0') != null") // without a reload
	p.everywhere(axe)
	p.open("/new")
	p.everywhere(axe)
	p.open("/runs/harbour")
	p.press("button.yes", "/runs/harbour")
	p.open("/audits") // a page of a run that is written all the time may be refused on a slow machine
	becomes(t, s, run.Completed)
	p.open("/runs/harbour/report")
	p.reach("#question")
	p.do(chromedp.KeyEvent("Who painted the Mona Lisa?\r"))
	p.until("location.pathname == '/runs/harbour/report'")
	p.until(`document.body.innerText.includes("not answered")`)
	p.everywhere(axe)
	p.press(`a[href^="/answers/"]`, ask[string](p, `document.querySelector('a[href^="/answers/"]').getAttribute("href")`))
	p.everywhere(axe)
	p.quiet()
}

// TestBrowserStartsWorkWithoutScripts asks and says yes by keys alone while scripts are
// switched off.
func TestBrowserStartsWorkWithoutScripts(t *testing.T) {
	needsChromium(t)
	s := working(t, t.TempDir(), recordedAgents, 20)
	b := visit(t, s, nil)
	p := tabAt(t, b.base, token)
	p.scripts(false)
	p.open("/")
	p.reach("#question")
	p.do(chromedp.KeyEvent(demo.Question + "\r"))
	p.until("location.pathname.startsWith('/runs/harbour')")
	b.shows(t, "/runs/harbour", "Begin the research?")
	p.open("/runs/harbour")
	p.press("button.yes", "/runs/harbour")
	becomes(t, s, run.Completed)
}

// TestBrowserTakesADroppedFile drops a report on the page, with scripts and without.
func TestBrowserTakesADroppedFile(t *testing.T) {
	folder := t.TempDir()
	s := working(t, folder, "", 20)
	p := newTab(t, s)
	axe := axeCore(t)
	dropped := filepath.Join(folder, "<b>tugs.md")
	must.Do(t, os.WriteFile(dropped, []byte(demo.ForeignReport), 0o600))
	for _, scripts := range []bool{true, false} {
		p.scripts(scripts)
		p.open("/new/audit")
		if scripts {
			p.everywhere(axe)
		}
		at := ask[[]float64](p, `(() => { const r = document.querySelector("#f-report").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
		for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
			must.Get(chromedp.Call(p.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: input.DispatchDragEventType(kind), X: at[0], Y: at[1],
				Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{dropped}, DragOperationsMask: 1}}))(t)
		}
		if !scripts { // with them, it is handed over at once
			p.until(`document.querySelector("#f-report").files.length == 1`)
			p.click("button.yes")
		}
		p.until("location.pathname.startsWith('/audits/')") // its own document
	}
	p.scripts(true)
	p.open("/audits")
	p.until(`document.querySelectorAll("tbody tr").length == 2 && !document.body.innerText.includes("not finished")`)
	if text := p.text(); !strings.Contains(text, "<b>tugs.md") {
		t.Errorf("the list shows %s", text)
	}
	p.everywhere(axe)
	p.quiet()
}
