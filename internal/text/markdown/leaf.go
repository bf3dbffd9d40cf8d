package markdown

import (
	"bytes"
	"math"
)

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// onlyBlanks reports whether b has nothing but spaces and tabs.
func onlyBlanks(b []byte) bool {
	for _, c := range b {
		if !isBlank(c) {
			return false
		}
	}
	return true
}

// run is the number of bytes c that b begins with.
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// headingLevel is the level of the ATX heading that b is, or 0.
func headingLevel(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '#' {
		n++
		if n > 6 {
			return 0
		}
	}
	if n < len(b) && !isBlank(b[n]) {
		return 0
	}
	return n
}

// headingText is the text of the ATX heading b of that level.
func headingText(b []byte, level int, cut bool) []byte {
	b = bytes.TrimLeft(b[level:], " \t")
	if !cut {
		b = bytes.TrimRight(b, " \t")
		open := bytes.TrimRight(b, "#")
		if len(open) == 0 || isBlank(open[len(open)-1]) {
			b = open
		}
		return bytes.TrimSpace(b)
	}
	return b
}

// fenceOpen is the length of the code fence that b opens with, or 0. A fence
// that reaches the end of what is seen of its line cannot be matched by any other.
func fenceOpen(b []byte, cut bool) int {
	n := run(b, b[0])
	switch {
	case n < 3, b[0] == '`' && bytes.IndexByte(b[n:], '`') >= 0:
		return 0
	case cut && n == len(b):
		return math.MaxInt
	}
	return n
}

// isFenceClose reports whether b closes a fence of n bytes c.
func isFenceClose(b []byte, c byte, n int, cut bool) bool {
	if cut {
		return false
	}
	m := run(b, c)
	return m >= n && onlyBlanks(b[m:])
}

// isSetextUnderline reports whether b can underline a paragraph.
func isSetextUnderline(b []byte) bool {
	return (b[0] == '=' || b[0] == '-') && onlyBlanks(b[run(b, b[0]):])
}

// ThematicBreak reports whether a line, apart from white space before it, has the
// form of a thematic break: three or more of one of -, _ and *, with nothing but
// spaces and tabs between and after them.
func ThematicBreak(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && (line[0] == '-' || line[0] == '_' || line[0] == '*') &&
		notInBreak(line) < 0
}

// notInBreak is the index of the first byte that keeps b, which begins with a
// break's mark, from being a thematic break; its length when marks are missing;
// -1 when it is one.
func notInBreak(b []byte) int {
	marks := 0
	for i, c := range b {
		switch {
		case c == b[0]:
			marks++
		case !isBlank(c):
			return i
		}
	}
	if marks < 3 {
		return len(b)
	}
	return -1
}

// listMark is the length of the bullet or number that b begins with, or 0. Its
// value is 1 for a bullet.
func listMark(b []byte) (n int, value int) {
	switch c := b[0]; {
	case c == '-' || c == '+' || c == '*':
		n, value = 1, 1
	default:
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			if n == 9 {
				return 0, 0
			}
			value = value*10 + int(b[n]-'0')
			n++
		}
		if n == 0 || n == len(b) || b[n] != '.' && b[n] != ')' {
			return 0, 0
		}
		n++
	}
	if n < len(b) && !isBlank(b[n]) {
		return 0, 0
	}
	return n, value
}
