package link

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// URLs finds the raw URLs of a text in order:
//
//   - a scheme with :// after it, whichever scheme,
//   - // before a domain name or an address of numbers,
//   - www. before a domain, in any letter case,
//   - javascript:, vbscript: and mailto: before anything but white space, and
//     data: with the comma that every such URL has.
//
// It looks at every byte a bounded number of times, however many URLs there are.
type URLs struct {
	text []byte
	// next is where the next URL of each form starts: -1 when not known, the
	// length of the text when there is none.
	next [4]int
}

// FindURLs finds the raw URLs of text.
func FindURLs(text []byte) *URLs { return &URLs{text, [4]int{-1, -1, -1, -1}} }

// Next is the first URL that starts at from or later, which must not be before
// an earlier from: where it starts and where it can end at most, trailing
// punctuation included.
func (f *URLs) Next(from int) (Span, bool) {
	start := len(f.text)
	for i, find := range []func([]byte, int) int{schemeFrom, slashesFrom, wwwFrom, wordFrom} {
		if f.next[i] < from {
			f.next[i] = find(f.text, from)
		}
		start = min(start, f.next[i])
	}
	if start == len(f.text) {
		return Span{}, false
	}
	return Span{start, urlEnd(f.text, start)}, true
}

func schemeFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.Index(text[at:], []byte("://"))
		if i < 0 {
			return len(text)
		}
		if start := schemeStart(text[from : at+i]); start >= 0 {
			return from + start
		}
		at += i + len("://")
	}
}

// schemeStart is where the scheme at the end of text begins, or -1. A scheme that
// everyone knows is found after any letters, as in "seehttp".
func schemeStart(text []byte) int {
	for _, scheme := range []string{"https", "http", "ftp"} {
		if start := len(text) - len(scheme); start >= 0 && equalFoldASCII(text[start:], scheme) {
			return start
		}
	}
	start := -1
	for i := len(text) - 1; i >= 0; i-- {
		c := text[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			start = i
		} else if (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			break
		}
	}
	return start
}

func slashesFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.Index(text[at:], []byte("//"))
		if i < 0 {
			return len(text)
		}
		if at += i; isDomain(text[at+2:]) || isDomain(afterUser(text[at+2:])) {
			return at
		}
		at++
	}
}

// longestUser is the length up to which a user name is looked for before a domain.
const longestUser = 100

// afterUser is what follows the user name that text begins with; nil when there
// is none.
func afterUser(text []byte) []byte {
	for i, c := range text[:min(len(text), longestUser)] {
		switch {
		case c == '@':
			return text[i+1:]
		case c <= ' ' || c == '/' || c == '<' || c == '>':
			return nil
		}
	}
	return nil
}

// longestDomain is the length of the longest name that DNS has.
const longestDomain = 253

// isDomain reports whether text begins with a domain name of two labels or more,
// of which the last begins with a letter, or with an address of four numbers.
func isDomain(text []byte) bool {
	labels, numbers, letter := 0, 0, false
	for at := 0; at < len(text) && at < longestDomain; {
		r, size := utf8.DecodeRune(text[at:])
		if !beginsDomain(r) {
			return false
		}
		labels++
		letter = !unicode.IsNumber(r)
		number := true
		for beginsDomain(r) || r == '-' || r == '_' {
			number = number && r >= '0' && r <= '9'
			at += size
			r, size = utf8.DecodeRune(text[at:])
		}
		if number {
			numbers++
		}
		if r != '.' {
			break
		}
		if at++; at < len(text) {
			if r, _ := utf8.DecodeRune(text[at:]); !beginsDomain(r) {
				break // the full stop ends a sentence
			}
		}
	}
	return labels >= 2 && letter || labels == 4 && numbers == 4
}

func wwwFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(text[at:], '.')
		if i < 0 {
			return len(text)
		}
		at += i + 1
		start := at - len("www.")
		if start < from || !equalFoldASCII(text[start:at-1], "www") {
			continue
		}
		if r, _ := utf8.DecodeRune(text[at:]); beginsDomain(r) {
			return start
		}
	}
}

// longestHead is how far the comma of a data URL can be from its scheme.
const longestHead = 200

func wordFrom(text []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(text[at:], ':')
		if i < 0 {
			return len(text)
		}
		at += i + 1
		for _, word := range []string{"javascript", "vbscript", "mailto", "data"} {
			start := at - 1 - len(word)
			if start < from || !equalFoldASCII(text[start:at-1], word) {
				continue
			}
			if r, _ := utf8.DecodeLastRune(text[:start]); start > 0 && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
				continue // the end of another word
			}
			head := text[at:min(len(text), at+longestHead)]
			if n := bytes.IndexFunc(head, unicode.IsSpace); n >= 0 {
				head = head[:n]
			}
			if len(head) > 0 && (word != "data" || bytes.IndexByte(head, ',') >= 0) {
				return start
			}
		}
	}
}

// equalFoldASCII compares without regard to the case of ASCII letters. The
// letters that Unicode folds into them, such as the long s, make no scheme.
func equalFoldASCII(text []byte, lower string) bool {
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
	at := start + markEnd(text[start:])
	round, square := 0, 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case r == '(':
			round++
		case r == ')':
			round--
		case r == '[' && bytes.HasPrefix(text[at:], mentionMark):
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

// markEnd is the length of what marks the URL at the start of text as one: its
// scheme and the slashes after it, or www.
func markEnd(text []byte) int {
	if bytes.HasPrefix(text, []byte("//")) {
		return len("//")
	}
	i := bytes.IndexAny(text, ":.")
	if text[i] == '.' && i == len("www") && equalFoldASCII(text[:i], "www") {
		return i + 1
	}
	if text[i] == '.' { // in the scheme
		i = bytes.IndexByte(text, ':')
	}
	if bytes.HasPrefix(text[i:], []byte("://")) {
		return i + len("://")
	}
	return i + 1
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

// TrimURL takes away the punctuation that ends a sentence or markup rather than a
// URL.
func TrimURL(text []byte, url Span) Span {
	least := url.Start + markEnd(text[url.Start:])
	for url.End > least && bytes.IndexByte([]byte(`.,;:!?'*_~([\`), text[url.End-1]) >= 0 {
		url.End--
	}
	return url
}

// LeadsAway reports whether a destination leads out of the document, as browsers
// read it: it names a scheme, or begins with two slashes of either kind.
func LeadsAway(destination []byte) bool {
	plain := browsed(destination)
	if len(plain) > 1 && plain[0] == '/' && plain[1] == '/' {
		return true
	}
	for i, c := range plain {
		switch {
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return true
		default:
			return hasURL(plain)
		}
	}
	return hasURL(plain)
}

func hasURL(text []byte) bool {
	_, found := FindURLs(text).Next(0)
	return found
}

// browsed is a destination as browsers take it: without white space and controls
// at its ends, tabs and line ends, and with slashes for backslashes.
func browsed(destination []byte) []byte {
	destination = bytes.TrimFunc(destination, func(r rune) bool { return r <= ' ' })
	return bytes.Map(func(r rune) rune {
		switch r {
		case '\t', '\n', '\r':
			return -1
		case '\\':
			return '/'
		}
		return r
	}, destination)
}

// AttributeLeadsAway reports whether the value of an attribute leads out of the
// document. Some attributes hold a destination, and all can hold one somewhere.
func AttributeLeadsAway(attribute string, value []byte) bool {
	switch attribute {
	case "href", "src", "action", "formaction", "poster", "cite", "background", "data", "ping", "longdesc", "manifest",
		"codebase", "classid", "archive", "profile", "icon", "dynsrc", "lowsrc", "xlink:href", "from", "to", "by", "values":
		if LeadsAway(value) {
			return true
		}
	}
	plain := browsed(value)
	if hasURL(plain) {
		return true
	}
	for _, part := range bytes.FieldsFunc(plain, func(r rune) bool { return unicode.IsSpace(r) || bytes.ContainsRune([]byte(`,;=('"`), r) }) {
		if bytes.HasPrefix(part, []byte("//")) && len(part) > 2 {
			return true
		}
	}
	return false
}

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
