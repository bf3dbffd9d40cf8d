package synthesis

import (
	"slices"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/draft"
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

// markupOf reads a draft by CommonMark, and as the report shows it: in a paragraph code
// may cover what a table shows.
func markupOf(d *draft.Document) markup {
	var m markup
	doc := d.Plain()
	for _, u := range doc.Unseen() {
		if line := d.LineOf(u.At); u.HTML != nil {
			m.html = append(m.html, line)
		} else {
			m.hidden = append(m.hidden, line)
		}
	}
	for _, b := range doc.Blocks {
		for _, piece := range doc.Inlines(b) {
			if piece.Kind == markdown.LinkInline {
				m.links = append(m.links, d.LineOf(piece.Start))
			}
		}
	}
	shown := func(b *draft.Block) {
		if b.Kind == markdown.HTMLBlock {
			m.html = append(m.html, b.Line)
		}
		if b.Cut {
			m.hidden = append(m.hidden, b.Line)
		}
		for _, g := range b.Glyphs {
			if g.In&draft.InTag != 0 {
				m.html = append(m.html, d.LineOf(int(g.At)))
			}
		}
		if at := struck(d, b.Glyphs); at >= 0 {
			m.struck = append(m.struck, d.LineOf(at))
		}
		for _, k := range b.Marks {
			switch {
			case k.Kind != markdown.LinkSpan && k.Kind != markdown.ImageSpan || !k.Open:
			case k.At < len(b.Glyphs):
				m.links = append(m.links, d.LineOf(int(b.Glyphs[k.At].At)))
			default:
				m.links = append(m.links, b.Line)
			}
		}
	}
	for _, b := range d.Blocks {
		b.Each(shown)
	}
	for _, lines := range []*[]int{&m.hidden, &m.html, &m.links, &m.struck} {
		slices.Sort(*lines)
		*lines = slices.Compact(*lines)
	}
	return m
}

// struck is where text begins that stands between one or two tildes, -1 for none.
func struck(d *draft.Document, glyphs []draft.Glyph) int {
	tilde := func(i int) bool {
		return i >= 0 && i < len(glyphs) && glyphs[i].Rune == '~' && glyphs[i].In&draft.InCode == 0 && d.Source[glyphs[i].At] == '~' &&
			(glyphs[i].At == 0 || d.Source[glyphs[i].At-1] != '\\')
	}
	blank := func(i int) bool { return i < 0 || i >= len(glyphs) || unicode.IsSpace(glyphs[i].Rune) }
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
			opened[n] = int(glyphs[i].At)
		}
		i += n - 1
	}
	return -1
}
