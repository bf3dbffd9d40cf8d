package screen

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// runeColumns is how many columns of a terminal a character takes.
func runeColumns(r rune) int {
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

// columnsOf is how many columns a text without colours takes.
func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// fit cuts a text to some columns, and says so with an ellipsis.
func fit(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeColumns(r); n > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// pad fills a text up with blanks at its end.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-columnsOf(text)))
}

// left fills a text up with blanks before it.
func left(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-columnsOf(text))) + text
}
