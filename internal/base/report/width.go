package report

import (
	"unicode"

	"golang.org/x/text/width"
)

// Columns is how many columns of a terminal a text without colours takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += RuneColumns(r)
	}
	return n
}

// RuneColumns is how many columns of a terminal a character takes.
func RuneColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
