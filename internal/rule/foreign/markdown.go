package foreign

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// readMarkdown reads the blocks of a Markdown report. Blocks of code are left out; left is
// how many these are.
func readMarkdown(text []byte) (blocks []block, left int) {
	text = footnote().ReplaceAll(text, []byte(`$1\$2`)) // whose label is no text of a link
	text = citeElement().ReplaceAll(text, []byte("[$1]"))
	r := &markdownReader{doc: markdown.ParseGitHub(text), text: text}
	r.nodes(r.doc.Tree())
	for _, b := range r.doc.Blocks {
		if b.Kind == markdown.DefinitionBlock {
			r.definition(b)
		}
	}
	return r.out, r.left
}

// footnote is a mark or the beginning of a footnote. CommonMark, which knows none, takes two
// of them in a row for a link and its label.
var footnote = pattern(`(^|[^\\\x60])(\[\^[^\]\[\s]{1,40}\](?:[^(\x60]|$))`)

// citeElement names an entry, and holds what that says: Markdown takes it for text.
var citeElement = pattern(`<[a-z]{1,20}:cite id="(?:id_?)?(\d{1,4})">[^<\n]*</[a-z]{1,20}:cite>`)

type markdownReader struct {
	builder
	doc  *markdown.Document
	text []byte
	left int
}

// within reads what an element has in it.
func (r *markdownReader) within(e element, line int, read func()) {
	open := len(r.opened)
	r.open(e, line)
	read()
	r.closeTo(open)
}

func (r *markdownReader) nodes(nodes []*markdown.Node) {
	for _, n := range nodes {
		e := element{}
		read := func() { r.nodes(n.Children) }
		switch n.Kind {
		case markdown.ParagraphBlock:
			e.name, read = "p", func() { r.inlines(n) }
		case markdown.HeadingBlock:
			e.name, read = fmt.Sprintf("h%d", n.Level), func() { r.inlines(n) }
		case markdown.ListBlock:
			e.name, read = "ul", func() { r.items(n) }
			if n.Ordered {
				e.name, e.number = "ol", n.Start
			}
		case markdown.TableBlock:
			e.name, read = "table", func() { r.rows(n) }
		case markdown.HTMLBlock:
			r.readHTML([]byte(r.doc.Raw(n.Block)), n.Line-1)
			continue
		case markdown.CodeBlock:
			r.left++
			continue
		default:
			e.name = "div"
		}
		r.within(e, n.Line, read)
	}
}

func (r *markdownReader) items(list *markdown.Node) {
	for _, n := range list.Children {
		r.within(element{name: "li"}, n.Line, func() { r.nodes(n.Children) })
	}
}

func (r *markdownReader) rows(table *markdown.Node) {
	for i, n := range table.Children {
		name := "td"
		if i == 0 {
			name = "th"
		}
		r.within(element{name: "tr"}, n.Line, func() {
			for _, cell := range n.Children {
				r.within(element{name: name}, cell.Line, func() { r.inlines(cell) })
			}
		})
	}
}

// inlines reads what a paragraph, heading or cell shows.
func (r *markdownReader) inlines(n *markdown.Node) {
	line, shown := n.Line, 0 // what stands before shown was added with a URL
	for _, p := range r.doc.Rendered(n.Block) {
		switch {
		case p.Kind == markdown.OpenInline && p.Span == markdown.LinkSpan:
			r.open(element{name: "a", url: p.Dest}, line)
		case p.Kind == markdown.CloseInline && p.Span == markdown.LinkSpan:
			r.close("a")
		case p.Kind == markdown.OpenInline && p.Span == markdown.ImageSpan:
			r.single("img", line)
		case p.InImage, p.Kind == markdown.OpenInline, p.Kind == markdown.CloseInline:
		case p.Kind == markdown.BreakInline:
			r.add("\n", line)
			line++
		case p.Kind == markdown.HTMLInline:
			r.tag(p.Text, line)
		case p.Kind == markdown.CodeInline:
			r.within(element{name: "code"}, line, func() { r.add(string(p.Text), line) })
		case p.End <= shown:
		default:
			text := string(p.Text)
			from := min(len(text), max(0, shown-p.Start))
			if url, at, end := r.cutURL(p); end > 0 && at >= from {
				text, shown = text[:at]+url, end
			}
			text = text[from:]
			r.add(text, line)
		}
	}
}

// cutURL finds the URL at the end of a piece that goes on behind it: what Markdown takes for
// emphasis is part of it. At is where it begins in the piece, and end where it ends in the text.
func (r *markdownReader) cutURL(p markdown.Inline) (url string, at, end int) {
	if at = strings.LastIndex(string(p.Text), "://"); at < 0 || p.InLink || p.End-p.Start != len(p.Text) {
		return "", 0, 0
	}
	for at > 0 && p.Text[at-1] >= 'a' && p.Text[at-1] <= 'z' {
		at--
	}
	raw := r.text[p.Start+at:]
	if n := bytes.IndexAny(raw, " \t\r\n<>\"\x60|[]()"); n >= 0 {
		raw = raw[:n]
	}
	raw = bytes.TrimRight(raw, "*_~.,;:!?'")
	if end = p.Start + at + len(raw); !isWeb(string(raw)) || end <= p.End {
		return "", 0, 0
	}
	return strings.ReplaceAll(string(raw), `\`, ""), at, end
}

// tag takes what an HTML tag inside a text means for what it cites.
func (r *markdownReader) tag(tag []byte, line int) {
	for mark := range page.Marks(tag) {
		switch {
		case mark.Name != "sup" && mark.Name != "a" && mark.Name != "img" && mark.Name != "br":
		case mark.Kind == page.StartMark:
			r.open(element{name: mark.Name, url: elementOf(mark).url}, line)
		case mark.Kind == page.EndMark:
			r.close(mark.Name)
		}
	}
}

// definition reads [label]: url, with the title that it may have.
func (r *markdownReader) definition(b markdown.Block) {
	from, to := r.doc.Range(b)
	text := strings.TrimLeft(string(r.text[from:to]), " [")
	label, rest, _ := strings.Cut(text, "]:")
	done := block{kind: definition, label: strings.TrimSpace(label), starts: []start{{0, b.Line}}}
	for _, p := range r.doc.Inlines(b) {
		if p.Kind == markdown.LinkInline {
			done.links = []anchor{{url: string(p.Text)}}
			break
		}
	}
	if _, title, found := strings.Cut(rest, "\""); found {
		done.text = strings.TrimRight(title, "\" \n")
	}
	r.take(done)
}
