package page

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
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

// addHeading takes a heading that begins at a place of the text.
func (c *Content) addHeading(text string, level, at int) {
	if text = TidySpace(text); text != "" && len(c.Headings) < maxHeadings {
		c.Headings, c.Levels, c.Places = append(c.Headings, CutBytes(text, maxKeptLen)), append(c.Levels, level), append(c.Places, at)
	}
}

// Titles are the headings by which a page calls itself: the first ones of the two highest levels.
func (c *Content) Titles() (titles []string) {
	for i, heading := range c.Headings {
		if c.Levels[i] <= 2 && len(titles) < maxKept {
			titles = append(titles, heading)
		}
	}
	return titles
}

// readUnderlined finds the headings of a plain text: lines that are underlined, each way of
// which is a level of its own, in the order in which they come. A line above counts, too.
func (c *Content) readUnderlined() {
	var ways []string
	before, above := "", "" // the last two lines
	begin, next := 0, 0     // where the last line begins, and the next
	for line := range strings.SplitSeq(c.Text, "\n") {
		at := next
		next += len(line) + 1
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
			c.addHeading(title, 1+slices.Index(ways, way), begin)
		}
		before, above, begin = line, before, at
	}
}

// isRule holds for a line of one mark alone.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Contains("=-~^*+#\"'`:._<>", line[:1]) && strings.Trim(line, line[:1]) == ""
}

// The longest and shortest lines by which a text is wrapped. Where most are longer, each is a
// paragraph, and where they are shorter, they are a list or a poem.
const (
	minWrapped = 50
	maxWrapped = 130
	proseWords = 6 // has a line that its sentence leaves before it is full; commands have fewer
)

// unwrapped is a plain text with a line for each paragraph: a line that its author, or a
// program, broke because it was full is joined to the next. It is joined as well where its
// sentence clearly goes on. Headings with a rule, items of lists, rows of tables and lines that
// ended before they were full stay as they are.
func unwrapped(text string) string {
	lines := strings.Split(text, "\n")
	width := wrappedAt(lines)
	if width < minWrapped || width > maxWrapped {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i, line := range lines {
		switch {
		case i == 0:
		case wraps(lines[i-1], line, width) && (i+1 == len(lines) || !isRule(strings.TrimRight(lines[i+1], " \t"))):
			line = " " + strings.TrimLeft(line, " ")
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrappedAt is the length that nine in ten of the lines keep to that others follow.
func wrappedAt(lines []string) int {
	var lengths []int
	for i, line := range lines[:max(0, len(lines)-1)] {
		if strings.TrimSpace(line) != "" && strings.TrimSpace(lines[i+1]) != "" {
			lengths = append(lengths, utf8.RuneCountInString(line))
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)*9/10]
}

// listItem begins an item of a list, a directive or comment of reStructuredText, a quotation
// of a mail or a row of a drawn table.
var listItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([-*+•–—‣·|>]|\.\. |:[\w -]+:|\(?(\d{1,3}|[a-zA-Z]|#)[.)])(\s|$)|^\s*[|+:>]`)
})

// wraps reports whether a paragraph goes on from a line to the next.
func wraps(line, next string, width int) bool {
	line = strings.TrimRight(line, " ")
	begin := strings.TrimSpace(next)
	if strings.TrimSpace(line) == "" || begin == "" || strings.Contains(line, "\t") || strings.Contains(next, "\t") ||
		isRule(line) || isRule(begin) || listItem().MatchString(next) || strings.Contains(strings.TrimSpace(line), "   ") {
		return false
	}
	word, _, _ := strings.Cut(begin, " ")
	n := utf8.RuneCountInString(line)
	first, _ := utf8.DecodeRuneInString(begin)
	last, _ := utf8.DecodeLastRuneInString(line)
	goesOn := unicode.IsLower(first) && (unicode.IsLetter(last) || last == ',') && len(strings.Fields(line)) >= proseWords
	return n+1+utf8.RuneCountInString(word) >= width || goesOn && 2*n >= width
}
