package foreign_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// set is text on a page, with the place where it is set and the URL that it leads to.
type set struct {
	x, y, size float64
	text, url  string
}

// printedPDF is a file of pages with text at places, and links over it.
func printedPDF(pages ...[]set) string {
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n3 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [" +
		strings.Repeat("600 ", 95) + "] >>\nendobj\n")
	var kids string
	for i, page := range pages {
		kids += fmt.Sprintf("%d 0 R ", 10+2*i)
		var text, links strings.Builder
		for _, t := range page {
			fmt.Fprintf(&text, "BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", t.size, t.x, t.y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(t.text))
			if t.url != "" {
				fmt.Fprintf(&links, "<< /Type /Annot /Subtype /Link /Rect [%g %g %g %g] /A << /S /URI /URI (%s) >> >> ", t.x, t.y-2, t.x+0.6*t.size*float64(len(t.text)), t.y+t.size, t.url)
			}
		}
		fmt.Fprintf(&out, "%d 0 obj\n<< /Type /Page /Parent 2 0 R /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> /Annots [%s] >>\nendobj\n%d 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n",
			10+2*i, 11+2*i, links.String(), 11+2*i, text.Len(), text.String())
	}
	fmt.Fprintf(&out, "2 0 obj\n<< /Type /Pages /Kids [%s] /Count %d >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%%%EOF\n", kids, len(pages))
	return out.String()
}

// TestPrinted reads reports that were printed: what stands at the edges of their pages is no
// sentence, paragraphs go on over lines and pages, raised numbers and links are marks, and an
// address that goes on in the next line is one.
func TestPrinted(t *testing.T) {
	head := set{40, 800, 7, "Ferries of the north, 11/19/26", ""}
	foot := func(n int) set { return set{40, 20, 7, fmt.Sprintf("report.html %d/2", n), ""} }
	got := shown(t, "r.pdf", printedPDF(
		[]set{head, {40, 760, 18, "Electric ferries", ""},
			{40, 720, 10, "The first large one entered service in the spring of that year and has", ""},
			{40, 706, 10, "carried cars since", ""}, {148, 710, 6, "2", ""}, {151.6, 706, 10, ". Its battery is small ", ""}, {289.6, 706, 10, "(report)", "https://x.example/linked"}, {337.6, 706, 10, ".", ""},
			{40, 674, 10, "Sister ships of it were ordered by owners in two towns of the coast who", ""}, foot(1)},
		[]set{head, {40, 760, 10, "wait for them.", ""}, {124, 764, 6, "1", ""},
			{40, 720, 14, "References", ""},
			{40, 690, 10, "1. Battery sheet. https://batteries.example/sheets/2019/of-the-first-", ""}, {58, 676, 10, "ferry/ampere.html", ""},
			{40, 660, 10, "2. The yard, ", ""}, {118, 660, 10, "its pages", "https://yards.example/ampere"}, foot(2)}))
	want := "2 cited The first large one entered service in the spring of that year and has carried cars since. <ampere>\n" +
		"3 cited Its battery is small (report). <linked>\n" +
		"4 cited Sister ships of it were ordered by owners in two towns of the coast who wait for them. <ampere.html>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAListSetAsOneParagraph reads entries that follow each other over lines, behind a label
// that is no title or at the beginning of a paragraph; addresses in a sentence are no list.
func TestAListSetAsOneParagraph(t *testing.T) {
	for text, want := range map[string]string{
		"Read on: [1] https://x.example/boats - Boats [2] https://x.example/towns - Towns": "1 cited Boats are small. <boats>\n3 cited Towns are large. <towns>\n",
		"[1] https://x.example/boats - Boats [2] https://x.example/towns - Towns":          "1 cited Boats are small. <boats>\n3 cited Towns are large. <towns>\n",
	} {
		if diff := cmp.Diff(want, shown(t, "r.md", "Boats are small [1].\n\nTowns are large [2].\n\n"+text+"\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
	if got := shown(t, "r.md", "Boats are small.\n\nThe yard says so in [1] https://x.example/boats and [2] https://x.example/towns.\n"); !strings.Contains(got, "The yard says so") {
		t.Errorf("a sentence was taken for a list: %s", got)
	}
}

// TestALinkThatEndsTooEarly gives a link that shows its own address what follows it.
func TestALinkThatEndsTooEarly(t *testing.T) {
	got := shown(t, "r.html", `<html><p>Boats are small (<a href="https://x.example/a/sea">https://x.example/a/sea</a>_boats.html). `+
		`Towns are <a href="https://x.example/a/towns">large</a>-ish.</p></html>`)
	if !strings.Contains(got, "<sea_boats.html>") || !strings.Contains(got, "<towns>") {
		t.Error(got)
	}
}
