package synthesis

import (
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/figure"
)

// number is a number that claims something: what a reader sees of it, and where
// it stands in its leaf.
type number struct {
	from, to int // glyphs
	token    string
}

// numbersIn finds the numbers of a leaf, as [figure.Numerals] has them; not those in
// code, in the text of a link, or in a citation.
func numbersIn(l draft.Leaf) []number {
	text, places := claimedIn(l)
	var found []number
	for _, n := range figure.Numerals(text) {
		found = append(found, number{from: places[n.From], to: places[n.To-1] + 1, token: string(text[n.From:n.To])})
	}
	return found
}

// claimedIn are the characters that decide what a number is, and the glyphs that
// they are: without those that cannot be seen, and with a zero in place of code,
// links and citations.
func claimedIn(l draft.Leaf) (text []rune, places []int) {
	text, places = make([]rune, 0, len(l.Glyphs)), make([]int, 0, len(l.Glyphs))
	cited := l.Citations()
	for i, g := range l.Glyphs {
		for len(cited) > 0 && cited[0].To <= i {
			cited = cited[1:]
		}
		switch {
		case g.In&draft.InTag != 0 || draft.Apart(g.Rune):
		case g.IsCode() || g.In&draft.InLink != 0 || len(cited) > 0 && cited[0].From <= i:
			text, places = append(text, 0), append(places, i)
		default:
			text, places = append(text, g.Rune), append(places, i)
		}
	}
	return text, places
}
