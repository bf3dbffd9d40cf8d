package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
)

// browsers are the programs that print a page as PDF, by the names and places in which
// they are installed.
var browsers = map[string][]string{
	"darwin":  {"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"},
	"windows": {`C:\Program Files\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`, `C:\Program Files\Microsoft\Edge\Application\msedge.exe`},
	"":        {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "microsoft-edge-stable", "msedge"},
}

// findBrowser is the first browser that is installed. It returns NOT_FOUND, which names
// those that it looked for.
func findBrowser() (string, error) {
	names := append(append([]string{}, browsers[""]...), browsers[runtime.GOOS]...)
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("format", "pdf", "programs", names),
		"a report is printed as PDF by a browser, and none is installed: install Chromium, Chrome or Edge, or print the HTML yourself; looked for %s", strings.Join(names, ", "))
}

// printing is how long a browser may take.
const printing = 2 * time.Minute

// printPDF lets a browser print a page. The browser has a profile of its own that is
// removed afterwards, and reaches no network: every name leads nowhere, and so does the
// proxy that all addresses would go through. The times in the file are those of the run,
// so that the same browser gives the same bytes; another version of it may not.
//
// It returns NOT_FOUND, CANCELLED, and READ_FAILED for a browser that prints nothing.
func printPDF(ctx context.Context, page []byte, created string) ([]byte, error) {
	browser, err := findBrowser()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tidegate-pdf-")
	if err != nil {
		return nil, tidegate.Errorf(tidegate.WriteFailed, nil, "cannot make a folder for the browser: %w", err)
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.pdf")
	if err := os.WriteFile(from, page, 0o600); err != nil {
		return nil, tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", from), "cannot write the page for the browser: %w", err)
	}
	args := []string{
		"--headless=new", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile"), "--no-first-run", "--no-default-browser-check", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync", "--disable-domain-reliability", "--metrics-recording-only", "--disable-breakpad",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=socks5://127.0.0.1:1", "--proxy-bypass-list=<-loopback>", "--no-pdf-header-footer", "--generate-pdf-document-outline",
		"--print-to-pdf=" + to, (&url.URL{Scheme: "file", Path: filepath.ToSlash(from)}).String(),
	}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...) // Chromium has none for root
	}
	ctx, stop := context.WithTimeout(ctx, printing)
	defer stop()
	command := exec.CommandContext(ctx, browser, args...)
	command.Dir, command.Env = dir, append(os.Environ(), "HOME="+dir, "TZ=UTC")
	command.WaitDelay = 5 * time.Second
	said, err := command.CombinedOutput()
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return nil, tidegate.Errorf(tidegate.Cancelled, nil, "stopped while the browser printed")
	}
	data, readErr := os.ReadFile(to)
	if readErr != nil {
		if err == nil {
			err = readErr
		}
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("browser", browser), "%s printed nothing: %w: %s", browser, err, tidegate.Cut(markdown.OneLine(string(said))))
	}
	return withTimes(data, created), nil
}

var pdfTimes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(?:CreationDate|ModDate) ?\(D:(\d{14}[+-]\d\d'\d\d'?)\)`)
})

// withTimes writes the time of the run where the file has that of its printing. Both are
// equally long, so that every place in the file stays where it is.
func withTimes(pdf []byte, created string) []byte {
	at, err := time.Parse(time.RFC3339Nano, created)
	if err != nil {
		at = time.Unix(0, 0)
	}
	for _, found := range pdfTimes().FindAllSubmatchIndex(pdf, -1) {
		copy(pdf[found[2]:found[3]], at.UTC().Format("20060102150405")+"+00'00'")
	}
	return pdf
}
