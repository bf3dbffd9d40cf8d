package paper_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestReportsInABrowser: a report asks for nothing, says nothing on the console,
// fits every width, and axe-core finds nothing in it.
func TestReportsInABrowser(t *testing.T) {
	if !full.Asked() {
		t.Skip("starts a browser; -full does")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("no chromium: %v", err)
	}
	dir := npmPackages(t)
	script := must.Get(os.ReadFile("testdata/browser.mjs"))(t)
	// Modules are looked up from where the script is.
	path := filepath.Join(dir, "browser.mjs")
	must.Do(t, os.WriteFile(path, script, 0o600))
	// axe-core takes minutes for a megabyte.
	shorter := bytes.ReplaceAll(hostile().HTML(), []byte(longLine), []byte(longLine[:10_000]))
	for name, report := range map[string][]byte{"harbour": harbour(t).HTML(), "hostile": shorter, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.html")
			must.Do(t, os.WriteFile(file, report, 0o600))
			cmd := exec.Command("node", path, chromium, file)
			cmd.Stderr = os.Stderr
			out := must.Get(cmd.Output())(t)
			var seen []string
			must.Do(t, json.Unmarshal(out, &seen))
			if name == "empty" {
				if len(seen) == 0 { // a page without a title or a language
					t.Error("axe-core finds nothing in an empty page: the test sees nothing")
				}
				return
			}
			for _, what := range seen {
				t.Error(what)
			}
		})
	}
}

// npmPackages is a folder in which playwright-core and axe-core are installed.
func npmPackages(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no place for npm packages: %v", err)
	}
	dir := filepath.Join(cache, "tidegate-test", "browser-1")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "axe-core", "package.json")); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skipf("no place for npm packages: %v", err)
	}
	out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
		"--fetch-retries=0", "playwright-core@1.65.0", "axe-core@4.14.0").CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install playwright-core and axe-core: %v\n%s", err, out)
	}
	return dir
}
