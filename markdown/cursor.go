package markdown

// cursor is a place in a line, in columns, so that a tab can be used up in
// parts: what counts is how far it is to the next byte that is no space or tab.
type cursor struct {
	line []byte
	cut  bool // the line goes on beyond what is seen
	col  int  // the column that has been reached
	next int  // index of the next byte that is no space or tab
	to   int  // its column
}

// skip goes to index i, at column col, and looks ahead from there.
func (c *cursor) skip(i, col int) {
	c.col = col
	for i < len(c.line) {
		switch c.line[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col&3
		default:
			c.next, c.to = i, col
			return
		}
		i++
	}
	c.next, c.to = i, col
}

// skipMark goes past the n bytes of a container's mark.
func (c *cursor) skipMark(n int) { c.skip(c.next+n, c.to+n) }

func (c *cursor) indent() int { return c.to - c.col }

// blank tells whether only spaces and tabs are left. Of a line that is not seen
// whole that is not known, and it counts as indented text.
func (c *cursor) blank() bool { return c.next == len(c.line) && !c.cut }

// indented tells whether the rest can start nothing but indented code.
func (c *cursor) indented() bool { return c.to-c.col >= 4 }

func (c *cursor) rest() []byte { return c.line[c.next:] }
