package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Wrapped breaks the lines of a text at blanks, so that they are not wider than
// width; what is broken off a line stands two columns further in than the line.
// Words stay whole, however long, so that ids, times and paths can be read and
// copied. A width of 0 breaks nothing.
func Wrapped(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		margin := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
		for i, part := range wrap(line, width, max(width-len(margin), min(width, 1))) {
			if i > 0 {
				out.WriteString("\n" + margin)
			}
			out.WriteString(part)
		}
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Filled fills paragraphs up to width, breaking lines at blanks. Lines that are
// indented are kept apart; what is broken off them is indented further.
func Filled(text string, width int) string {
	var out strings.Builder
	column := 0
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		margin := ""
		if len(words) > 0 {
			margin = line[:strings.Index(line, words[0])]
		}
		if i > 0 && (len(words) == 0 || margin != "" || column == 0) {
			out.WriteByte('\n')
			column = 0
		}
		if margin != "" && Columns(line) <= width {
			out.WriteString(line)
			continue
		}
		for _, w := range words {
			switch {
			case column == 0:
				out.WriteString(margin)
				column = len(margin)
			case column+1+Columns(w) > width:
				further := ""
				if margin != "" {
					further = margin + "  "
				}
				out.WriteString("\n" + further)
				column = len(further)
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(w)
			column += Columns(w)
		}
		if margin != "" {
			column = 0
		}
	}
	return out.String()
}

// Hanging is a line of text in lines that are not wider than width, the first of which
// begins with first and the others with rest. A width of 0 breaks nothing.
func Hanging(first, rest, text string, width int) []string {
	room := func(indent string) int {
		if width == 0 {
			return 0
		}
		return max(width-Columns(indent), minWidth/2)
	}
	parts := wrap(text, room(first), room(rest))
	for i, part := range parts {
		parts[i] = first + part
		first = rest
	}
	return parts
}

// wrap breaks one line at blanks, and between wide characters, which are written
// without blanks, so that the first part is not wider than first and no other
// part wider than rest. A word that is wider stays whole, on a part of its own;
// the first part is empty when the first word fits better below. A first of 0
// breaks nothing.
func wrap(line string, first, rest int) []string {
	if first <= 0 {
		return []string{line}
	}
	var parts []string
	start, end, used, room := 0, 0, 0, first
	for end < len(line) {
		word := end
		for word < len(line) && line[word] == ' ' {
			word++
		}
		stop := wordEnd(line, word)
		width := word - end + Columns(line[word:stop])
		if used+width > room && (used > 0 || rest > first && len(parts) == 0) {
			parts = append(parts, line[start:end])
			start, used, room = word, width-(word-end), rest
		} else {
			used += width
		}
		end = stop
	}
	return append(parts, strings.TrimRight(line[start:], " "))
}

// wordEnd is where the word that begins at i ends: at a blank, or before or
// after a wide character.
func wordEnd(line string, i int) int {
	for at := i; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		switch {
		case r == ' ':
			return at
		case RuneColumns(r) == 2 && at > i:
			return at
		case RuneColumns(r) == 2:
			at += size
			for at < len(line) { // its accents stay with it
				next, size := utf8.DecodeRuneInString(line[at:])
				if RuneColumns(next) > 0 {
					break
				}
				at += size
			}
			return at
		}
		at += size
	}
	return len(line)
}

// longestWord is the width of the widest word of a text.
func longestWord(text string) int {
	longest := 0
	for i := 0; i < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		end := wordEnd(text, i)
		longest = max(longest, Columns(text[i:end]))
		i = end
	}
	return longest
}

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

// level is the largest size to which all sizes can be limited so that together
// they fit into room: small things keep their size, large ones share the rest.
// It is the largest size itself when everything fits.
func level(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		if share := room / (len(sorted) - i); size > share {
			return max(share, 0)
		}
		room -= size
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}
