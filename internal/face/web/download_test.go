package web_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
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
		answer, err := b.Get(b.base + "/runs/harbour/download/" + ending)
		if err != nil {
			t.Fatal(err)
		}
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

// TestALinkToOneSentence: its address shows the sentence as chosen, beside its archived page,
// and every sentence has one.
func TestALinkToOneSentence(t *testing.T) {
	t.Parallel()
	b := visit(t, demoSite(t), nil)
	_, page := b.get(t, "/runs/harbour/report")
	sentences := regexp.MustCompile(`<(?:a|span) id="(\w+)" class="s `).FindAllStringSubmatch(page, -1)
	if len(sentences) < 40 {
		t.Fatalf("the text has %d sentences", len(sentences))
	}
	for _, s := range sentences {
		id := s[1]
		if !strings.Contains(page, `id="l-`+id+`"`) || !strings.Contains(page, `<a href="?s=`+id+`#`+id+`">`) {
			t.Errorf("%s is not in the list, or has no link", id)
		}
	}
	found := regexp.MustCompile(`id="(\w+)" class="s good" target="source" href="([^"]+)" title="[^"]+">On 88 %`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the sentence is missing")
	}
	_, chosen := b.get(t, "/runs/harbour/report?s="+found[1])
	if !strings.Contains(chosen, `<a id="`+found[1]+`" class="s good chosen"`) || !strings.Contains(chosen, `title="The archived page of the sentence that you chose" src="`+found[2]+`"`) {
		t.Error("the sentence that the address names is not the one that is shown")
	}
	if strings.Count(page, " chosen\"") != 0 {
		t.Error("a sentence is chosen that nobody named")
	}
}
