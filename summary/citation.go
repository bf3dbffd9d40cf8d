package summary

import "bytes"

var citationMark = []byte("[@")

// nextCitation is the first citation that starts at from or later: [@, then
// anything but ] and line ends, then ]. The span includes the brackets.
func nextCitation(text []byte, from int) (span, bool) {
	for at := from; ; {
		i := bytes.Index(text[at:], citationMark)
		if i < 0 {
			return span{}, false
		}
		start := at + i
		inside := start + len(citationMark)
		n := bytes.IndexAny(text[inside:], "]\r\n")
		if n < 0 {
			return span{}, false
		}
		if text[inside+n] == ']' {
			return span{start, inside + n + 1}, true
		}
		// No ] comes before the line ends, for later marks on the line neither.
		at = inside + n
	}
}

// cid is what stands between the brackets of a citation.
func (s span) cid(text []byte) []byte { return text[s.start+len(citationMark) : s.end-1] }

// lineEnds counts the line ends of a text: LF, CRLF and CR.
func lineEnds(text []byte) int {
	return bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n"))
}
