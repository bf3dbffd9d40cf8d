package web_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheReportIsAFileToo: a report can be had as HTML, PDF, Word and BibTeX, as a file with
// the name of the run that does nothing in the page.
func TestTheReportIsAFileToo(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	s.PDF = func(_ context.Context, page []byte, _ string) ([]byte, error) {
		return append([]byte("%PDF-"), page[:15]...), nil
	}
	b := visit(t, s, nil)
	_, page := b.get(t, "/runs/harbour/report")
	for ending, begins := range map[string]string{"html": "<!DOCTYPE html>", "pdf": "%PDF-<!DOCTYPE html>", "docx": "PK", "bib": "@"} {
		if !strings.Contains(page, `href="/runs/harbour/download/`+ending+`" download>`) {
			t.Errorf("the page does not offer %s", ending)
		}
		answer := must.Get(b.Get(b.base + "/runs/harbour/download/" + ending))(t)
		data, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s is answered with %d, %v: %.40q", ending, answer.StatusCode, err, data)
		}
		if got, want := answer.Header.Get("Content-Disposition"), `attachment; filename="harbour.`+ending+`"`; got != want {
			t.Errorf("%s is sent as %s, want %s", ending, got, want)
		}
		if got := answer.Header.Get("Content-Security-Policy"); got != "default-src 'none'; sandbox; frame-ancestors 'none'" {
			t.Errorf("%s has the policy %s", ending, got)
		}
	}
	for path, want := range map[string]int{"/runs/harbour/download/exe": 404, "/runs/nobody/download/pdf": 404} {
		if status, _ := b.get(t, path); status != want {
			t.Errorf("%s is answered with %d, want %d", path, status, want)
		}
	}
	s.PDF = nil
	b = visit(t, s, nil)
	if status, page := b.get(t, "/runs/harbour/download/pdf"); status != http.StatusNotFound || !strings.Contains(page, "nothing here prints PDF") {
		t.Errorf("without a printer, it is answered with %d:\n%s", status, page)
	}
}

// TestALinkToOneSentence: each sentence is led to by its id in claims.json, carries how it
// stands, and has beside it what it rests on.
func TestALinkToOneSentence(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	_, page := b.get(t, "/runs/harbour/report")
	sentences := regexp.MustCompile(`<span class="s" data-state="(\w+)" id="(\w+)">[^<]*</span><span class="ev" id="e-(\w+)"`).FindAllStringSubmatch(page, -1)
	if len(sentences) < 40 {
		t.Fatalf("the text has %d sentences", len(sentences))
	}
	states := map[string]int{}
	for _, s := range sentences {
		states[s[1]]++
		if s[2] != s[3] || !strings.Contains(page, `<a href="#`+s[2]+`"`) {
			t.Errorf("nothing leads to %s", s[2])
		}
	}
	if states["inferred"] != 8 || states["calculated"] != 8 || states["stands"] < 20 {
		t.Errorf("the sentences stand as %v", states)
	}
}
