package link

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// How far a URL in running text, and the text of a link in it, are followed.
const (
	longestURL   = maxURL + 64
	longestLabel = 1000
)

// schemeLength is the length of http://, https:// or ftp:// in any letter case at
// the start of src, 0 where there is none.
func schemeLength(src []byte) int {
	if len(src) == 0 || src[0]|0x20 != 'h' && src[0]|0x20 != 'f' {
		return 0
	}
	for _, scheme := range []string{"https://", "http://", "ftp://"} {
		if len(src) >= len(scheme) && strings.EqualFold(string(src[:len(scheme)]), scheme) {
			return len(scheme)
		}
	}
	return 0
}

// bareURL reads the URL at a position of a text, whose scheme has n bytes and
// which ends before limit. Escapes and character references are resolved. It also
// says where the text goes on. Brackets belong to the URL in pairs only;
// punctuation at its end belongs to the sentence, and marks at its end to the
// emphasis around it.
func bareURL(src []byte, start, n, limit int) (url string, end int) {
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
	for at < min(limit, start+longestURL) {
		plain, width := character(src, at)
		r, size := utf8.DecodeRuneInString(plain)
		if r == utf8.RuneError && size == 1 {
			r = 'x' // a byte that is not UTF-8 is an odd letter
		}
		if endsBareURL(r) || r == '[' && (bytes.HasPrefix(src[at:], mentionMark) || beginsLink(src, at)) {
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

// endsBareURL holds for what ends a URL in running text: blanks,
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
	n := bytes.IndexByte(src[at:min(len(src), at+longestLabel)], ']')
	return n > 0 && at+n+1 < len(src) && src[at+n+1] == '('
}

// character is what the source of a text renders as at a position, and its
// length: escapes and character references are resolved.
func character(src []byte, at int) (plain string, n int) {
	switch c := src[at]; {
	case c == '\\' && at+1 < len(src) && isPunct(src[at+1]):
		return string(src[at+1 : at+2]), 2
	case c == '&':
		if plain, n := markdown.CharacterReference(src[at:]); n > 0 {
			return plain, n
		}
	}
	_, n = utf8.DecodeRune(src[at:])
	return string(src[at : at+n]), n
}

func isPunct(c byte) bool { return '!' <= c && c <= '~' && !isAlnum(c) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
