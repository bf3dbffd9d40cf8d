package summary

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// span is a part of a text.
type span struct{ start, end int }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

var schemes = [][]byte{[]byte("https"), []byte("http"), []byte("ftp")}

// urlFinder finds the raw URLs of a text in order: http://, https:// and ftp://
// in any letter case, and www. in any letter case before a domain. It looks at
// every byte once, however many URLs there are.
type urlFinder struct {
	text   []byte
	scheme int // start of the next URL with a scheme; -1 when not known, len(text) when there is none
	www    int // likewise for www.
}

func newURLFinder(text []byte) urlFinder { return urlFinder{text: text, scheme: -1, www: -1} }

// next is the first URL that starts at from or later: where it starts and where
// it can end at most, trailing punctuation included.
func (f *urlFinder) next(from int) (span, bool) {
	if f.scheme < from {
		f.scheme = schemeFrom(f.text, from)
	}
	if f.www < from {
		f.www = wwwFrom(f.text, from)
	}
	start := min(f.scheme, f.www)
	if start == len(f.text) {
		return span{}, false
	}
	return span{start, urlEnd(f.text, start)}, true
}

func schemeFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.Index(text[at:], []byte("://"))
		if i < 0 {
			return len(text)
		}
		for _, scheme := range schemes {
			if start := at + i - len(scheme); start >= from && equalFoldASCII(text[start:at+i], scheme) {
				return start
			}
		}
		at += i + len("://")
	}
}

func wwwFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(text[at:], '.')
		if i < 0 {
			return len(text)
		}
		at += i + 1
		start := at - len("www.")
		if start < from || !equalFoldASCII(text[start:at-1], []byte("www")) {
			continue
		}
		if r, _ := utf8.DecodeRune(text[at:]); beginsDomain(r) {
			return start
		}
	}
}

// equalFoldASCII compares without regard to the case of ASCII letters. The
// letters that Unicode folds into them, such as the long s, make no scheme.
func equalFoldASCII(text, lower []byte) bool {
	if len(text) != len(lower) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// beginsDomain reports whether a domain can begin with r: a letter, a digit, or
// one of the symbols that internationalised names have.
func beginsDomain(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || r > unicode.MaxASCII && unicode.IsSymbol(r))
}

// urlEnd is where the URL that starts at start ends at most. Brackets belong to
// it in pairs only, so that one inside a link or a parenthesis ends there.
func urlEnd(text []byte, start int) int {
	at := start
	if i := bytes.Index(text[start:min(len(text), start+len("https://"))], []byte("://")); i >= 0 {
		at += i + len("://")
	}
	round, square := 0, 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case r == '(':
			round++
		case r == ')':
			round--
		case r == '[' && bytes.HasPrefix(text[at:], citationMark):
			return at
		case r == '[':
			square++
		case r == ']':
			square--
		case endsURL(r, size):
			return at
		}
		if round < 0 || square < 0 {
			return at
		}
		at += size
	}
	return at
}

func endsURL(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return false
	case r <= unicode.MaxASCII:
		return r <= ' ' || bytes.IndexByte([]byte("<>\"`{|}\x7f"), byte(r)) >= 0
	case unicode.Is(unicode.Pd, r) || unicode.Is(unicode.Pc, r):
		return false
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.IsPunct(r)
}

// trimURL takes away the punctuation that ends a sentence or a markup rather
// than a URL.
func trimURL(text []byte, url span) span {
	least := url.start + len("www.")
	if i := bytes.Index(url.of(text), []byte("://")); i >= 0 {
		least = url.start + i + len("://")
	}
	for url.end > least && bytes.IndexByte([]byte(`.,;:!?'*_~([\`), text[url.end-1]) >= 0 {
		url.end--
	}
	return url
}
