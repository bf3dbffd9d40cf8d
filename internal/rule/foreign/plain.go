package foreign

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The length of the lines of a text that was broken into lines for a width, in
// characters: a line between them goes on in the next one.
const (
	wrappedFrom = 45
	wrappedTo   = 110
)

// readPlain reads the blocks of a text without markup, such as that of a PDF file:
// paragraphs apart from each other, or a line for each. Lines that were broken for a
// width are joined. A short line without a full stop before a longer one is a heading
// where a list of sources begins with it.
func readPlain(text string) []block {
	var out []block
	var open []string
	first := 0
	flush := func() {
		if len(open) > 0 {
			out = append(out, plainBlock(open, first))
			open = nil
		}
	}
	lines := strings.Split(strings.ReplaceAll(text, "\f", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			flush()
			continue
		case len(open) > 0 && (begins().MatchString(line) || !wraps(open[len(open)-1])) && !isURL(line):
			flush()
		}
		if len(open) == 0 {
			first = i + 1
		}
		open = append(open, line)
	}
	flush()
	return out
}

// wraps reports whether a line may go on in the next one.
func wraps(line string) bool {
	n := utf8.RuneCountInString(line)
	return n >= wrappedFrom && n <= wrappedTo
}

// begins holds for a line that begins an item or an entry, whatever stands before it.
var begins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-*•·▪–] |#{1,6} |[\[【［〔]\^?\d{1,4}\^?[\]】］〕]|\d{1,4}[.)、．] ?[^\d\s])`)
})

// isURL reports whether a line is nothing but a URL: the entry above it has it.
func isURL(line string) bool {
	line = strings.Trim(line, "<>() ")
	return (strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")) && !strings.ContainsAny(line, " \t")
}

// plainLink is a link as Markdown writes it, which texts and PDF files often keep.
var plainLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(<?(https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\)`)
})

func plainBlock(lines []string, first int) block {
	m := &maker{}
	for i, line := range lines {
		if i > 0 {
			m.add("\n", first+i-1)
		} else if marks := len(line) - len(strings.TrimLeft(line, "#")); marks > 0 && marks < 7 && strings.HasPrefix(line[marks:], " ") {
			m.kind, m.level, line = heading, marks, strings.TrimSpace(line[marks:])
		} else if bullet := strings.IndexRune("-*•·▪–", []rune(line)[0]); bullet >= 0 && strings.Contains(line, " ") {
			_, rest, _ := strings.Cut(line, " ")
			m.kind, line = item, rest
		}
		at := 0
		for _, found := range plainLink().FindAllStringSubmatchIndex(line, -1) {
			m.add(line[at:found[0]], first+i)
			m.openLink(line[found[4]:found[5]])
			m.add(line[found[2]:found[3]], first+i)
			m.closeLink()
			at = found[1]
		}
		m.add(line[at:], first+i)
	}
	b, _ := m.done()
	return b
}
