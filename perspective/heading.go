package perspective

import "strings"

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

// endsInMarks tells whether the end of title would be taken for the closing
// marks of its heading, unless closing marks follow it.
func endsInMarks(title string) bool {
	text := strings.TrimRight(title, "#")
	return text != title && (text == "" || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t"))
}
