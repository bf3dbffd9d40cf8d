package citation

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

// isPlainMention reports whether text is a citation that no markup can change:
// its id is made of ASCII letters, digits and single signs between them, as the
// ids of a pool are.
func isPlainMention(text []byte) bool {
	cid := text[len(mentionMark) : len(text)-1]
	for i, c := range cid {
		switch {
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case (c == '_' || c == '-') && i > 0 && i+1 < len(cid) && isWordByte(cid[i-1]) && isWordByte(cid[i+1]):
		default:
			return false
		}
	}
	return len(cid) > 0
}

func isWordByte(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
