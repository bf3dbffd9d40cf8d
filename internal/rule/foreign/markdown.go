package foreign

import (
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// readMarkdown reads the blocks of a Markdown report. Code is left out.
func readMarkdown(text []byte) []block {
	r := &markdownReader{doc: markdown.ParseGitHub(text), text: text}
	r.nodes(r.doc.Tree(), 0)
	for _, b := range r.doc.Blocks {
		if b.Kind == markdown.DefinitionBlock {
			r.definition(b)
		}
	}
	return r.out
}

type markdownReader struct {
	doc    *markdown.Document
	text   []byte
	out    []block
	tables int
}

// nodes reads nodes in order. Number is that of the item whose first paragraph comes
// next, or -1 for an item without a number; 0 outside of items.
func (r *markdownReader) nodes(nodes []*markdown.Node, number int) {
	for _, n := range nodes {
		switch n.Kind {
		case markdown.ParagraphBlock, markdown.HeadingBlock:
			m := r.inlines(n)
			if n.Kind == markdown.HeadingBlock {
				m.kind, m.level = heading, n.Level
			} else if number != 0 {
				m.kind, m.number = item, max(number, 0)
				number = 0
			}
			r.keep(m)
		case markdown.ListBlock:
			for i, child := range n.Children {
				of := -1
				if n.Ordered {
					of = n.Start + i
				}
				r.nodes(child.Children, of)
			}
		case markdown.TableBlock:
			r.tables++
			for i, child := range n.Children {
				r.row(child, i == 0)
			}
		case markdown.HTMLBlock:
			r.out = append(r.out, readHTML([]byte(r.doc.Raw(n.Block)), n.Line-1)...)
		case markdown.CodeBlock:
		default:
			r.nodes(n.Children, number)
		}
	}
}

func (r *markdownReader) keep(m *maker) {
	if b, says := m.done(); says {
		r.out = append(r.out, b)
	}
}

func (r *markdownReader) row(n *markdown.Node, header bool) {
	var list []block
	for _, cell := range n.Children {
		b, _ := r.inlines(cell).done()
		list = append(list, b)
	}
	k := row
	if header {
		k = headerRow
	}
	if b := cells(list, k, r.tables); strings.Trim(b.text, " |") != "" || len(b.links) > 0 {
		r.out = append(r.out, b)
	}
}

// inlines reads what a paragraph, heading or cell shows.
func (r *markdownReader) inlines(n *markdown.Node) *maker {
	m := &maker{}
	line := n.Line
	for _, p := range r.doc.Rendered(n.Block) {
		switch {
		case p.Kind == markdown.OpenInline && p.Span == markdown.LinkSpan:
			m.openLink(p.Dest)
		case p.Kind == markdown.CloseInline && p.Span == markdown.LinkSpan:
			m.closeLink()
		case p.Kind == markdown.OpenInline && p.Span == markdown.ImageSpan:
			m.picture()
		case p.InImage, p.Kind == markdown.OpenInline, p.Kind == markdown.CloseInline:
		case p.Kind == markdown.BreakInline:
			m.add("\n", line)
			line++
		case p.Kind == markdown.HTMLInline:
			m.tag(p.Text, line)
		case p.Kind == markdown.CodeInline:
			m.addCode(string(p.Text), line)
		default:
			m.add(string(p.Text), line)
		}
	}
	return m
}

// tag takes what an HTML tag inside a text means for what it cites.
func (m *maker) tag(tag []byte, line int) {
	for mark := range page.Marks(tag) {
		switch {
		case mark.Kind == page.StartMark && mark.Name == "sup":
			m.raise(1)
		case mark.Kind == page.EndMark && mark.Name == "sup":
			m.raise(-1)
		case mark.Kind == page.StartMark && mark.Name == "a":
			m.openLink(attributeOf(mark, "href"))
		case mark.Kind == page.EndMark && mark.Name == "a":
			m.closeLink()
		case mark.Kind == page.StartMark && mark.Name == "img":
			m.picture()
		case mark.Kind == page.StartMark && mark.Name == "br":
			m.add("\n", line)
		}
	}
}

// definition reads [label]: url, with the title that it may have.
func (r *markdownReader) definition(b markdown.Block) {
	from, to := r.doc.Range(b)
	text := strings.TrimLeft(string(r.text[from:to]), " [")
	label, rest, _ := strings.Cut(text, "]:")
	m := &maker{}
	m.kind, m.label = definition, strings.TrimSpace(label)
	for _, p := range r.doc.Inlines(b) {
		if p.Kind == markdown.LinkInline {
			m.openLink(string(p.Text))
			m.closeLink()
			break
		}
	}
	if _, title, found := strings.Cut(rest, "\""); found {
		m.add(strings.TrimRight(title, "\" \n"), b.Line)
	}
	m.starts = append(m.starts, start{0, b.Line})
	r.keep(m)
}
