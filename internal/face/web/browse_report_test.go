package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserPutsACardBesideItsCitation opens every citation of the report at each width, near
// the top, in the middle and near the bottom of the window: its card is whole, does not hide
// it, and stands on its line or right above or below it.
func TestBrowserPutsACardBesideItsCitation(t *testing.T) {
	p := newTab(t, demoSite(t))
	for _, width := range []int64{390, 1000, 1410, 1920} {
		p.media(width, "light", "screen")
		p.open("/runs/harbour/report.html")
		count := ask[int](p, `document.querySelectorAll(".cite button").length`)
		if count < 20 {
			t.Fatalf("the report has %d citations", count)
		}
		wrong := ask[[]string](p, `(async () => {
			const wrong = [], painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			document.documentElement.style.scrollBehavior = "auto";
			for (const [i, button] of [...document.querySelectorAll(".cite button")].entries()) {
				button.scrollIntoView({block: ["start", "center", "end"][i % 3]});
				button.click();
				await painted();
				const card = document.getElementById(button.getAttribute("popovertarget"));
				const c = card.getBoundingClientRect(), b = button.getBoundingClientRect();
				const across = Math.max(0, c.left - b.right, b.left - c.right), down = Math.max(0, c.top - b.bottom, b.top - c.bottom);
				const inside = c.left >= 0 && c.top >= 0 && c.right <= innerWidth + 1 && c.bottom <= innerHeight + 1;
				const covers = c.left < b.right && c.right > b.left && c.top < b.bottom && c.bottom > b.top;
				if (!card.matches(":popover-open") || !inside || covers || down > 24 || down > 0 && across > 24 || down == 0 && c.height < innerHeight / 2 && Math.min(Math.abs(b.top - c.top), Math.abs(c.bottom - b.bottom)) > 64) wrong.push([i, button.textContent, Math.round(b.left), Math.round(b.top), "card", ...[c.left, c.top, c.right, c.bottom].map(Math.round)].join(" "));
				card.hidePopover();
			}
			return wrong.slice(0, 5);
		})()`)
		for _, w := range wrong {
			t.Errorf("at %d pixels a card does not stand beside its citation: %s", width, w)
		}
	}
}

// TestBrowserCopies presses buttons that copy: what stands before them, or the link that they
// name, is on the clipboard, and they say so.
func TestBrowserCopies(t *testing.T) {
	needsChromium(t)
	failed := newTab(t, failedRun(t).site)
	failed.open("/runs/harbour")
	failed.copies(`.command`, `document.querySelector(".command code").textContent`)
	p := newTab(t, demoSite(t))
	p.open("/runs/harbour/report")
	ask[bool](p, `document.getElementById("d-sentences").open = true`)
	p.copies(`.claim`, `(() => { const a = document.querySelector(".claim a[href*='s=']"); return a.href })()`)
	p.do(chromedp.Navigate(ask[string](p, "window.copied")))
	if !ask[bool](p, `document.querySelector(".s.chosen") != null`) {
		t.Error("the link that was copied chooses no sentence")
	}
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
