package claim

import (
	"cmp"
	"math"
	"slices"
)

// Window is a passage of a page that a reader is shown.
type Window struct {
	CID        string
	Start, End int // bytes of the page's text
	Text       string
	Title      string // of the page; it grounds nothing by itself
	Heading    string // the nearest one before its matching sentence; nor does it
}

// The number of windows: those that are shown at once, and those of a second look, or
// of a first one where words cannot choose.
const (
	firstWindows = 3
	moreWindows  = 8
)

// candidate is a window of a page.
type candidate struct {
	page       int // which of the sentence's pages, where those of several are compared
	start, end int
	around     int     // where the sentence begins around which it lies
	matched    bool    // it holds a number, date or quotation of the sentence
	centred    bool    // and the sentence around which it lies does
	named      bool    // it holds a name
	quoted     bool    // it holds a passage that an output quotes
	weight     float64 // of the content words that it holds
	own        float64 // and of those in the sentence around which it lies
}

// byWords orders windows: those that hold a match first, then by the words that they
// hold, then by place. Of those that hold the same, the one around what it holds comes
// first.
func byWords(a, b candidate) int {
	return cmp.Or(-compareBool(a.matched, b.matched), -cmp.Compare(a.weight, b.weight), a.page-b.page, -compareBool(a.centred, b.centred), -cmp.Compare(a.own, b.own), a.start-b.start)
}

// byPlace orders the windows of a page whose words say little: those that hold a
// number, date or name first, then those that hold a passage that was quoted, then by
// place.
func byPlace(a, b candidate) int {
	return cmp.Or(-compareBool(a.matched || a.named, b.matched || b.named), -compareBool(a.quoted, b.quoted), a.page-b.page, a.start-b.start)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// pick takes the first windows in an order that share no text, at most n.
func pick(from []candidate, order func(a, b candidate) int, n int) []candidate {
	var picked []candidate
	slices.SortStableFunc(from, order)
	for _, c := range from {
		if len(picked) == n {
			break
		}
		if !slices.ContainsFunc(picked, func(p candidate) bool { return c.start < p.end && p.start < c.end }) {
			picked = append(picked, c)
		}
	}
	return picked
}

// weightOf is what a word weighs that so many of the sentences of a page have: one
// half more where none has it than where all have.
func weightOf(having, sentences int) float64 {
	return 1 + math.Log(float64(sentences+1)/float64(having+1))/math.Log(float64(sentences)+1.5)/2
}

// windowsOf chooses the windows of a sentence among those of its pages: the best one of
// each page first, then the best of the others. Further are those of a second look.
func windowsOf(looks []look, loose bool) (windows, further []Window) {
	order, most := byWords, max(firstWindows, len(looks))
	if loose {
		order, most = byPlace, max(moreWindows, len(looks))
	}
	var rest []candidate
	for i := range looks {
		list := looks[i].windows
		if loose {
			list = looks[i].loose
		}
		for k, c := range list {
			if c.page = i; k == 0 {
				windows = append(windows, looks[i].window(c))
			} else {
				rest = append(rest, c)
			}
		}
	}
	slices.SortFunc(rest, order)
	for _, c := range rest {
		switch {
		case len(windows) < most:
			windows = append(windows, looks[c.page].window(c))
		case len(further) < moreWindows:
			further = append(further, looks[c.page].window(c))
		}
	}
	return windows, further
}

func (l *look) window(c candidate) Window {
	return Window{CID: l.page.CID, Start: c.start, End: c.end, Text: l.page.Text[c.start:c.end], Title: l.page.Title, Heading: l.page.headingBefore(l.headings, c.around)}
}
