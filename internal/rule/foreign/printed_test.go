package foreign_test

import (
	"bytes"
	"fmt"
	"slices"
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

// TestPrintedTables reads tables whose cells go over lines and pages: a row is one sentence
// with the citations of its cells, whether cells stand level at the top or in the middle. A
// heading that is repeated is read once, a word that a narrow column broke is whole, and
// neither two columns of text nor a numbered list is a table.
func TestPrintedTables(t *testing.T) {
	lines := func(x, y, step float64, texts ...string) (out []set) {
		for i, text := range texts {
			out = append(out, set{x, y - step*float64(i), 10, text, ""})
		}
		return out
	}
	page := func(parts ...[]set) []set { return slices.Concat(parts...) }
	head := func(y float64) []set {
		return page(lines(40, y, 14, "Vessel"), lines(150, y+7, 14, "What it is", "known for"), lines(300, y, 14, "Where"))
	}
	refs := page(lines(40, 300, 30, "References"), lines(40, 270, 14, "[1] A: https://x.example/a", "[2] B: https://x.example/b", "[3] C: https://x.example/c"))
	refs[0].size = 14
	got := shown(t, "r.pdf", printedPDF(
		page(lines(40, 760, 14, "Of the vessels of the coast with a battery a large constellation is known today:"), head(700),
			lines(40, 650, 14, "Ampere"), lines(150, 664, 14, "It was the first", "of its kind with", "a battery [1]"), lines(300, 657, 14, "in the Sogne", "fjord [2]"),
			lines(40, 600, 14, "Bastoe"), lines(150, 600, 14, "A large", "constellati", "on of cells"), lines(300, 600, 14, "Oslo")),
		page(head(760), lines(150, 720, 14, "and posts", "of quays [3]"), lines(300, 720, 14, "and Moss"),
			lines(40, 660, 14, "Color"), lines(150, 660, 14, "The largest [2]"), lines(300, 660, 14, "Sandefjord"),
			lines(40, 600, 14, "Nobody knows what comes after these vessels and how long it will take [1]."),
			lines(40, 560, 14, "1."), lines(80, 560, 14, "The first port is small and has"), lines(40, 530, 14, "2."), lines(80, 530, 14, "The second one is large."), refs)))
	want := "1 structural Of the vessels of the coast with a battery a large constellation is known today:\n" +
		"2 cited Ampere | It was the first of its kind with a battery | in the Sogne fjord <a> <b>\n" +
		"8 cited Bastoe | A large constellation of cells and posts of quays | Oslo and Moss <c>\n" +
		"15 cited Color | The largest | Sandefjord <b>\n" +
		"16 cited Nobody knows what comes after these vessels and how long it will take. <a>\n" +
		"17 uncited The first port is small and has\n18 uncited The second one is large.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = shown(t, "r.pdf", printedPDF(
		page(lines(40, 760, 14, "The first column has a text which", "goes over lines and is read whole", "before the second one begins [1]."), lines(40, 700, 14, "It has another one, too [2]."),
			lines(300, 760, 14, "The second column has its own text", "that goes over lines as well [3]."), refs)))
	if strings.Contains(got, " | ") || !strings.Contains(got, "cited The second column has its own text that goes over lines as well. <c>") {
		t.Errorf("two columns: %s", got)
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
