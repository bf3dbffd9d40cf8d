package paper

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
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
