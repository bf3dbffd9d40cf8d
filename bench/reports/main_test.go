package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// files writes a folder of reports, and of the pages that they cite.
func files(t *testing.T) (folder, pages string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"reports/lines.jsonl": `{"id": 1, "language": "en", "prompt": "Ferries?", "article": "The ferry carries 120 cars [1]. Its battery holds 9.9 MWh [2]. It is the first of its kind.\n\n## Sources\n\n[1] https://ferries.example/ampere\n[2] https://batteries.example/\n"}` + "\n" +
			`{"id": "two", "prompt": "Tugs?", "article": "The tug is gone [1]. It was sold [7].\n\n## Sources\n\n[1] https://gone.example/tug\n"}` + "\n",
		"reports/folder/a.md":       "The ferry carries 120 cars [here](https://ferries.example/ampere).\n",
		"reports/folder/notes.json": "{}",
		"reports/silent/a.md":       "Nothing is cited here.\n",
		"reports/README.md":         "not a report",
		"pages/index.json":          `{"https://ferries.example/ampere": "a.html", "https://batteries.example/": "b.html", "https://gone.example/tug": {"status": 404}}`,
		"pages/a.html":              "<!doctype html><html lang=en><title>Ampere</title><p>The ferry carries 120 cars across the fjord on every one of its crossings, and more of them in summer, when people travel.",
		"pages/b.html":              "<!doctype html><html lang=en><title>Battery</title><p>The battery of the ferry holds 1.04 MWh, which is enough for one crossing of the fjord in calm weather, and no more.",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, text)
	}
	return filepath.Join(dir, "reports"), filepath.Join(dir, "pages")
}

func TestTheTableOfReports(t *testing.T) {
	folder, pages := files(t)
	for _, c := range []struct {
		o    options
		rows []string
	}{
		{options{noFetch: true}, []string{"| folder | 1 | 0 | 1 | 1.000 | 1.000 | 1 | 0.000 | 0.000 | 0 | – | 0 | – |", "| lines | 2 | 0 | 5 | 0.800 | 0.800 | 3 | 0.333 | 0.250 | 0 | – | 0 | – |", "| silent | 1 | 1 | 0 | – | – | 0 | – | – | 0 | – | 0 | – |"}},
		{options{pages: pages}, []string{"| folder | 1 | 0 | 1 | 1.000 | 1.000 | 1 | 0.000 | 0.000 | 1 | 0.000 | 1 | 0.000 |", "| lines | 2 | 0 | 5 | 0.800 | 0.800 | 3 | 0.333 | 0.250 | 3 | 0.333 | 2 | 0.500 |"}},
	} {
		c.o.folder = folder
		var out strings.Builder
		must.Do(t, c.o.run(&out))
		for _, row := range c.rows {
			if !strings.Contains(out.String(), row+"\n") {
				t.Errorf("no row %s in\n%s", row, out.String())
			}
		}
	}
}

func TestReportsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{"": "has neither", `{"id":1,"prompt":"x"}`: "report 1 has no article", `{"id":`: "after 0 reports"} {
		dir := t.TempDir()
		if text != "" {
			must.Do(t, os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(text), 0o600))
		}
		if _, err := read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
