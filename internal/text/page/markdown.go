package page

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readMarkdown reads a Markdown text as the page that it renders to, so that a reader sees
// the same of both: without marks and addresses of links, and without what its HTML hides.
func (c *Content) readMarkdown(text string) {
	d := markdown.ParseGitHub([]byte(text))
	w := markdownPage{Document: d}
	w.all(d.Tree())
	rendered := Content{Media: c.Media}
	rendered.Levels = []int{} // of all headings, so that sections can be told apart
	rendered.readHTML(w.out.Bytes(), "text/html; charset=utf-8")
	rendered.Signals, rendered.Cut = c.Signals, c.Cut || rendered.Cut
	*c = rendered
}

// markdownPage writes the HTML of a Markdown document.
type markdownPage struct {
	*markdown.Document
	out    bytes.Buffer
	header bool // the present row is the first of its table
	struck int  // marks of struck-out text that are still to come in the present block
}

func (w *markdownPage) all(nodes []*markdown.Node) {
	for _, n := range nodes {
		w.block(n)
	}
}

func (w *markdownPage) block(n *markdown.Node) {
	tag := ""
	switch n.Kind {
	case markdown.HTMLBlock:
		w.out.WriteString(w.Raw(n.Block))
		return
	case markdown.RuleBlock:
		w.out.WriteString("<hr>\n")
		return
	case markdown.ParagraphBlock:
		tag = "p"
	case markdown.HeadingBlock:
		tag = fmt.Sprintf("h%d", n.Level)
	case markdown.CodeBlock:
		tag = "pre"
	case markdown.QuoteBlock:
		tag = "blockquote"
	case markdown.ListBlock:
		tag = "ul"
	case markdown.ItemBlock:
		tag = "li"
	case markdown.TableBlock:
		tag, w.header = "table", true
	case markdown.RowBlock:
		tag = "tr"
	case markdown.CellBlock:
		if tag = "td"; w.header {
			tag = "th"
		}
	}
	fmt.Fprintf(&w.out, "<%s>", tag)
	switch n.Kind {
	case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
		w.inlines(n.Block)
	case markdown.CodeBlock:
		w.out.WriteString("\n" + html.EscapeString(w.Raw(n.Block)))
	}
	w.all(n.Children)
	w.header = w.header && n.Kind != markdown.RowBlock
	fmt.Fprintf(&w.out, "</%s>\n", tag)
}

// inlines writes what a leaf says.
func (w *markdownPage) inlines(b markdown.Block) {
	list := w.Rendered(b)
	w.struck = 0
	for _, i := range list {
		if i.Kind == markdown.TextInline && !i.InImage {
			w.struck += bytes.Count(i.Text, []byte("~~"))
		}
	}
	w.struck -= w.struck % 2
	for _, i := range list {
		switch {
		case i.InImage:
		case i.Kind == markdown.TextInline:
			w.text(string(i.Text))
		case i.Kind == markdown.CodeInline:
			w.out.WriteString(html.EscapeString(string(i.Text)))
		case i.Kind == markdown.HTMLInline:
			w.out.Write(i.Text)
		case i.Kind == markdown.BreakInline && i.Hard:
			w.out.WriteString("<br>")
		case i.Kind == markdown.BreakInline:
			w.out.WriteByte('\n')
		case i.Kind == markdown.OpenInline:
			w.out.WriteString(strings.Replace(spanTags[i.Span], "/", "", 1))
		case i.Kind == markdown.CloseInline:
			w.out.WriteString(spanTags[i.Span])
		}
	}
}

// spanTags end the elements that hold pieces of a leaf.
var spanTags = map[markdown.SpanKind]string{markdown.EmphasisSpan: "</em>", markdown.StrongSpan: "</strong>", markdown.LinkSpan: "</a>"}

// text writes characters, and strikes out what stands between two pairs of tildes.
func (w *markdownPage) text(text string) {
	for w.struck > 0 {
		before, after, found := strings.Cut(text, "~~")
		if !found {
			break
		}
		tag := "</del>"
		if w.struck%2 == 0 {
			tag = "<del>"
		}
		w.out.WriteString(html.EscapeString(before) + tag)
		text = after
		w.struck--
	}
	w.out.WriteString(html.EscapeString(text))
}

// maxHeadings is how many headings a text has at most that people read.
const maxHeadings = 10_000

// addHeading takes a heading of a text that has no other structure.
func (c *Content) addHeading(text string, level int) {
	if text = TidySpace(text); text != "" && len(c.Headings) < maxHeadings {
		c.Headings, c.Levels = append(c.Headings, CutBytes(text, maxKeptLen)), append(c.Levels, level)
	}
}

// readUnderlined finds the headings of a plain text: lines that are underlined, each way of
// which is a level of its own, in the order in which they come. A line above counts, too.
func (c *Content) readUnderlined() {
	var ways []string
	before, above := "", "" // the last two lines
	for line := range strings.SplitSeq(c.Text, "\n") {
		line = strings.TrimRight(line, " \t")
		title := strings.TrimSpace(before)
		if isRule(line) && title != "" && !isRule(before) && utf8.RuneCountInString(line) >= utf8.RuneCountInString(title) && (above == line || title == before[:len(title)]) {
			way := line[:1]
			if above == line {
				way += way
			}
			if !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
			c.addHeading(title, 1+slices.Index(ways, way))
		}
		before, above = line, before
	}
}

// isRule holds for a line of one mark alone.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Contains("=-~^*+#\"'`:._<>", line[:1]) && strings.Trim(line, line[:1]) == ""
}
