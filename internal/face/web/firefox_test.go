package web_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// walk opens every view in Firefox, at three widths, and says what is wrong: what does not
// fit, what the console says, what is asked of others, what cannot be seen.
const walk = `
const puppeteer = (await import(process.argv[2])).default;
const [base, token, firefox, ...views] = process.argv.slice(3);
const browser = await puppeteer.launch({browser: "firefox", executablePath: firefox, headless: true});
const page = await browser.newPage();
const wrong = [];
page.on("console", (m) => { if (["error", "warn"].includes(m.type())) wrong.push(page.url() + " says " + m.text()); });
page.on("pageerror", (e) => wrong.push(page.url() + " fails: " + e.message));
page.on("request", (r) => { if (!r.url().startsWith(base + "/") && !r.url().startsWith("data:") && r.url() !== "about:blank") wrong.push(page.url() + " asks for " + r.url()); });
await page.goto(base + "/?token=" + token);
let seen = 0;
for (const width of [390, 1000, 1920]) {
  await page.setViewport({width, height: 900});
  for (const view of views) {
    await page.goto(base + view, {waitUntil: "load"});
    const found = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth <= innerWidth ? "" : document.documentElement.scrollWidth + ": " + [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .tabs, .rail") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3).join(" | "),
      narrow: innerWidth,
      words: document.querySelector("main").innerText.length,
      flat: [...document.querySelectorAll("main svg")].filter((s) => s.checkVisibility() && s.getBoundingClientRect().width < 20).length,
      dead: document.querySelector("script") && !document.documentElement.classList.contains("js"),
    }));
    if (found.wide) wrong.push(view + " runs out of " + width + " pixels: " + found.wide);
    if (found.narrow !== width) wrong.push(view + " is shown at " + found.narrow + " pixels");
    if (found.words < 20) wrong.push(view + " shows nothing");
    if (found.flat) wrong.push(view + " has " + found.flat + " pictures without width at " + width);
    if (found.dead) wrong.push(view + " runs no script");
    seen++;
  }
}
await browser.close();
console.log(JSON.stringify({seen, wrong}));
`

// TestBrowserFirefox walks through all views in Firefox. It takes minutes.
func TestBrowserFirefox(t *testing.T) {
	if !full.Asked() || os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("TIDEGATE_OUTSIDERS=1 and -full walk through all views in Firefox")
	}
	firefox, err := exec.LookPath("firefox-esr")
	if err != nil {
		t.Skipf("no firefox: %v", err)
	}
	s, views := everyView(t)
	b := visit(t, s, nil)
	module := filepath.Join(fromNPM(t, "puppeteer-core@24.43.1"), "puppeteer-core", "lib", "esm", "puppeteer", "puppeteer-core.js")
	script := filepath.Join(t.TempDir(), "walk.mjs")
	must.Do(t, os.WriteFile(script, []byte(walk), 0o600))
	command := exec.Command("node", append([]string{script, module, b.base, token, firefox}, views...)...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir())
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var walked struct {
		Seen  int
		Wrong []string
	}
	if err := json.Unmarshal(out, &walked); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, wrong := range walked.Wrong {
		t.Error(wrong)
	}
	if walked.Seen != 3*len(views) {
		t.Errorf("%d views were seen", walked.Seen)
	}
}
