package web_test

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestExportedPagesLeadToEachOther: every link in the files leads to one of them, or
// to a page on the web that a reader may follow; none has a script.
func TestExportedPagesLeadToEachOther(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	dir := filepath.Join(t.TempDir(), "pages")
	manifest := filepath.Join(s.Home, "harbour", run.ManifestFile)
	files := must.Get(web.Export(t.Context(), s, manifest, dir))(t)
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".tidegate.lock" })
	if err != nil || len(entries) != files || files < 30 {
		t.Fatalf("%d files are said, %d are there, %v", files, len(entries), err)
	}
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	checked := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".html" || e.Name() == "report-document.html" {
			continue
		}
		data := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
		if strings.Contains(string(data), "<script") || strings.Contains(string(data), "<form") {
			t.Errorf("%s asks for a server", e.Name())
		}
		if command := regexp.MustCompile(`tidegate (gate|run|report|job|citations|claim|research|serve) [^<]*`).FindString(string(data)); command != "" && !strings.HasPrefix(e.Name(), "job-") {
			t.Errorf("%s tells a reader without tidegate to type %q", e.Name(), command)
		}
		for _, m := range links.FindAllStringSubmatch(string(data), -1) {
			to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if to == "" || strings.HasPrefix(to, "data:image/") || strings.HasPrefix(to, "https://") {
				continue
			}
			name := must.Get(url.PathUnescape(to))(t)
			checked++
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil || strings.Contains(name, "/") {
				t.Errorf("%s leads to %s, which is not there", e.Name(), to)
			}
		}
	}
	index := must.Get(os.ReadFile(filepath.Join(dir, "index.html")))(t)
	inOrder(t, string(index), "What this is", "how a report was made", "How to check it", `href="report.html"`, `href="jobs.html"`, "github.com/tidegate/tidegate", `href="made.html"`)
	if checked < 100 {
		t.Errorf("only %d links were followed", checked)
	}
	if _, err := web.Export(t.Context(), s, manifest, dir); tidegate.ClassOf(tidegate.CodeOf(err)) != tidegate.Conflict {
		t.Errorf("a folder that is there is written over: %v", err)
	}
}
