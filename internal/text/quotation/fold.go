package quotation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
	"golang.org/x/text/unicode/norm"
)

// folded is a text as quotations are compared: letter case, the kind and the amount
// of white space, quotation marks, soft hyphens, ligatures and the composition of
// characters make no difference. Between two words stands one blank, whether the
// text has blanks or a dash there; beside other marks, and beside letters of
// scripts that put no blanks between words, there is no blank. A dash between
// digits, or as a sign, stays a dash. The marks of emphasis are left out.
type folded struct {
	src  string
	text []byte
	from []int32 // where in src the character of each byte of text begins
	// soft are the places in text at which a line ends with a hyphen: the word may
	// go on, and there may be a blank.
	soft []int
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
	last   byte // class of what was written last
	blank  bool // white space since then
	dash   bool // a dash since then
	loose  bool // and white space after the dash
	broken bool // and a line end, while the dash follows a word directly
	shy    bool // a soft hyphen since then
	gap    int  // where the first of them stands
	sign   int  // where the dash stands
	raised bool // the digit that was written last is not on the line, or in a circle
}

// The classes of what was written last.
const (
	nothing byte = iota
	aDigit
	aLetter
	aDense // a letter of a script that puts no blanks between words
	aMark
)

func (f *folder) ascii(c byte, at int) {
	switch {
	case 'a' <= c && c <= 'z':
		f.put(c, at, aLetter)
	case 'A' <= c && c <= 'Z':
		f.put(c+'a'-'A', at, aLetter)
	case '0' <= c && c <= '9':
		f.digit(c, at, false)
	case c <= ' ' || c == 0x7f:
		f.space(c == '\n', at)
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
		f.space(false, at)
		return
	case r == '\u00ad':
		f.shy = true
		return
	case unicode.Is(unicode.Pd, r) || r == '−' || r == '⁃':
		f.hyphen(at)
		return
	case IsMark(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return
	case r == 'ß' || r == 'ẞ':
		f.put('s', at, aLetter)
		f.put('s', at, aLetter)
		return
	}
	for _, part := range norm.NFKD.String(string(foldCase(r))) {
		part = foldCase(part)
		switch {
		case '0' <= part && part <= '9':
			f.digit(byte(part), at, unicode.Is(unicode.No, r))
			continue
		case part < utf8.RuneSelf && 'a' <= part && part <= 'z':
			f.ascii(byte(part), at)
			continue
		case part == ' ':
			f.space(false, at)
			continue
		}
		class := aMark
		switch {
		case page.IsDense(part):
			class = aDense
		case unicode.IsLetter(part) || unicode.IsMark(part):
			class = aLetter
		case unicode.IsDigit(part):
			class = aDigit
		}
		var b [utf8.UTFMax]byte
		for _, c := range b[:utf8.EncodeRune(b[:], part)] {
			f.put(c, at, class)
		}
	}
}

// foldCase maps the letters that differ in case only to one of them.
func foldCase(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// space takes white space. A soft hyphen at the end of a line is where a word was
// broken.
func (f *folder) space(line bool, at int) {
	if line && f.shy {
		return
	}
	if f.dash && line && !f.blank {
		f.broken = true
	}
	if !f.blank && !f.dash {
		f.gap = at
	}
	f.loose = f.loose || f.dash
	f.blank = f.blank || !f.dash
}

func (f *folder) hyphen(at int) {
	if !f.blank && !f.dash {
		f.gap = at
	}
	f.dash, f.loose, f.broken, f.sign = true, false, false, at
}

// digit writes a digit. One that is raised, or the like, is not part of the number
// next to it.
func (f *folder) digit(c byte, at int, raised bool) {
	if f.last == aDigit && raised != f.raised && !f.blank && !f.dash {
		f.add('^', at)
	}
	f.put(c, at, aDigit)
	f.raised = raised
}

// put writes a byte, and before it what the blanks and dashes since the last one
// amount to.
func (f *folder) put(c byte, at int, class byte) {
	if f.blank || f.dash {
		words := (f.last == aLetter || f.last == aDigit) && (class == aLetter || class == aDigit)
		letterBefore := f.last == aLetter || f.last == aDense
		switch {
		case class == aDigit && f.dash && (f.last == aDigit || !f.loose && (!letterBefore || f.blank)):
			f.add('-', f.sign)
		case f.broken && f.last == aLetter && class == aLetter:
			f.soft = append(f.soft, len(f.text))
		case words:
			f.add(' ', f.gap)
		}
	}
	f.blank, f.dash, f.loose, f.broken, f.shy, f.last, f.raised = false, false, false, false, false, class, false
	f.add(c, at)
}

func (f *folder) add(c byte, at int) {
	f.text = append(f.text, c)
	f.from = append(f.from, int32(at))
}

// IsMark holds for quotation marks and apostrophes of all kinds.
func IsMark(r rune) bool {
	return r == '`' || r == '´' || r == '″' || isQuotationMark(r) || strings.ContainsRune(likeMarks, r)
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

// beginOf is where the part that ends at a position begins.
func (f *folded) beginOf(part []byte, end int) int {
	if len(f.soft) == 0 {
		return end - len(part)
	}
	for _, c := range slices.Backward(part) {
		if _, soft := slices.BinarySearch(f.soft, end); c != ' ' || !soft {
			end--
		}
	}
	return end
}

// span is the part of the source that the bytes from i to j stand for.
func (f *folded) span(i, j int) (start, end int) {
	end = int(f.from[j-1])
	_, size := utf8.DecodeRuneInString(f.src[end:])
	return int(f.from[i]), end + size
}

// joins holds for characters that make a word together with their neighbour.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !page.IsDense(r)
}

func visibleBefore(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, isFormat))
	return r
}

func visibleAfter(s string) rune {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, isFormat))
	return r
}

func isFormat(r rune) bool { return unicode.Is(unicode.Cf, r) }
