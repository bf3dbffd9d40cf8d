package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserPutsEvidenceBesideItsSentence follows citations of the report at each width: what
// stands beside the sentence lies in the window and does not hide it, with and without scripts,
// in the file and in the page; keys step through the sentences.
func TestBrowserPutsEvidenceBesideItsSentence(t *testing.T) {
	p := newTab(t, demoSite(t))
	for _, path := range []string{"/runs/harbour/report.html", "/runs/harbour/report"} {
		for i, width := range []int64{390, 1000, 1410, 1920} {
			p.media(width, "light", "screen")
			p.scripts(i%2 == 0)
			p.open(path)
			wrong := ask[[]string](p, `(() => {
				const wrong = [];
				document.documentElement.style.scrollBehavior = "auto";
				const links = [...document.querySelectorAll("article .cite a")];
				if (links.length < 30) wrong.push(links.length + " citations");
				for (const link of links.filter((_, i) => i % 5 == 0)) {
					location.hash = link.hash;
					const s = document.querySelector(link.hash), ev = s.nextElementSibling;
					const a = s.getClientRects()[0], e = ev.getBoundingClientRect();
					const inside = e.left >= 0 && e.top >= 0 && e.right <= innerWidth + 1 && e.bottom <= innerHeight + 1 && e.height > 40;
					const hidden = a && a.left < e.right && a.right > e.left && a.top < e.bottom && a.bottom > e.top || a && (a.top < 0 || a.bottom > innerHeight);
					if (!inside || hidden) wrong.push(link.hash + " " + [a, e].map((r) => r && [r.left, r.top, r.right, r.bottom].map(Math.round).join(",")).join(" beside "));
				}
				return wrong.slice(0, 4);
			})()`)
			for _, w := range wrong {
				t.Errorf("%s at %d pixels: %s", path, width, w)
			}
		}
	}
	p.scripts(true)
	p.open("/runs/harbour/report")
	p.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	p.until(`location.hash == "#" + document.querySelector(".doc .s[id][data-state]").id`)
	p.do(chromedp.KeyEvent("/"))
	p.until(`document.activeElement.id == "omni"`)
	p.quiet()
}

// TestBrowserCopies presses buttons that copy: what stands before them is on the
// clipboard, and they say so.
func TestBrowserCopies(t *testing.T) {
	needsChromium(t)
	failed := newTab(t, failedRun(t).site)
	failed.open("/runs/harbour")
	failed.copies(`.command`, `document.querySelector(".command code").textContent`)
	p := failed
	p.quiet()
}

// copies presses the first button that copies in a part of the page. A browser of a test has no
// clipboard that may be read; what the page gives it is noted.
func (p *tab) copies(selector, want string) {
	p.t.Helper()
	ask[bool](p, `(() => { navigator.clipboard.writeText = async (text) => { window.copied = text }; return true })()`)
	p.do(chromedp.Click(chromedp.CSS(selector+" button[data-copy]"), chromedp.NodeVisible))
	p.until("document.querySelector(`" + selector + " button[data-done]`)?.dataset.done == 'yes'")
	if got, want := ask[string](p, "window.copied"), ask[string](p, want); got != want || want == "" {
		p.t.Errorf("%s copies %q, want %q", selector, got, want)
	}
}
