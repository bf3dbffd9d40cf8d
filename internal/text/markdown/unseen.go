package markdown

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Unseen is a part of a text that a reader does not see.
type Unseen struct {
	At   int    // where it begins
	HTML []byte // the tag, comment or block; nil for a character
	Char rune   // the character, where it is not HTML
}

// Unseen lists the HTML of a document, and the characters that a reader cannot
// see: those that stand in the text, and those that a character reference stands
// for. A byte-order mark at the beginning is left out, and so are the characters
// that belong to those beside them: a joiner between two that can be seen, and
// the selector of a variant.
func (d *Document) Unseen() []Unseen {
	found := d.hiddenCharacters()
	for _, b := range d.Blocks {
		if d.Plain(b) {
			continue
		}
		for _, piece := range d.Inlines(b) {
			switch {
			case piece.Kind == HTMLInline:
				found = append(found, Unseen{At: piece.Start, HTML: bytes.Clone(piece.Text)})
			case piece.Kind == TextInline && d.text[piece.Start] == '&':
				if i := next(piece.Text, 0, isUnseen); i >= 0 && !d.joinsLetters(piece) {
					r, _ := utf8.DecodeRune(piece.Text[i:])
					found = append(found, Unseen{At: piece.Start, Char: r})
				}
			}
		}
	}
	return found
}

// HiddenLines lists the lines of a text that have a character that a reader cannot
// see, as [Document.Unseen] has them.
func HiddenLines(text []byte) []int {
	unseen := Parse(text).Unseen()
	slices.SortFunc(unseen, func(a, b Unseen) int { return a.At - b.At })
	lines := CountLines(text)
	var found []int
	for _, u := range unseen {
		if u.HTML == nil {
			found = append(found, lines.Of(u.At))
		}
	}
	return slices.Compact(found)
}

func (d *Document) hiddenCharacters() []Unseen {
	var found []Unseen
	at := 0
	if mark := []byte("\ufeff"); bytes.HasPrefix(d.text, mark) {
		at = len(mark)
	}
	for at = next(d.text, at, isUnseen); at >= 0; {
		r, size := utf8.DecodeRune(d.text[at:])
		if !d.belongs(r, at, size) {
			found = append(found, Unseen{At: at, Char: r})
		}
		at = next(d.text, at+size, isUnseen)
	}
	return found
}

// belongs reports whether the hidden character r at a place belongs to those
// beside it: it joins two that can be seen, or selects a variant of one.
func (d *Document) belongs(r rune, at, size int) bool {
	before, width := utf8.DecodeLastRune(d.text[:at])
	switch {
	case varies(r):
		return width > 0 && varied(before, r)
	case !Joins(r):
		return false
	}
	if varies(before) { // an emoji in colour, joined to another
		before, width = utf8.DecodeLastRune(d.text[:at-width])
	}
	after, size := utf8.DecodeRune(d.text[at+size:])
	return width > 0 && size > 0 && seen(before) && seen(after)
}

// isUnseen holds for what is concealed, white space of all kinds aside.
func isUnseen(r rune) bool { return Concealed(r) && !unicode.IsSpace(r) }

func seen(r rune) bool { return !unicode.IsSpace(r) && !Hidden(r) }

// joinsLetters reports whether a character reference stands for a joiner between
// two letters.
func (d *Document) joinsLetters(piece Inline) bool {
	r, size := utf8.DecodeRune(piece.Text)
	before, _ := utf8.DecodeLastRune(d.text[:piece.Start])
	after, _ := utf8.DecodeRune(d.text[piece.End:])
	return size == len(piece.Text) && Joins(r) && unicode.In(before, unicode.L, unicode.M) && unicode.In(after, unicode.L, unicode.M)
}

// Hidden reports whether a reader sees nothing of r, and not because it is white
// space: controls, the characters that turn the direction of a text, tag
// characters, all other zero-width characters, and the empty Braille pattern.
func Hidden(r rune) bool {
	switch {
	case r < 0x7F:
		return r < ' ' && !unicode.IsSpace(r)
	case r < 0x300:
		return unicode.IsControl(r) && !unicode.IsSpace(r) || r == softHyphen
	}
	return r == emptyBraille || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Concealed reports whether r is shown by its number, because a reader would not see it, or
// not for what it is: all that is [Hidden], controls, the ends of lines and paragraphs that no
// editor writes, characters whose form is a private matter of some font, those that are none,
// and signs that are drawn as nothing. Unlike the hidden ones these keep words apart.
func Concealed(r rune) bool {
	if r < 0x300 {
		return Hidden(r) || unicode.IsControl(r)
	}
	return Hidden(r) || r == nullNote || r == khitanFiller || unicode.In(r, unicode.Co, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

// NextHidden is the index of the first hidden character of text from i on, or -1.
func NextHidden(text []byte, i int) int { return next(text, i, Hidden) }

// next is the index of the first character of text from i on that is not plain ASCII and of
// which is holds, or -1.
func next(text []byte, i int, is func(rune) bool) int {
	for i < len(text) {
		c := text[i]
		if c >= ' ' && c < 0x7F {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if is(r) {
			return i
		}
		i += size
	}
	return -1
}

const (
	softHyphen   = 0x00AD
	nonJoiner    = 0x200C
	joiner       = 0x200D
	emptyBraille = 0x2800
	khitanFiller = 0x16FE4
	nullNote     = 0x1D159
)

// Joins reports whether r is one of the zero-width characters that scripts and
// emoji need between two others, to join them or to keep them apart.
func Joins(r rune) bool { return r == joiner || r == nonJoiner }

// varies reports whether r selects a variant of the character before it.
func varies(r rune) bool { return r >= 0x180B && unicode.Is(unicode.Variation_Selector, r) }

// varied reports whether a selector can select a variant of the character before it: of
// others it would only carry a message.
func varied(r, selector rune) bool {
	switch {
	case selector >= 0xE0100:
		return unicode.Is(unicode.Han, r)
	case selector < 0xFE00:
		return unicode.Is(unicode.Mongolian, r)
	case r <= unicode.MaxASCII:
		return r >= '0' && r <= '9' || r == '#' || r == '*'
	}
	return seen(r) && (!unicode.In(r, unicode.L, unicode.M) ||
		unicode.In(r, unicode.Common, unicode.Han, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean, unicode.Egyptian_Hieroglyphs))
}

// LineCounter says in which lines places of a text are. It is asked for places in
// ascending order, none of them within a line end.
type LineCounter struct {
	text []byte
	at   int
	line int // that at is in
}

// CountLines starts at the beginning of text.
func CountLines(text []byte) *LineCounter { return &LineCounter{text: text, line: 1} }

// Of is the number of the line that a place is in, 1-based. LF, CRLF and CR end
// a line.
func (c *LineCounter) Of(place int) int {
	between := c.text[c.at:place]
	c.line += bytes.Count(between, []byte("\n")) + bytes.Count(between, []byte("\r")) - bytes.Count(between, []byte("\r\n"))
	c.at = place
	return c.line
}
