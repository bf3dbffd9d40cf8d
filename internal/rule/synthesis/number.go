package synthesis

import (
	"unicode"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// number is a number that claims something: what a reader sees of it, and where
// it stands in its leaf.
type number struct {
	from, to int // glyphs
	token    string
}

// numbers finds the numbers of a leaf, as [figure.Numerals] has them; not those in
// code, in the text of a link, or in a citation.
func (l leaf) numbers() []number {
	text, places := l.claimed()
	var found []number
	for _, n := range figure.Numerals(text) {
		found = append(found, number{from: places[n.From], to: places[n.To-1] + 1, token: string(text[n.From:n.To])})
	}
	return found
}

// claimed are the characters that decide what a number is, and the glyphs that
// they are: without those that cannot be seen, and with a zero in place of code,
// links and citations.
func (l leaf) claimed() (text []rune, places []int) {
	text, places = make([]rune, 0, len(l.glyphs)), make([]int, 0, len(l.glyphs))
	cited := l.citations()
	for i, g := range l.glyphs {
		for len(cited) > 0 && cited[0].to <= i {
			cited = cited[1:]
		}
		switch {
		case g.in&inTag != 0 || apart(g.r):
		case g.isCode() || g.in&inLink != 0 || len(cited) > 0 && cited[0].from <= i:
			text, places = append(text, 0), append(places, i)
		default:
			text, places = append(text, g.r), append(places, i)
		}
	}
	return text, places
}

// apart holds for characters that have no place of their own: hidden ones, and marks
// that are drawn onto another.
func apart(r rune) bool { return markdown.Hidden(r) || unicode.In(r, unicode.Mn, unicode.Me) }
