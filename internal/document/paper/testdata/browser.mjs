// Opens reports in a browser and says what it saw: requests, messages of the
// console, what runs out of the page at three widths, and what axe-core finds in
// light and dark, on paper, and with every card open.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const seen = [];
for (const file of process.argv.slice(3)) {
  for (const [name, width, colorScheme, media] of [
    ["phone", 390, "light", "screen"], ["tablet", 820, "dark", "screen"], ["desktop", 1440, "light", "screen"],
    ["dark desktop", 1440, "dark", "screen"], ["paper", 820, "light", "print"],
  ]) {
    const say = (what) => seen.push(`${name}: ${what}`);
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
    const address = pathToFileURL(file).href;
    page.on("request", (r) => r.url() === address || say(`request ${r.url()}`));
    page.on("console", (m) => say(`console ${m.text()}`));
    page.on("pageerror", (e) => say(`error ${e}`));
    page.on("dialog", (d) => { say(`dialog ${d.message()}`); d.dismiss(); });
    await page.emulateMedia({ media, colorScheme });
    await page.goto(address);
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) say("runs out of the page");
    const found = async (where, root) => {
      const result = await page.evaluate(async ([axe, root]) => {
        if (!window.axe) (0, eval)(axe);
        return window.axe.run(root ?? document, { resultTypes: ["violations"] });
      }, [axe, root]);
      for (const v of result.violations) say(`${where}: ${v.impact} ${v.id}: ${v.nodes.length} × ${v.nodes[0].html.slice(0, 200)}`);
    };
    await found("page");
    if (media === "screen") {
      const buttons = page.locator(".cite button");
      for (let i = 0; i < Math.min(await buttons.count(), 8); i++) {
        const card = page.locator("#" + (await buttons.nth(i).getAttribute("popovertarget")));
        await buttons.nth(i).focus();
        await page.keyboard.press("Enter");
        if (!(await card.isVisible())) say(`citation ${i + 1} opens nothing`);
        const box = await card.boundingBox();
        if (box && (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > 901)) say(`card ${i + 1} lies outside: ${JSON.stringify(box)}`);
        if (i === 0) await found("card", ".card:popover-open");
        await page.keyboard.press("Escape");
        if (await card.isVisible()) say(`citation ${i + 1} cannot be closed`);
        if (!(await buttons.nth(i).evaluate((b) => b === document.activeElement))) say(`citation ${i + 1} loses the focus`);
      }
    }
    await page.close();
  }
}
await browser.close();
console.log(JSON.stringify(seen));
