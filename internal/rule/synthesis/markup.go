package synthesis

import (
	"slices"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// markup are the lines of a draft that hold more than a reader sees, in order,
// each once.
type markup struct {
	hidden []int // characters that cannot be seen, and cells beyond the last column of a table
	html   []int // tags, comments and blocks of HTML
	links  []int // links, images, addresses in angle brackets, definitions
}

// markup reads a draft by CommonMark, and as the report shows it: in a paragraph code
// may cover what a table shows.
func (d *document) markup() markup {
	var m markup
	doc := markdown.Parse(d.source)
	for _, u := range doc.Unseen() {
		if line := d.lineOf(u.At); u.HTML != nil {
			m.html = append(m.html, line)
		} else {
			m.hidden = append(m.hidden, line)
		}
	}
	for _, b := range doc.Blocks {
		for _, piece := range doc.Inlines(b) {
			if piece.Kind == markdown.LinkInline {
				m.links = append(m.links, d.lineOf(piece.Start))
			}
		}
	}
	shown := func(b *block) {
		if b.Kind == markdown.HTMLBlock {
			m.html = append(m.html, b.Line)
		}
		if b.Cut {
			m.hidden = append(m.hidden, b.Line)
		}
		for _, g := range b.glyphs {
			if g.in&inTag != 0 {
				m.html = append(m.html, d.lineOf(int(g.at)))
			}
		}
		for _, k := range b.marks {
			switch {
			case k.kind != markdown.LinkSpan && k.kind != markdown.ImageSpan || !k.open:
			case k.at < len(b.glyphs):
				m.links = append(m.links, d.lineOf(int(b.glyphs[k.at].at)))
			default:
				m.links = append(m.links, b.Line)
			}
		}
	}
	for _, b := range d.blocks {
		b.each(shown)
	}
	for _, lines := range []*[]int{&m.hidden, &m.html, &m.links} {
		slices.Sort(*lines)
		*lines = slices.Compact(*lines)
	}
	return m
}
