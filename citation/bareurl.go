package citation

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// schemeLength is the length of http://, https:// or ftp:// in any letter case
// at the start of src, 0 where none stands there.
func schemeLength(src []byte) int {
	for _, scheme := range []string{"https://", "http://", "ftp://"} {
		if len(src) >= len(scheme) && strings.EqualFold(string(src[:len(scheme)]), scheme) {
			return len(scheme)
		}
	}
	return 0
}

// bareURL reads the URL whose scheme of n bytes stands at a position of a text,
// with escapes and entities resolved, and says where the text goes on. Brackets
// belong to it in pairs only; punctuation at its end belongs to the sentence and
// marks at its end to the emphasis around it.
func bareURL(src []byte, start, n int) (url string, end int) {
	var out []byte
	var ends []int // where the source stands after each byte of out
	var open []rune
	push := func(plain string, at int) {
		for range len(plain) {
			ends = append(ends, at)
		}
		out = append(out, plain...)
	}
	push(string(src[start:start+n]), start+n)
	at := start + n
	for at < len(src) && at-start < maxDestination {
		plain, width := character(src, at)
		r, size := utf8.DecodeRuneInString(plain)
		if r == utf8.RuneError && size == 1 {
			r = 'x' // a byte that is not UTF-8 is an odd letter
		}
		if endsBareURL(r) || r == '[' && (isCitation(src, at) || beginsLink(src, at)) {
			break
		}
		if closing := strings.IndexRune(")]", r); closing >= 0 {
			if len(open) == 0 || open[len(open)-1] != rune("(["[closing]) {
				break
			}
			open = open[:len(open)-1]
		} else if r == '(' || r == '[' {
			open = append(open, r)
		}
		at += width
		push(plain, at)
	}
	for len(out) > n && bytes.IndexByte([]byte(`.,;:!?'*_~([\`), out[len(out)-1]) >= 0 {
		out, ends = out[:len(out)-1], ends[:len(ends)-1]
	}
	return string(out), ends[len(ends)-1]
}

// endsBareURL holds for what is no part of a URL in running text: blanks,
// controls, quotation marks and angle brackets, and punctuation outside ASCII
// other than dashes.
func endsBareURL(r rune) bool {
	switch {
	case r <= unicode.MaxASCII:
		return r <= ' ' || strings.ContainsRune("<>\"`\x7f", r)
	case unicode.Is(unicode.Pd, r) || unicode.Is(unicode.Pc, r):
		return false
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.IsPunct(r)
}

// beginsLink reports whether the bracket at a position encloses the text of a
// link.
func beginsLink(src []byte, at int) bool {
	n := bytes.IndexByte(src[at:min(len(src), at+maxLinkTitle)], ']')
	return n > 0 && at+n+1 < len(src) && src[at+n+1] == '('
}
