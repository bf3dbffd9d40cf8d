package markdown_test

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// treeOf is the tree of a document, one line for each node.
func treeOf(d *markdown.Document) string {
	var b strings.Builder
	var visit func(nodes []*markdown.Node, depth string)
	visit = func(nodes []*markdown.Node, depth string) {
		for _, n := range nodes {
			b.WriteString(depth)
			switch n.Kind {
			case markdown.ParagraphBlock:
				b.WriteString("paragraph " + inlineOf(d, n.Block))
			case markdown.HeadingBlock:
				fmt.Fprintf(&b, "heading %d %s", n.Level, inlineOf(d, n.Block))
			case markdown.CodeBlock:
				fmt.Fprintf(&b, "code %q", blankEnd.ReplaceAllString(d.Raw(n.Block), ""))
			case markdown.HTMLBlock:
				fmt.Fprintf(&b, "html %q", strings.TrimSpace(d.Raw(n.Block)))
			case markdown.RuleBlock:
				b.WriteString("rule")
			case markdown.QuoteBlock:
				b.WriteString("quote")
			case markdown.ListBlock:
				start := 0
				if n.Ordered {
					start = n.Start
				}
				fmt.Fprintf(&b, "list %v %d loose %v", n.Ordered, start, n.Loose)
			case markdown.ItemBlock:
				b.WriteString("item")
			case markdown.TableBlock:
				b.WriteString("table")
			case markdown.RowBlock:
				b.WriteString("row")
			case markdown.CellBlock:
				b.WriteString("cell " + n.Align + " " + inlineOf(d, n.Block))
			}
			b.WriteByte('\n')
			visit(n.Children, depth+"  ")
		}
	}
	visit(d.Tree(), "")
	return b.String()
}

// blankEnd is what nobody sees of code; goldmark drops it in some lines.
var blankEnd = regexp.MustCompile(`(?m) +$`)

var spanNames = map[markdown.SpanKind]string{markdown.EmphasisSpan: "em", markdown.StrongSpan: "strong", markdown.CodeSpan: "code", markdown.LinkSpan: "link", markdown.ImageSpan: "image"}

func inlineOf(d *markdown.Document, block markdown.Block) string {
	var b strings.Builder
	for _, p := range d.Rendered(block) {
		switch p.Kind {
		case markdown.OpenInline:
			b.WriteString("<" + spanNames[p.Span] + ">")
		case markdown.CloseInline:
			b.WriteString("</" + spanNames[p.Span] + " " + strconv.Quote(p.Dest) + ">")
		case markdown.BreakInline:
			if p.Hard {
				b.WriteString("<br>")
			}
			b.WriteString("␤")
		case markdown.HTMLInline:
			b.WriteString("<html " + strings.ReplaceAll(string(p.Text), "\n", "␤") + ">")
		default:
			b.WriteString(html.EscapeString(string(p.Text)))
		}
	}
	return strings.ReplaceAll(b.String(), "><html ", "> <html ")
}

// goldmarkTree is the same of goldmark's tree.
func goldmarkTree(source []byte) string {
	var b strings.Builder
	var visit func(n ast.Node, depth string)
	visit = func(parent ast.Node, depth string) {
		for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() == ast.KindLinkReferenceDefinition {
				continue
			}
			b.WriteString(depth)
			children := true
			switch n := n.(type) {
			case *ast.Paragraph, *ast.TextBlock:
				b.WriteString("paragraph " + goldmarkInline(source, n, false))
				children = false
			case *ast.Heading:
				fmt.Fprintf(&b, "heading %d %s", n.Level, goldmarkInline(source, n, false))
				children = false
			case *ast.FencedCodeBlock, *ast.CodeBlock:
				fmt.Fprintf(&b, "code %q", blankEnd.ReplaceAll(n.Lines().Value(source), nil))
			case *ast.HTMLBlock:
				raw := string(n.Lines().Value(source))
				if n.HasClosure() {
					raw += string(n.ClosureLine.Value(source))
				}
				fmt.Fprintf(&b, "html %q", strings.TrimSpace(raw))
			case *ast.ThematicBreak:
				b.WriteString("rule")
			case *ast.Blockquote:
				b.WriteString("quote")
			case *ast.List:
				fmt.Fprintf(&b, "list %v %d loose %v", n.IsOrdered(), n.Start, !n.IsTight)
			case *ast.ListItem:
				b.WriteString("item")
			case *extensionast.Table:
				b.WriteString("table")
			case *extensionast.TableHeader, *extensionast.TableRow:
				b.WriteString("row")
			case *extensionast.TableCell:
				align := strings.Replace(n.Alignment.String(), "none", "", 1)
				b.WriteString("cell " + align + " " + goldmarkInline(source, n, true))
				children = false
			}
			b.WriteByte('\n')
			if children {
				visit(n, depth+"  ")
			}
		}
	}
	visit(referee.Parse(text.NewReader(source)), "")
	return b.String()
}

var referee = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()

func goldmarkInline(source []byte, leaf ast.Node, cell bool) string {
	var b strings.Builder
	var visit func(n ast.Node, raw bool)
	within := func(n ast.Node, name, dest string, raw bool) {
		b.WriteString("<" + name + ">")
		visit(n, raw)
		b.WriteString("</" + name + " " + strconv.Quote(dest) + ">")
	}
	visit = func(parent ast.Node, raw bool) {
		for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
			switch n := n.(type) {
			case *ast.Text:
				value := n.Segment.Value(source)
				switch {
				case raw:
					value = []byte(strings.ReplaceAll(string(value), "\n", " "))
					if cell {
						value = []byte(strings.ReplaceAll(string(value), `\|`, "|"))
					}
				default:
					value = decoded(value)
				}
				b.WriteString(html.EscapeString(string(value)))
				switch {
				case n.HardLineBreak():
					b.WriteString("<br>␤")
				case n.SoftLineBreak():
					b.WriteString("␤")
				}
			case *ast.CodeSpan:
				within(n, "code", "", true)
			case *ast.Emphasis:
				within(n, []string{"", "em", "strong"}[n.Level], "", false)
			case *ast.Link:
				within(n, "link", string(decoded(n.Destination)), false)
			case *ast.Image:
				within(n, "image", string(decoded(n.Destination)), false)
			case *ast.AutoLink:
				dest := string(n.URL(source))
				if n.AutoLinkType == ast.AutoLinkEmail {
					dest = "mailto:" + dest
				}
				b.WriteString("<link>" + html.EscapeString(string(n.Label(source))) + "</link " + strconv.Quote(dest) + ">")
			case *ast.RawHTML:
				for _, s := range n.Segments.Sliced(0, n.Segments.Len()) {
					b.WriteString("<html " + strings.ReplaceAll(string(s.Value(source)), "\n", "␤") + ">")
				}
			}
		}
	}
	visit(leaf, false)
	return strings.ReplaceAll(b.String(), "><html ", "> <html ")
}

// decoded is a text with its escapes and entities as what they stand for.
func decoded(value []byte) []byte {
	var shown bytes.Buffer
	w := bufio.NewWriter(&shown)
	goldmarkhtml.DefaultWriter.Write(w, value)
	_ = w.Flush() // a buffer takes everything
	return []byte(html.UnescapeString(shown.String()))
}

// treeDifferences are the shapes that goldmark reads differently, with the sentence
// that decides it. An example must still differ.
var treeDifferences = []struct {
	name, example string
	shape         *regexp.Regexp
}{
	{"GFM, tables: the table is broken at the beginning of another block-level structure", "|a|b|\n|-|-|\n2. x\n",
		regexp.MustCompile(`(?m)^[ >]*\|?[-:|]+[-:| ]*\n(?:.+\n)*?(?:[ >]*(?:[-+*]|[0-9]+[.)])(?:[ \t]|$)| {4}|\t|[ >]*<|[ >]*(?:=+|-+) *$)`)},
	{"GFM, tables: the header row must match the delimiter row, and here a later one does", "a|b|c\n|-|-|\na|b\n|-|-|\n",
		regexp.MustCompile(`(?s)\|[-:|]+\|\n.*\|[-:|]+\|\n`)},
	{"CommonMark 5.3: a link reference definition is no block, so it makes no list loose", "- [a]: b\n  x\n",
		regexp.MustCompile(`(?m)^[ >]*(?:[-+*]|[0-9]+[.)])[ >*+-]* +\[a\]: b`)},
	{"CommonMark 4.7: a paragraph of definitions is still a paragraph, which an empty item cannot interrupt", "[a]: b\n-\n",
		regexp.MustCompile(`(?m)\[a\]: b *\n[ >]*(?:[-+*]|[0-9]+[.)]) *$`)},
	{"CommonMark 5.3: a list is loose if its items are separated by blank lines, and this one is code", "- ```\n\n- a\n",
		regexp.MustCompile("(?s)(?:[-+*]|[0-9]+[.)]) .*```.*\n *\n")},
	{"CommonMark 5.2: an item that begins with a blank line has its content one column after the mark", "* * \n    2. a\n",
		regexp.MustCompile(`(?m)(?:[-+*]|[0-9]+[.)]) *\n`)},
	{"CommonMark 2.4: any ASCII punctuation character may be backslash-escaped, also after a backslash and a line end", "\\  \n\\*a*\n", regexp.MustCompile(`\\ +\n|\\{3}\n`)},
	{"CommonMark 2.2: tabs behave as if they were replaced by spaces with a tab stop of 4", "- - \tx\n", regexp.MustCompile(`\t`)},
}

var treeParts = []string{"a", "b", "text ", " ", "\n", "\n", "\n\n", "20", "2. ", "1) ", "- ", "* ", "> ", "# ", "*", "**", "_", "__", "`", "``", "```\n", "    ", "\t", "|",
	"|a|b|\n|-|-|\n", "| a | b |\n|---|:-:|\n| c | `d\\|e` |\n", "---\n", "===\n", "***\n", "\\", "\\*", "&amp;", "&", "  \n", "\\\n", "[a]: b\n", "[a]", "[t](u)", "![i](v)", "[", "]", "](",
	"<b>", "</b>", "<https://x.org/a>", "<div>\n", "<!-- c -->", "é", ".", "word"}

// TestTreeIsGoldmarks compares blocks, tables and inlines with goldmark's.
func TestTreeIsGoldmarks(t *testing.T) {
	rounds := 5_000
	if full.Asked() {
		rounds = 50_000
	}
	random := rand.New(rand.NewPCG(11, 12))
	compared := 0
	for range rounds {
		var draft strings.Builder
		for range 1 + random.IntN(20) {
			draft.WriteString(treeParts[random.IntN(len(treeParts))])
		}
		source := draft.String() + "\n"
		if differs(source) {
			continue
		}
		compared++
		compareTrees(t, source)
	}
	if compared < rounds/3 {
		t.Errorf("only %d of %d documents were compared", compared, rounds)
	}
	for _, d := range treeDifferences {
		if !d.shape.MatchString(d.example) || goldmarkTree([]byte(d.example)) == treeOf(markdown.ParseGitHub([]byte(d.example))) {
			t.Errorf("%s: %q does not differ", d.name, d.example)
		}
	}
}

// emptyCell is a cell without text, whose alignment nobody sees.
var emptyCell = regexp.MustCompile(`(?m)cell \w* $`)

func compareTrees(t *testing.T, source string) (tree string) {
	t.Helper()
	want := emptyCell.ReplaceAllString(goldmarkTree([]byte(source)), "cell")
	got := emptyCell.ReplaceAllString(treeOf(markdown.ParseGitHub([]byte(source))), "cell")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-goldmark +ours):\n%s", source, diff)
	}
	return got
}

func differs(source string) bool {
	for _, d := range treeDifferences {
		if d.shape.MatchString(source) {
			return true
		}
	}
	return false
}

// randomTable is some lines of text, a header, one delimiter row and some rows.
func randomTable(random *rand.Rand) string {
	var b strings.Builder
	row := func(cells []string, count int) {
		bars := random.IntN(4)
		if bars&1 != 0 {
			b.WriteString("|")
		}
		for i := range count {
			if i > 0 {
				b.WriteString("|")
			}
			b.WriteString(cells[random.IntN(len(cells))])
		}
		if bars&2 != 0 {
			b.WriteString("| ")
		}
		b.WriteString("\n")
	}
	cells := []string{"a", " b ", "x y", "`c`", `d\|e`, "`f\\|g`", "*h*", "[@a]"}
	for range random.IntN(3) {
		b.WriteString("text\n")
	}
	columns := 1 + random.IntN(3)
	row(cells, columns)
	row([]string{"-", "--", ":-", "-: ", " :-:"}, columns)
	for range random.IntN(4) {
		row(cells, 1+random.IntN(5))
	}
	return b.String()
}

func TestTablesAreGitHubs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	documents, tables := 5_000/full.Stride(5, 1), 0
	for range documents {
		if strings.Contains(compareTrees(t, randomTable(random)), "table") {
			tables++
		}
	}
	if tables < documents/5 {
		t.Errorf("only %d documents had a table", tables)
	}
}

// TestNoTables are lines that GitHub's flavour reads as text, and a table that is
// too large.
func TestNoTables(t *testing.T) {
	large := strings.Repeat("|a", markdown.MaxCells/2+1) + "|\n" + strings.Repeat("|-", markdown.MaxCells/2+1) + "|\nx\n"
	for _, draft := range []string{"a | b\n--- |\n", "a\n--- | ---\n", "a | b\n", "--- | ---\n", "a | b\n\n--- | ---\n", "a | b\n-x- | ---\n", "a | b\n | \n", "| a |\n| : |\n", large} {
		if tree := treeOf(markdown.ParseGitHub([]byte(draft))); strings.Contains(tree, "table") {
			t.Errorf("%.100q is a table", draft)
		}
		if tree := treeOf(markdown.Parse([]byte("|a|\n|-|\n"))); strings.Contains(tree, "table") {
			t.Error("CommonMark has no tables")
		}
	}
}
