package page

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The longest and shortest lines by which a text is wrapped. Where most are longer, each is a
// paragraph, and where they are shorter, they are a list or a poem.
const (
	minWrapped = 50
	maxWrapped = 130
	proseWords = 6 // has a line that its sentence leaves before it is full; commands have fewer
)

// unwrapped is a plain text with a line for each paragraph: a line that its author, or a
// program, broke because it was full is joined to the next. It is joined as well where its
// sentence clearly goes on. Headings with a rule, items of lists, rows of tables and lines that
// ended before they were full stay as they are.
func unwrapped(text string) string {
	lines := strings.Split(text, "\n")
	width := wrappedAt(lines)
	if width < minWrapped || width > maxWrapped {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i, line := range lines {
		switch {
		case i == 0:
		case wraps(lines[i-1], line, width) && (i+1 == len(lines) || !isRule(strings.TrimRight(lines[i+1], " \t"))):
			line = " " + strings.TrimLeft(line, " ")
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrappedAt is the length that nine in ten of the lines keep to that others follow.
func wrappedAt(lines []string) int {
	var lengths []int
	for i, line := range lines[:max(0, len(lines)-1)] {
		if strings.TrimSpace(line) != "" && strings.TrimSpace(lines[i+1]) != "" {
			lengths = append(lengths, utf8.RuneCountInString(line))
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)*9/10]
}

// listItem begins an item of a list, a directive or comment of reStructuredText, a quotation
// of a mail or a row of a drawn table.
var listItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([-*+•–—‣·|>]|\.\. |:[\w -]+:|\(?(\d{1,3}|[a-zA-Z]|#)[.)])(\s|$)|^\s*[|+:>]`)
})

// wraps reports whether a paragraph goes on from a line to the next.
func wraps(line, next string, width int) bool {
	line = strings.TrimRight(line, " ")
	begin := strings.TrimSpace(next)
	if strings.TrimSpace(line) == "" || begin == "" || strings.Contains(line, "\t") || strings.Contains(next, "\t") ||
		isRule(line) || isRule(begin) || listItem().MatchString(next) || strings.Contains(strings.TrimSpace(line), "   ") {
		return false
	}
	word, _, _ := strings.Cut(begin, " ")
	n := utf8.RuneCountInString(line)
	first, _ := utf8.DecodeRuneInString(begin)
	last, _ := utf8.DecodeLastRuneInString(line)
	goesOn := unicode.IsLower(first) && (unicode.IsLetter(last) || last == ',') && len(strings.Fields(line)) >= proseWords
	return n+1+utf8.RuneCountInString(word) >= width || goesOn && 2*n >= width
}
