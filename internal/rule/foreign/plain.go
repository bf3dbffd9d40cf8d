package foreign

import (
	"strings"
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
var begins = pattern(`^(?:[-*•·▪–] |#{1,6} |[\[【［〔]\^?\d{1,4}\^?[\]】］〕]|\d{1,4}[.)、．]\s?[^\d\s])`)

// isURL reports whether a line is nothing but a URL: the entry above it has it.
func isURL(line string) bool {
	line = strings.Trim(line, "<>() ")
	return (strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")) && !strings.ContainsAny(line, " \t")
}

// plainLink is a link as Markdown writes it, which texts and PDF files often keep.
var plainLink = pattern(`\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(<?(https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\)`)

// plainBlock reads the lines of one block, the first of which says what it is.
func plainBlock(lines []string, first int) block {
	b := &builder{}
	if marks := len(lines[0]) - len(strings.TrimLeft(lines[0], "#")); marks > 0 && marks < 7 && strings.HasPrefix(lines[0][marks:], " ") {
		b.now.kind, b.now.level, lines[0] = heading, marks, strings.TrimSpace(lines[0][marks:])
	} else if mark, rest, found := strings.Cut(lines[0], " "); found && mark != "" && strings.Contains(" - * • · ▪ – ", " "+mark+" ") {
		b.now.kind, lines[0] = item, rest
	}
	for i, line := range lines {
		if i > 0 {
			b.add("\n", first+i-1)
		}
		at := 0
		for _, found := range plainLink().FindAllStringSubmatchIndex(line, -1) {
			b.add(line[at:found[0]], first+i)
			b.begin(&element{name: "a", url: line[found[4]:found[5]]})
			b.add(line[found[2]:found[3]], first+i)
			b.closeLink()
			at = found[1]
		}
		b.add(line[at:], first+i)
	}
	return b.done()
}
