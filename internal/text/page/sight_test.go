package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate/internal/test/full"
)

const sightsFile = "testdata/sights.txt"

// TestWhatABrowserShows has ways to hide a text, and ways that look like it. Each line of
// the file begins with what Chromium shows: "shown" or "hidden". "faint" stands for what it
// draws and nobody can read, "read" for what it does not show and a reader opens, "taken" for
// what it shows although the page takes it back or keeps it from readers who hear the page,
// "doubtful" for what it draws by a function that is not known here.
func TestWhatABrowserShows(t *testing.T) {
	lines := sights(t)
	if len(lines) < 1000 {
		t.Fatalf("%d ways are too few", len(lines))
	}
	for _, line := range lines {
		want, body, _ := strings.Cut(line, "\t")
		text := Read([]byte("<!doctype html>"+body), "text/html").Text
		if got := strings.Contains(text, "walrus"); got != (want == "shown" || want == "read") {
			t.Errorf("%s: %s", want, body)
		}
	}
}

// TestStylesAreReadWithinBounds has styles that would take minutes if each part of them were
// followed to its end.
func TestStylesAreReadWithinBounds(t *testing.T) {
	var chain strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&chain, "--v%d:var(--v%d);", i, i+1)
	}
	for _, body := range []string{
		strings.Repeat("<p style='"+chain.String()+"'>walrus", 4),
		"<p style='color:black'>walrus<p style='color:" + strings.Repeat("light-dark(", 20000) + "'>x",
		"<style>" + strings.Repeat("@layer{p{color:red}}", 20000) + "</style><p>walrus",
		"<style>" + strings.Repeat("@property --a{inherits:false;initial-value:1}", 15000) + "</style>" + strings.Repeat("<p style='color:red'>walrus", 2000),
	} {
		if text := Read([]byte("<!doctype html>"+body), "text/html").Text; !strings.Contains(text, "walrus") {
			t.Errorf("%.40s…: %.40q", body, text)
		}
	}
}

// TestSheetsThatAreTooMuchWork has rules of which each could apply to each element. What
// they would hide is not read.
func TestSheetsThatAreTooMuchWork(t *testing.T) {
	var rules strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&rules, ":has(:has(:has(.x%d))) p{display:none}", i)
	}
	c := Read([]byte("<!doctype html><style>"+rules.String()+"</style><div>seal</div>"+strings.Repeat("<p>x</p>", 60000)+"<div>walrus"), "text/html")
	if !c.Cut || strings.Contains(c.Text, "walrus") || !strings.Contains(c.Text, "seal") {
		t.Errorf("cut: %v, %.80q", c.Cut, c.Text)
	}
}

func sights(t *testing.T) []string {
	data, err := os.ReadFile(sightsFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestBrowserShowsWhatIsSaid lets Chromium draw each way, with two words of one width: what
// differs is seen.
func TestBrowserShowsWhatIsSaid(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to draw with an installed browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 800))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	tab, leave := chromedp.NewContext(allocator)
	defer leave()
	if err := chromedp.Do(tab); err != nil { // the first call may have no time limit
		t.Fatal(err)
	}
	draw := func(body string) []byte {
		t.Helper()
		if err := chromedp.Do(tab, chromedp.Navigate("data:text/html;base64,"+base64.StdEncoding.EncodeToString([]byte(body)))); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		const ended = "Promise.all(document.getAnimations().filter(a => a.playState == 'running' && a.effect.getComputedTiming().endTime < 5000).map(a => a.finished)).then(() => true)"
		if _, err := chromedp.Run(tab, chromedp.Evaluate[bool](ended, chromedp.EvalAwaitPromise)); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return picture
	}
	lines, changed := sights(t), false
	for i := 0; i < len(lines); i += full.Stride(len(lines), 60) {
		line := lines[i]
		want, body, _ := strings.Cut(line, "\t")
		whole := "<!doctype html><meta charset=utf-8>" + body + "<style>*{font-family:monospace}</style>"
		seen := !bytes.Equal(draw(whole), draw(strings.ReplaceAll(whole, "walrus", "mxkrvq")))
		if seen == (want == "shown" || want == "taken" || want == "faint" || want == "doubtful") {
			continue
		}
		if !*update {
			t.Errorf("%s: %s, and Chromium shows it: %v", want, body, seen)
			continue
		}
		lines[i], changed = map[bool]string{true: "shown", false: "hidden"}[seen]+"\t"+body, true
	}
	if changed {
		if err := os.WriteFile(sightsFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
