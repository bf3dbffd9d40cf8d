package claim

import (
	"sort"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// rendered is the text of a block as a page shows it, without zero-width
// characters, and where each part of it comes from.
type rendered struct {
	text  []byte
	parts []part
}

// part is a part of a rendered text, up to the next one.
type part struct {
	at         int // where it begins in the rendered text
	start, end int // where it comes from
	verbatim   bool
	seen       bool // a reader sees it as text
}

func (r *rendered) reset() { r.text, r.parts = r.text[:0], r.parts[:0] }

// add takes a piece of text that comes from start to end. A line end that a
// character reference stands for is shown as a blank.
func (r *rendered) add(text []byte, start, end int, seen bool) {
	verbatim := len(text) == end-start
	from := 0
	take := func(to int) {
		if to == from {
			return
		}
		p := part{len(r.text), start, end, verbatim, seen}
		if verbatim {
			p.start, p.end = start+from, start+to
		}
		r.parts = append(r.parts, p)
		r.text = append(r.text, text[from:to]...)
	}
	for i := markdown.NextHidden(text, 0); i >= 0; i = markdown.NextHidden(text, from) {
		take(i)
		_, size := utf8.DecodeRune(text[i:])
		from = i + size
	}
	take(len(text))
	if !verbatim {
		for i := len(r.text) - 1; i >= 0 && i >= len(r.text)-len(text); i-- {
			if r.text[i] == '\n' || r.text[i] == '\r' {
				r.text[i] = ' '
			}
		}
	}
}

// breakLine ends a line.
func (r *rendered) breakLine(start, end int) {
	r.parts = append(r.parts, part{at: len(r.text), start: start, end: end, seen: true})
	r.text = append(r.text, '\n')
}

// source is where the part of the text from start to end comes from, and whether
// a reader sees all of it.
func (r *rendered) source(of link.Span) (from link.Span, seen bool) {
	first := sort.Search(len(r.parts), func(i int) bool { return r.parts[i].at > of.Start }) - 1
	seen = true
	for i := first; i < len(r.parts) && r.parts[i].at < of.End; i++ {
		p := r.parts[i]
		seen = seen && p.seen
		if i == first {
			from.Start = p.start
			if p.verbatim {
				from.Start += of.Start - p.at
			}
		}
		from.End = p.end
		if p.verbatim {
			from.End = min(p.end, p.start+of.End-p.at)
		}
	}
	return from, seen
}
