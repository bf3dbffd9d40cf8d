package figure

import (
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Index has the places in one text of each value that claims ask for, the first ones
// with each unit.
type Index struct {
	places map[string][]place
	shares bool // a claim asks for a percentage
	folds  bool // or for a multiple
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
		x.folds = x.folds || q.unit == fold
	}
}

// Read looks through a text, as a reader sees it: an invisible character does not
// split a number.
func (x *Index) Read(text string) {
	x.ReadIn(text, page.Languages(page.CutBytes(text, page.LanguageSample)))
}

// ReadIn is [Index.Read] for a text whose languages are known; none stands for any.
func (x *Index) ReadIn(text string, languages []string) {
	seen, place := withoutHiddenAt(text)
	take := func(f Figure) {
		f.Start, f.End = place(f.Start), place(f.End-1)+1
		x.take(f)
	}
	if len(x.places) > 0 {
		headers := tableReader{text: seen, languages: languages}
		eachFigure(seen, languages, func(f Figure) {
			headers.say(&f)
			take(f)
		})
	}
	if x.shares {
		eachShare(seen, take)
	}
	if x.folds {
		eachMultiple(seen, take)
	}
	if x.shares || x.folds {
		eachProportion(seen, take)
	}
}

// withoutHiddenAt leaves hidden characters out of a text, and says where each byte of
// what is left stands in it.
func withoutHiddenAt(text string) (seen string, place func(int) int) {
	if !hasHidden(text) {
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

func hasHidden(text string) bool {
	for i := 0; i < len(text); {
		if c := text[i]; ' ' <= c && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if markdown.Hidden(r) {
			return true
		}
		i += size
	}
	return false
}

func (x *Index) take(f Figure) {
	for _, q := range f.Readings {
		places, wanted := x.places[q.Value]
		if !wanted {
			continue
		}
		same := 0
		for _, p := range places {
			if p.unit == q.unit {
				same++
			}
		}
		if same < mostPlaces {
			x.places[q.Value] = append(places, place{q.unit, f.Start, f.End})
		}
	}
}

// mostPlaces is how many places of one value with one unit are kept.
const mostPlaces = 16

// Places visits the places at which the text has a number in one of its readings.
func (x *Index) Places(readings []Quantity, visit func(start, end int)) {
	for _, q := range readings {
		for _, p := range x.places[q.Value] {
			if q.fits(p.unit) {
				visit(p.start, p.end)
			}
		}
	}
}

// Unitless visits the places at which the text has the value of a number and says nowhere what
// it counts; that a number is a share must be said.
func (x *Index) Unitless(readings []Quantity, visit func(start, end int)) {
	for _, q := range readings {
		if q.unit == noUnit || !(Quantity{}).fits(q.unit) {
			continue
		}
		for _, p := range x.places[q.Value] {
			if p.unit == noUnit {
				visit(p.start, p.end)
			}
		}
	}
}

// Find is the first place at which the text has a number in one of its readings.
func (x *Index) Find(readings []Quantity) (start, end int, found bool) {
	x.Places(readings, func(from, to int) {
		if !found || from < start {
			start, end, found = from, to, true
		}
	})
	return start, end, found
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
