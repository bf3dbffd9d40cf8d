package synthesis

import (
	"slices"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// markup are the lines of a draft that hold more than a reader sees, in order,
// each once.
type markup struct {
	hidden []int // characters that cannot be seen, and cells beyond the last column of a table
	html   []int // tags, comments and blocks of HTML
	links  []int // links, images, addresses in angle brackets, definitions
	struck []int // text between tildes, which many programs show struck out
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
		if at := d.struck(b.glyphs); at >= 0 {
			m.struck = append(m.struck, d.lineOf(at))
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
	for _, lines := range []*[]int{&m.hidden, &m.html, &m.links, &m.struck} {
		slices.Sort(*lines)
		*lines = slices.Compact(*lines)
	}
	return m
}

// struck is where text begins that stands between one or two tildes, -1 for none.
func (d *document) struck(glyphs []glyph) int {
	tilde := func(i int) bool {
		return i >= 0 && i < len(glyphs) && glyphs[i].r == '~' && glyphs[i].in&inCode == 0 && d.source[glyphs[i].at] == '~' &&
			(glyphs[i].at == 0 || d.source[glyphs[i].at-1] != '\\')
	}
	blank := func(i int) bool { return i < 0 || i >= len(glyphs) || unicode.IsSpace(glyphs[i].r) }
	opened := map[int]int{} // by the number of tildes
	for i := 0; i < len(glyphs); i++ {
		n := 0
		for tilde(i + n) {
			n++
		}
		if n == 0 {
			continue
		}
		if from, open := opened[n]; open && !blank(i-1) {
			return from
		}
		if _, open := opened[n]; n <= 2 && !open && !blank(i+n) {
			opened[n] = int(glyphs[i].at)
		}
		i += n - 1
	}
	return -1
}
