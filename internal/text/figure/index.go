package figure

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Index has the first place in one text of each value that claims ask for,
// with each unit.
type Index struct {
	places map[string][]place
	shares bool // a claim asks for a percentage
}

func NewIndex() *Index { return &Index{places: map[string][]place{}} }

// place is where a text has a number.
type place struct {
	unit       unit
	start, end int
}

// Want makes the index look for a number that may be read in several ways.
func (x *Index) Want(readings []Quantity) {
	for _, q := range readings {
		if _, wanted := x.places[q.Value]; !wanted {
			x.places[q.Value] = nil
		}
		x.shares = x.shares || q.unit == percent
	}
}

// Read looks through a text, as a reader sees it: an invisible character does not
// split a number.
func (x *Index) Read(text string) {
	seen, place := withoutHiddenAt(text)
	take := func(f Figure) {
		f.Start, f.End = place(f.Start), place(f.End-1)+1
		x.take(f)
	}
	if len(x.places) > 0 {
		languages := page.Languages(page.CutBytes(seen, page.LanguageSample))
		headers := tableReader{text: seen, languages: languages}
		eachFigure(seen, languages, func(f Figure) {
			headers.say(&f)
			take(f)
		})
	}
	if x.shares {
		eachShare(seen, take)
	}
}

// withoutHiddenAt leaves hidden characters out of a text, and says where each byte of
// what is left stands in it.
func withoutHiddenAt(text string) (seen string, place func(int) int) {
	if strings.IndexFunc(text, markdown.Hidden) < 0 {
		return text, func(at int) int { return at }
	}
	b, places := make([]byte, 0, len(text)), make([]int32, 0, len(text))
	for i, r := range text {
		if markdown.Hidden(r) {
			continue
		}
		for k := range max(1, utf8.RuneLen(r)) {
			b, places = append(b, text[i+k]), append(places, int32(i+k))
		}
	}
	return string(b), func(at int) int { return int(places[at]) }
}

func (x *Index) take(f Figure) {
	for _, q := range f.Readings {
		places, wanted := x.places[q.Value]
		if wanted && !slices.ContainsFunc(places, func(p place) bool { return p.unit == q.unit }) {
			x.places[q.Value] = append(places, place{q.unit, f.Start, f.End})
		}
	}
}

// Find is the first place at which the text has a number in one of its readings.
func (x *Index) Find(readings []Quantity) (as Quantity, start, end int, found bool) {
	for _, q := range readings {
		for _, p := range x.places[q.Value] {
			if q.fits(p.unit) && (!found || p.start < start) {
				as, start, end, found = q, p.start, p.end, true
			}
		}
	}
	return as, start, end, found
}

// fits reports whether a number of a claim may be that of a page with the same
// value. A claim may leave out a unit, but not that the number is a percentage. A
// page may leave out neither: a bare number may count anything.
func (q Quantity) fits(page unit) bool {
	if q.unit == noUnit {
		return page != percent && page != points && page != "‰" && page != decade && page != clock
	}
	return q.unit.share(page)
}
