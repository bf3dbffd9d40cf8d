package wave

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
)

// maxHeading is the length in bytes up to which a line of an output is seen
// whole; a longer one has no title that could match.
const maxHeading = 1 << 20

// HeadingLine is a line by which an output has the section that title asks for,
// or "" when no heading of one line can have that text.
func HeadingLine(title string) string {
	title = strings.TrimSpace(title)
	line := "## " + title
	if endsInMarks(title) {
		line += " ##"
	}
	if title == "" || strings.ContainsAny(title, "\r\n") || len(line) > maxHeading {
		return ""
	}
	return line
}

// endsInMarks reports whether the end of title would be taken for the closing
// marks of its heading, unless closing marks follow it.
func endsInMarks(title string) bool {
	text := strings.TrimRight(title, "#")
	return text != title && (text == "" || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t"))
}

// Obstacles says why no output can meet the contract; it is empty when one can.
func (c Contract) Obstacles() []string {
	var list []string
	words := 0
	for _, title := range c.Sections {
		line := HeadingLine(title)
		words += len(strings.Fields(line))
		if line == "" {
			list = append(list, fmt.Sprintf("no heading can have the required text %q: a heading is one line of at most %d bytes", tidegate.Cut(title), maxHeading))
		}
	}
	if c.MaxWords < float64(words) {
		list = append(list, fmt.Sprintf("max_words %s cannot hold the required headings, which have %d words", plain(c.MaxWords), words))
	}
	return list
}
