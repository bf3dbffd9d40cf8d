package link

import "bytes"

// Span is a part of a text.
type Span struct{ Start, End int }

// Of is what the span covers.
func (s Span) Of(text []byte) []byte { return text[s.Start:s.End] }

var mentionMark = []byte("[@")

// NextMention is the first citation that starts at from or later: [@, then
// anything but ] and line ends, then ]. The span includes the brackets.
func NextMention(text []byte, from int) (Span, bool) {
	for at := from; ; {
		i := bytes.Index(text[at:], mentionMark)
		if i < 0 {
			return Span{}, false
		}
		start := at + i
		inside := start + len(mentionMark)
		n := bytes.IndexAny(text[inside:], "]\r\n")
		if n < 0 {
			return Span{}, false
		}
		if text[inside+n] == ']' {
			return Span{start, inside + n + 1}, true
		}
		// No ] comes before the line ends, so later marks on the line have none either.
		at = inside + n
	}
}

// CID is what stands between the brackets of a citation.
func (s Span) CID(text []byte) []byte { return text[s.Start+len(mentionMark) : s.End-1] }
