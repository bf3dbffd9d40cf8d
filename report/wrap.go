package report

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks one line at blanks so that the first part is not wider than
// first and no other part wider than rest, and inside a word only where the
// word alone is wider. A width of 0 breaks nothing.
func wrap(line string, first, rest int) []string {
	var parts []string
	for width := first; ; width = rest {
		at, fits := prefix(line, width)
		if width <= 0 || fits {
			return append(parts, line)
		}
		end, next := at, at
		if blank := strings.LastIndexByte(line[:at], ' '); line[at] != ' ' && blank > 0 {
			end, next = blank, blank+1
		}
		if part := strings.TrimRight(line[:end], " "); part != "" {
			parts = append(parts, part)
		}
		line = strings.TrimLeft(line[next:], " ")
	}
}

// prefix is the length in bytes of the first n code points of s, and whether
// that is all of it.
func prefix(s string, n int) (length int, all bool) {
	for range n {
		if length == len(s) {
			return length, true
		}
		_, size := utf8.DecodeRuneInString(s[length:])
		length += size
	}
	return length, length == len(s)
}

// runes is the width of s: one column for each code point.
func runes(s string) int { return utf8.RuneCountInString(s) }
