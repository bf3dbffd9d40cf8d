package markdown

import (
	"bytes"
	"strings"
)

// isPunctuation reports whether c is ASCII punctuation, which a backslash escapes.
func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// skipSpace is the index after the spaces, tabs and at most one line feed at i.
func skipSpace(b []byte, i int) int {
	for line := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n' && line == 0:
			line++
		case !isBlank(c):
			return i
		}
	}
	return i
}

// labelEnd is the index after the link label that begins with the [ at i, or -1.
func labelEnd(b []byte, i int) int {
	chars, filled := 0, false
	for j := i + 1; j < len(b); j++ {
		c := b[j]
		switch {
		case c == ']':
			if !filled {
				return -1
			}
			return j + 1
		case c == '[':
			return -1
		case c == '\\' && j+1 < len(b) && isPunctuation(b[j+1]):
			j++
			chars++
			filled = true
		}
		if c&0xC0 != 0x80 { // the first byte of a character
			chars++
		}
		if chars > maxLabel {
			return -1
		}
		filled = filled || !isBlank(c) && c != '\n'
	}
	return -1
}

// labelKey is the same for labels that name the same definition. The label
// comes without its brackets.
func labelKey(label []byte) string {
	words := bytes.FieldsFunc(label, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
	return foldSharpS.Replace(strings.ToLower(strings.ToUpper(string(bytes.Join(words, []byte(" "))))))
}

// foldSharpS folds the one letter that letter-by-letter mapping leaves.
var foldSharpS = strings.NewReplacer("ß", "ss", "ẞ", "ss")

// maxParens is how many parentheses can be open in a destination, as in other
// programs: without a limit, each of many openings that are never closed would be
// followed to the end.
const maxParens = 32

// destinationEnd is the index after the link destination that begins at i, or
// -1. Its text stands between start and end.
func destinationEnd(b []byte, i int) (start, end, after int) {
	if i < len(b) && b[i] == '<' {
		for j := i + 1; j < len(b); j++ {
			switch b[j] {
			case '>':
				return i + 1, j, j + 1
			case '<', '\n':
				return 0, 0, -1
			case '\\':
				if j+1 < len(b) && isPunctuation(b[j+1]) {
					j++
				}
			}
		}
		return 0, 0, -1
	}
	j, parens := i, 0
	for ; j < len(b); j++ {
		switch c := b[j]; {
		case c == '\\' && j+1 < len(b) && isPunctuation(b[j+1]):
			j++
			continue
		case c == '(':
			if parens++; parens > maxParens {
				return 0, 0, -1
			}
			continue
		case c == ')':
			if parens == 0 {
				return i, j, j
			}
			parens--
			continue
		case c > ' ' && c != 0x7F || c == 0: // NUL stands for U+FFFD, which is not a control character
			continue
		}
		break
	}
	if parens > 0 {
		return 0, 0, -1
	}
	return i, j, j
}

// titleEnd is the index after the link title that begins at i, or -1.
func titleEnd(b []byte, i int) int {
	if i == len(b) {
		return -1
	}
	closer := b[i]
	switch closer {
	case '"', '\'':
	case '(':
		closer = ')'
	default:
		return -1
	}
	for j := i + 1; j < len(b); j++ {
		switch c := b[j]; {
		case c == closer:
			return j + 1
		case c == '(' && closer == ')':
			return -1
		case c == '\\' && j+1 < len(b) && isPunctuation(b[j+1]):
			j++
		}
	}
	return -1
}

// definition is a link reference definition. Its destination stands between
// start and end.
type definition struct {
	label      string
	start, end int
}

// parseDefinition reads the definition that text begins with, and says how many
// bytes it takes, the line feed at its end included; 0 when there is none.
func parseDefinition(text []byte) (definition, int) {
	if len(text) == 0 || text[0] != '[' {
		return definition{}, 0
	}
	i := labelEnd(text, 0)
	if i < 0 || i == len(text) || text[i] != ':' {
		return definition{}, 0
	}
	d := definition{label: labelKey(text[1 : i-1])}
	i = skipSpace(text, i+1)
	var after int
	d.start, d.end, after = destinationEnd(text, i)
	if after < 0 || after == i {
		return definition{}, 0
	}
	whole := restOfLine(text, after) // without a title
	title := skipSpace(text, after)
	if title > after {
		if end := titleEnd(text, title); end > 0 {
			if n := restOfLine(text, end); n > 0 {
				return d, n
			}
		}
	}
	return d, max(whole, 0)
}

// restOfLine is the index after the line feed that follows i, or the length of the
// text, when nothing but blanks stands before it; otherwise -1.
func restOfLine(text []byte, i int) int {
	for ; i < len(text); i++ {
		if text[i] == '\n' {
			return i + 1
		}
		if !isBlank(text[i]) {
			return -1
		}
	}
	return i
}
