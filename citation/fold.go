package citation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as quotations are compared: letter case, white space,
// quotation marks, dashes, soft hyphens, ligatures and the composition of
// characters make no difference. Blanks are left out, except between digits; so
// are dashes, except between digits and as a sign; so are the marks of emphasis.
type folded struct {
	src  string
	text []byte
	from []int32 // where in src the character of each byte of text begins
}

// fold folds a text. It must be shorter than 2 GiB.
func fold(src string) folded {
	f := folder{folded: folded{src: src, text: make([]byte, 0, len(src)), from: make([]int32, 0, len(src))}}
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			f.ascii(c, i)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(src[i:])
		f.wide(r, i)
		i += size
	}
	return f.folded
}

type folder struct {
	folded
	last  byte // class of what was written last
	blank bool // white space since then
	dash  bool // a dash since then
	loose bool // and white space after the dash
	sign  int  // where the dash stands
}

// The classes of what was written last.
const (
	nothing byte = iota
	aDigit
	aLetter
	aMark
)

func (f *folder) ascii(c byte, at int) {
	switch {
	case 'a' <= c && c <= 'z':
		f.put(c, at, aLetter)
	case 'A' <= c && c <= 'Z':
		f.put(c+'a'-'A', at, aLetter)
	case '0' <= c && c <= '9':
		f.put(c, at, aDigit)
	case c <= ' ' || c == 0x7f:
		f.space()
	case c == '-':
		f.hyphen(at)
	case c == '"' || c == '\'' || c == '`' || c == '*' || c == '_':
	default:
		f.put(c, at, aMark)
	}
}

func (f *folder) wide(r rune, at int) {
	switch {
	case unicode.IsSpace(r):
		f.space()
		return
	case unicode.Is(unicode.Pd, r) || r == '−' || r == '⁃':
		f.hyphen(at)
		return
	case isQuoteMark(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return
	case r == 'ß' || r == 'ẞ':
		f.put('s', at, aLetter)
		f.put('s', at, aLetter)
		return
	}
	for _, part := range norm.NFKD.String(string(foldCase(r))) {
		part = foldCase(part)
		switch {
		case part < utf8.RuneSelf && isAlnum(byte(part)):
			f.ascii(byte(part), at)
			continue
		case part == ' ':
			f.space()
			continue
		}
		class := aMark
		if unicode.IsLetter(part) || unicode.IsMark(part) {
			class = aLetter
		}
		var b [utf8.UTFMax]byte
		for _, c := range b[:utf8.EncodeRune(b[:], part)] {
			f.put(c, at, class)
		}
	}
}

// foldCase maps the letters that differ in case only to one of them.
func foldCase(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

func (f *folder) space() {
	f.blank = true
	f.loose = f.loose || f.dash
}

func (f *folder) hyphen(at int) { f.dash, f.loose, f.sign = true, false, at }

// put writes a byte, and before it what the blanks and dashes since the last one
// amount to.
func (f *folder) put(c byte, at int, class byte) {
	if class == aDigit && (f.dash || f.blank) {
		switch {
		case f.dash && f.last == aDigit, f.dash && !f.loose && f.last != aLetter, f.dash && !f.loose && f.blank:
			f.add('-', f.sign)
		case f.blank && f.last == aDigit:
			f.add(' ', at)
		}
	}
	f.blank, f.dash, f.loose, f.last = false, false, false, class
	f.add(c, at)
}

func (f *folder) add(c byte, at int) {
	f.text = append(f.text, c)
	f.from = append(f.from, int32(at))
}

// isQuoteMark holds for quotation marks and apostrophes of all kinds.
func isQuoteMark(r rune) bool {
	return strings.ContainsRune("\"'`´“”„‟‘’‚‛«»‹›′″‴ʼʹ「」『』〝〞〟＂＇", r)
}

// whole reports whether the bytes from i to j are whole words of the text: no
// word and no character goes on before or after them.
func (f *folded) whole(i, j int) bool {
	if i > 0 && f.from[i] == f.from[i-1] || j < len(f.text) && f.from[j] == f.from[j-1] {
		return false
	}
	start, end := f.span(i, j)
	first, _ := utf8.DecodeRuneInString(f.src[start:])
	last, _ := utf8.DecodeLastRuneInString(f.src[:end])
	return !(joins(first) && joins(visibleBefore(f.src[:start]))) && !(joins(last) && joins(visibleAfter(f.src[end:])))
}

// span is the part of the source that the bytes from i to j stand for.
func (f *folded) span(i, j int) (start, end int) {
	end = int(f.from[j-1])
	_, size := utf8.DecodeRuneInString(f.src[end:])
	return int(f.from[i]), end + size
}

// joins holds for characters that make a word together with their neighbour.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !isDense(r)
}

func visibleBefore(s string) rune {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !unicode.Is(unicode.Cf, r) {
			return r
		}
		s = s[:len(s)-size]
	}
	return utf8.RuneError
}

func visibleAfter(s string) rune {
	for _, r := range s {
		if !unicode.Is(unicode.Cf, r) {
			return r
		}
	}
	return utf8.RuneError
}
