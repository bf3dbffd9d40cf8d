package foreign

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// readMarkdown reads the blocks of a Markdown report. Blocks of code are left out; left is
// how many these are.
func readMarkdown(text []byte) (blocks []block, left int) {
	r := &markdownReader{doc: markdown.ParseGitHub(text), text: text}
	r.nodes(r.doc.Tree())
	for _, b := range r.doc.Blocks {
		if b.Kind == markdown.DefinitionBlock {
			r.definition(b)
		}
	}
	return r.out, r.left
}

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
	line := n.Line
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
		default:
			r.add(string(p.Text), line)
		}
	}
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
