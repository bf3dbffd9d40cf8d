package markdown

import (
	"unicode"
	"unicode/utf8"
)

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

// NextHidden is the index of the first hidden character of text from i on, or -1.
func NextHidden(text []byte, i int) int {
	for i < len(text) {
		c := text[i]
		if c >= ' ' && c < 0x7F {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if Hidden(r) {
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
