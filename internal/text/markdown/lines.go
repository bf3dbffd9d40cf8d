package markdown

import "bytes"

// LineCounter says in which lines places of a text are. It is asked for places in
// ascending order, none of them within a line end.
type LineCounter struct {
	text []byte
	at   int
	line int // that at is in
}

// CountLines starts at the beginning of text.
func CountLines(text []byte) *LineCounter { return &LineCounter{text: text, line: 1} }

// Of is the number of the line that a place is in, 1-based. LF, CRLF and CR end
// a line.
func (c *LineCounter) Of(place int) int {
	between := c.text[c.at:place]
	c.line += bytes.Count(between, []byte("\n")) + bytes.Count(between, []byte("\r")) - bytes.Count(between, []byte("\r\n"))
	c.at = place
	return c.line
}
