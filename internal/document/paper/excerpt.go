package paper

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/draft"
)

// around is how many characters of a page stand on either side of what was found
// on it.
const around = 200

// excerpt is a part of a page with the quotations and numbers that were found in
// it. Its pieces alternate: text, what was found, text, …
type excerpt struct {
	pieces     []string
	start, end bool // the page goes on before it, after it
}

// excerpts are the parts of a page around the places that were found. Those that
// overlap are one.
func excerpts(page string, found []claim.Match) []excerpt {
	var places []span
	for _, m := range found {
		if 0 <= m.Start && m.Start < m.End && m.End <= len(page) {
			places = append(places, span{m.Start, m.End})
		}
	}
	slices.SortFunc(places, func(a, b span) int { return a.from - b.from })
	var out []excerpt
	for i := 0; i < len(places); {
		window := span{before(page, places[i].from, around), after(page, places[i].to, around)}
		last := i + 1
		for last < len(places) && places[last].from < window.to {
			window.to = max(window.to, after(page, places[last].to, around))
			last++
		}
		out = append(out, cut(page, window, places[i:last]))
		i = last
	}
	return out
}

type span struct{ from, to int }

// before is where the most characters before at begin, with a whole word first.
func before(page string, at, most int) int {
	from := at
	for n := 0; n < most && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(page[:from])
		from -= size
	}
	if last, _ := utf8.DecodeLastRuneInString(page[:from]); from > 0 && !unicode.IsSpace(last) {
		if blank := strings.IndexFunc(page[from:at], unicode.IsSpace); blank >= 0 {
			from += blank
		}
	}
	return from
}

// after is where the most characters after at end, with a whole word last.
func after(page string, at, most int) int {
	to := at
	for n := 0; n < most && to < len(page); n++ {
		_, size := utf8.DecodeRuneInString(page[to:])
		to += size
	}
	if next, _ := utf8.DecodeRuneInString(page[to:]); to < len(page) && !unicode.IsSpace(next) {
		if blank := strings.LastIndexFunc(page[at:to], unicode.IsSpace); blank >= 0 {
			to = at + blank
		}
	}
	return to
}

func cut(page string, window span, places []span) excerpt {
	e := excerpt{start: window.from > 0, end: window.to < len(page)}
	at := window.from
	for _, p := range places {
		if p.from < at { // it overlaps with the one before
			if last := len(e.pieces) - 1; last > 0 && p.to > at {
				e.pieces[last] += unmarked(page[at:p.to])
				at = p.to
			}
			continue
		}
		e.pieces = append(e.pieces, unmarked(page[at:p.from]), unmarked(page[p.from:p.to]))
		at = p.to
	}
	e.pieces = append(e.pieces, unmarked(page[at:window.to]))
	e.pieces[0] = strings.TrimLeft(e.pieces[0], " ")
	e.pieces[len(e.pieces)-1] = strings.TrimRight(e.pieces[len(e.pieces)-1], " ")
	return e
}

// singleBlanks makes every run of white space one blank.
func singleBlanks(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	if blank {
		b.WriteByte(' ')
	}
	return b.String()
}

// sourceMarks are the marks of texts that are written as Markdown or reStructuredText, and what
// a reader sees in their place. Each is looked for by itself, since none of them is sure.
var sourceMarks = sync.OnceValue(func() (all []sourceMark) {
	for _, m := range [][2]string{
		{"(?m)^[ \t]*(?:[-=~^*_#+]{3,}|`{3,}\\w*|[|: -]*-{3,}[|: -]*)[ \t]*$", ""}, // lines, fences, the rule of a table
		{`(?m)^[ \t]*\.\. (?:[a-z]+-[a-z]+::|_[^:\n]*:).*$`, ""},                   // a directive, the target of a link
		{`(?m)^[ \t]*(?:\.\. [a-z]+:: ?|#{1,6} )`, ""},
		{`(?m)^[ \t]*\|(.*)\|[ \t]*$`, "$1"}, // a row of a table
		{` \| `, " · "},
		{"\\*\\*|`{2,}", ""},
		{"`([^`<\n]+?)(?: <[^>\n]*>)?`_{0,2}", "$1"},
		{`!?\[([^\]\n]*)\]\([^()\s]+\)`, "$1"},
		{`(?m)::[ \t]*$`, ":"},
	} {
		all = append(all, sourceMark{regexp.MustCompile(m[0]), m[1]})
	}
	return all
})

type sourceMark struct {
	*regexp.Regexp
	shown string
}

// unmarked is a piece of a page on one line, without the marks that it is written with.
func unmarked(piece string) string {
	for _, m := range sourceMarks() {
		piece = m.ReplaceAllString(piece, m.shown)
	}
	return singleBlanks(piece)
}

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
