package paper_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/test/golden"
)

// drawn is a checked report with two tables that are drawn. One row of the first is not
// confirmed.
func drawn(t testing.TB) paper.Report { return checkedDraft(t, "testdata/drawn/synthesis.md") }

func TestDrawnHTML(t *testing.T) { golden.Check(t, "testdata/drawn/report.html", drawn(t).HTML()) }

func TestDrawnMarkdown(t *testing.T) {
	text, charts := drawn(t).MarkdownFiles("report.md")
	golden.Check(t, "testdata/drawn/report.md", text)
	for _, c := range charts {
		golden.Check(t, "testdata/drawn/"+c.Name, c.Data)
	}
	if len(charts) != 2 || !strings.Contains(string(text), "![What a working hour costs, in euros](report-chart-1.svg)") {
		t.Errorf("%d charts", len(charts))
	}
	if alone := string(drawn(t).Markdown()); strings.Count(alone, "](data:image/svg+xml;base64,") != 2 {
		t.Error("without a place for files, the charts are not part of the text")
	}
}

// TestOnlyCheckedNumbersAreDrawn: a row that is not confirmed is left out and said so; a
// table of a text whose sentences were not checked is not drawn; and no mark is left in
// the text.
func TestOnlyCheckedNumbersAreDrawn(t *testing.T) {
	r := drawn(t)
	page := string(r.HTML())
	first, _, _ := strings.Cut(page[strings.Index(page, "<svg"):], "</svg>")
	if strings.Count(page, "<svg") != 2 || strings.Contains(page, "[chart") || strings.Contains(first, "Insurance") || !strings.Contains(first, "Rows that are not drawn, because they are not confirmed: 1") || !strings.Contains(first, "[1]") {
		t.Errorf("the charts are others:\n%s", first)
	}
	r.Parts[0].Sentences = nil
	page, text := string(r.HTML()), string(r.Markdown())
	for _, got := range []string{page, text} {
		if strings.Contains(got, "<svg") || strings.Contains(got, "svg+xml") || strings.Contains(got, "chart: bar") || !strings.Contains(got, "The table is not drawn, because its numbers were not checked.") {
			t.Error("numbers are drawn that nobody checked")
		}
	}
}

// TestPrinted: on paper each number is a link to its source, and nothing waits for a
// click.
func TestPrinted(t *testing.T) {
	page := string(drawn(t).PrintHTML())
	checkPage(t, regexp.MustCompile(`(?s)<figure class="drawn"><svg.*?</svg>\n</figure>`).ReplaceAllString(page, ""))
	if strings.Contains(page, `class="ev"`) || strings.Contains(page, "<input") || !strings.Contains(page, `<a href="#source-1">1</a>`) || !strings.Contains(page, `id="source-1"`) || strings.Count(page, "<svg") != 2 {
		t.Error("the page is not one for paper")
	}
}
