package paper_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestAReportSaysWhatChanged: every format lists what was dropped, changed and added since
// the earlier report, as text, in the language of the report; no author may write a heading
// that says so.
func TestAReportSaysWhatChanged(t *testing.T) {
	r := checked(t)
	r.Language = "de"
	r.Since = &paper.Since{RunID: "earlier", Kept: 7, Dropped: []string{"It was <b>blue</b>."}, Changed: []paper.SinceSentence{{Was: "It cost 3 euro.", Is: "It costs 4 euro."}}, Added: []string{"# It is *new*."}}
	docx := must.Get(zip.NewReader(bytes.NewReader(r.Docx()), int64(len(r.Docx()))))(t)
	file := must.Get(docx.Open("word/document.xml"))(t)
	word := must.Get(io.ReadAll(file))(t)
	for format, text := range map[string]string{"markdown": string(r.Markdown()), "html": string(r.HTML()), "print": string(r.PrintHTML()), "docx": string(word)} {
		for _, want := range []string{"Was sich seit dem früheren Bericht geändert hat", "Sätze, die wie im Bericht des Laufs earlier lauten: 7", "Entfallen", "Geändert", "Hinzugekommen", "It cost 3 euro. → It costs 4 euro."} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
		if strings.Contains(text, "<b>blue</b>") || strings.Contains(text, "\n# It is") {
			t.Errorf("%s shows a sentence as markup", format)
		}
	}
	for _, language := range evidence.Languages() {
		if title := evidence.Say(language, "What changed since the earlier report"); !synthesis.IsReserved(title) {
			t.Errorf("an author may write the heading %q", title)
		}
	}
	r.Since = nil
	if strings.Contains(string(r.Markdown()), "Was sich seit") {
		t.Error("a report that builds on none says what changed")
	}
}
