package paper

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/draft"
)

// compact is the text of a leaf in which something is looked for: without white
// space, tags and what cannot be seen.
type compact struct {
	draft.Leaf
	text string
	at   []int32 // the glyph of each byte of text
}

func compactOf(l draft.Leaf) compact {
	c := compact{Leaf: l}
	var b strings.Builder
	for i, g := range l.Glyphs {
		if g.In&draft.InTag == 0 && compares(g.Rune) {
			b.WriteRune(g.Rune)
			for len(c.at) < b.Len() {
				c.at = append(c.at, int32(i))
			}
		}
	}
	c.text = b.String()
	return c
}

func compares(r rune) bool { return !unicode.IsSpace(r) && !draft.Apart(r) }

// find is where a text stands in a leaf. A number is not found inside a longer
// one.
func (c compact) find(text string) []span {
	want := strings.Map(func(r rune) rune {
		if compares(r) {
			return r
		}
		return -1
	}, text)
	var out []span
	for at := 0; want != ""; {
		i := strings.Index(c.text[at:], want)
		if i < 0 {
			break
		}
		at += i
		place := span{int(c.at[at]), int(c.at[at+len(want)-1]) + 1}
		if c.parts(place.from) && c.parts(place.to) {
			out = append(out, place)
		}
		at += len(want)
	}
	return out
}

// parts holds when no number spans the beginning of a glyph.
func (c compact) parts(at int) bool {
	return at == 0 || at == len(c.Glyphs) || !unicode.IsNumber(c.Glyphs[at-1].Rune) || !unicode.IsNumber(c.Glyphs[at].Rune)
}

// missingIn are the places in a leaf of the texts that no cited page has.
func missingIn(l draft.Leaf, texts []string) []span {
	if len(texts) == 0 {
		return nil
	}
	c := compactOf(l)
	var places []span
	for _, text := range texts {
		places = append(places, c.find(text)...)
	}
	slices.SortFunc(places, func(a, b span) int { return a.from - b.from })
	out := places[:0]
	for _, p := range places { // overlapping ones are one
		if last := len(out) - 1; last >= 0 && p.from <= out[last].to {
			out[last].to = max(out[last].to, p.to)
			continue
		}
		out = append(out, p)
	}
	return out
}
