package report_test

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
)

var github = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// shape lists the structure of a document: every node but text and code.
func shape(source []byte) []string {
	var nodes []string
	_ = ast.Walk(github.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindText, ast.KindString, ast.KindCodeSpan:
			return ast.WalkSkipChildren, nil
		}
		if entering {
			nodes = append(nodes, "+"+n.Kind().String())
		} else {
			nodes = append(nodes, "-"+n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return nodes
}

var (
	code = regexp.MustCompile(`(?s)<code>.*?</code>`)
	tag  = regexp.MustCompile(`<[^>]*>`)
	h3   = regexp.MustCompile(`(?s)<h3[^>]*>(.*?)</h3>`)
	td   = regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`)
	live = regexp.MustCompile(`(?i)@|://|www\.|mailto:|xmpp:|#[0-9]|gh-[0-9]|\$`)
)

func checkMarkdown(t *testing.T, s string) {
	t.Helper()
	page := checkStructure(t, s, everywhere(s, s), everywhere(calm(s)))
	cells := td.FindAllStringSubmatch(page, -1)
	if len(cells) != 10 {
		t.Fatalf("%q: %d cells, want 10:\n%s", s, len(cells), page)
	}
	const longest = 300
	expected := []rune(shown(s))
	if len(expected) > longest {
		expected = append(expected[:longest:longest], '…')
	}
	if cell := html.UnescapeString(tag.ReplaceAllString(cells[1][1], "")); cell != string(expected) {
		t.Errorf("a cell shows %q, want %q", cell, string(expected))
	}
	if title := h3.FindStringSubmatch(page); title != nil && len(expected) <= longest {
		if got := html.UnescapeString(tag.ReplaceAllString(title[1], "")); got != string(expected) {
			t.Errorf("the title is %q, want %q", got, string(expected))
		}
	}
}

// checkStructure fails when the report made of s differs in structure from the
// same report with harmless text, or holds anything live. It returns the page.
func checkStructure(t *testing.T, s string, hostile, harmless report.Report) string {
	t.Helper()
	got := render(t, "markdown", hostile, report.Options{})
	want := render(t, "markdown", harmless, report.Options{})
	if diff := cmp.Diff(shape(want), shape(got)); diff != "" {
		t.Fatalf("%q changes the structure (-want +got):\n%s\n%s", s, diff, got)
	}
	var page bytes.Buffer
	must.Do(t, github.Convert(got, &page))
	for _, forbidden := range []string{"<a ", "<img", "<!--", "<script", "<div", "<input", "<sup"} {
		if strings.Contains(page.String(), forbidden) {
			t.Errorf("%q makes %s:\n%s", s, forbidden, page.String())
		}
	}
	if bare := html.UnescapeString(tag.ReplaceAllString(code.ReplaceAllString(page.String(), ""), "")); live.MatchString(bare) {
		t.Errorf("%q leaves %q outside of code, where a code host links it", s, live.FindString(bare))
	}
	if i := strings.IndexFunc(strings.ReplaceAll(page.String(), "\n", ""), dangerous); i >= 0 {
		t.Errorf("%q leaves characters that cannot be seen: %q", s, page.String())
	}
	return page.String()
}

func TestMarkdownStaysBelowTheLimitAndSaysWhatIsMissing(t *testing.T) {
	const rows, failed = 10_000, 40
	table := report.NewTable("Name", "Text")
	for i := range rows {
		table.Row(report.PassIf(i < rows-failed), fmt.Sprintf("row-%d-", i), "some text | with a pipe")
	}
	r := report.Report{Title: "many", Blocks: []report.Block{
		report.Paragraph("before"), table, report.Paragraph("after\n\n" + strings.Repeat("word ", 50_000)), report.Findings{}}}
	for i := range rows {
		r.AddCase(report.Case{Name: "c", Status: report.Fail, Findings: []report.Finding{{Rule: "R", Message: fmt.Sprintf("finding-%d-", i)}}})
	}
	out := string(render(t, "markdown", r, report.Options{}))
	if len(out) > report.MarkdownLimit {
		t.Errorf("%d bytes, more than %d", len(out), report.MarkdownLimit)
	}
	if len(out) < report.MarkdownLimit*9/10 {
		t.Errorf("%d bytes leave much of %d unused", len(out), report.MarkdownLimit)
	}
	for i := rows - failed; i < rows; i++ {
		if !strings.Contains(out, fmt.Sprintf("row-%d-", i)) {
			t.Errorf("failed row %d is left out although passed rows are shown", i)
		}
	}
	for _, kind := range []struct{ noun, sign string }{{"rows", "row-"}, {"findings", "finding-"}} {
		var left, total int
		note := out[strings.LastIndex(out[:strings.Index(out, " "+kind.noun+" left out")], "*"):]
		if _, err := fmt.Sscanf(note, "*%d of %d ", &left, &total); err != nil {
			t.Fatalf("no count of %s left out: %v", kind.noun, err)
		}
		if shown := strings.Count(out, kind.sign); total != rows || left+shown != total || shown == 0 {
			t.Errorf("%d %s shown and %d left out of %d, want %d", shown, kind.noun, left, total, rows)
		}
	}
	if !strings.Contains(out, "before") || !strings.Contains(out, "after") {
		t.Error("a short block is left out in favour of a long one")
	}
}

func TestMarkdownOfManyOrHugeBlocksStaysBelowTheLimit(t *testing.T) {
	wide := report.NewTable()
	for range 2000 {
		wide.Columns = append(wide.Columns, report.Column{Name: strings.Repeat("|", 400)})
	}
	for name, r := range map[string]report.Report{
		"many paragraphs":  {Blocks: make([]report.Block, 0, 5000)},
		"a head of a mile": {Blocks: []report.Block{wide}},
		"long everything":  everywhere(strings.Repeat("\u202e", 1<<14), strings.Repeat("\u202e\n", 1<<14)),
		"one long pre":     {Blocks: []report.Block{report.Preformatted(strings.Repeat("`line`\n", 1<<16))}},
	} {
		if name == "many paragraphs" {
			for i := range 5000 {
				r.Add(report.Paragraph(fmt.Sprintf("paragraph %d of a report that has very many", i)))
			}
		}
		t.Run(name, func(t *testing.T) {
			out := string(render(t, "markdown", r, report.Options{}))
			if len(out) > report.MarkdownLimit {
				t.Errorf("%d bytes, more than %d", len(out), report.MarkdownLimit)
			}
			if !strings.Contains(out, "left out") && !strings.Contains(out, "…") {
				t.Errorf("nothing says that something is missing:\n%s", out)
			}
		})
	}
}

func TestPreformattedStaysOneBlock(t *testing.T) {
	for name, s := range hostile {
		if strings.TrimSpace(report.Visible(s)) == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out := render(t, "markdown", report.Report{Blocks: []report.Block{report.Preformatted(s)}}, report.Options{})
			if diff := cmp.Diff([]string{"+Document", "+FencedCodeBlock", "-FencedCodeBlock", "-Document"}, shape(out)); diff != "" {
				t.Errorf("structure (-want +got):\n%s\n%s", diff, out)
			}
		})
	}
}

// TestAddressesStandInCodeWithoutTheirPunctuation has the quotes, brackets and full
// stops of a sentence stand outside the code span of an address.
func TestAddressesStandInCodeWithoutTheirPunctuation(t *testing.T) {
	for sentence, want := range map[string]string{
		"such as '- Title https://example.org/page', or remove it": "such as '- Title `https://example.org/page`', or remove it",
		"see https://example.org/a.":                               "see `https://example.org/a`.",
		"(see https://example.org/a).":                             "\\(see `https://example.org/a`).",
		"see (https://example.org/a_(b)).":                         "see (`https://example.org/a_(b))`.",
		"https://example.org/tides?x=1!":                           "`https://example.org/tides?x=1`!",
		"an http(s):// URL":                                        "an `http(s)://` URL",
		`"https://example.org/"`:                                   "\\\"`https://example.org/`\"",
		"write to ann@example.org;":                                "write to `ann@example.org`;",
	} {
		var out bytes.Buffer
		must.Do(t, report.Markdown(&out, report.Report{Blocks: []report.Block{report.Paragraph(sentence)}}, report.Options{}))
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("%s\n got %s\nwant %s", sentence, got, want)
		}
	}
}
