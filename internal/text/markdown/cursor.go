package markdown

// cursor is a place in a line, in columns, so that a tab can be used up in
// parts: what counts is how far it is to the next byte that is not a space or tab.
type cursor struct {
	line []byte
	cut  bool // the line goes on beyond what is seen
	col  int  // the column that has been reached
	next int  // index of the next byte that is not a space or tab
	to   int  // its column

	from, fromCol int // where the white space before next begins, and its column

	noBreak [3]int // by mark: index before which no thematic break begins
}

// skip goes to index i, at column col, and looks ahead from there.
func (c *cursor) skip(i, col int) {
	c.col, c.from, c.fromCol = col, i, col
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

// blank reports whether only spaces and tabs are left. For a line that is not seen
// whole this is not known, and it counts as indented text.
func (c *cursor) blank() bool { return c.next == len(c.line) && !c.cut }

// indented reports whether the rest can start nothing but indented code.
func (c *cursor) indented() bool { return c.to-c.col >= 4 }

func (c *cursor) rest() []byte { return c.line[c.next:] }

// content is where the line goes on at a column that lies in the white space before
// next, or at next. Where that is inside a tab, pad is how much of the tab is left.
func (c *cursor) content(col int) (i, pad int) {
	at := c.fromCol
	for i = c.from; i < c.next && at < col; i++ {
		if c.line[i] == '\t' {
			at += 4 - at&3
		} else {
			at++
		}
	}
	return i, max(at-col, 0)
}

// skipQuote goes past a block quote's mark and the blank that may follow it.
func (c *cursor) skipQuote() {
	c.skipMark(1)
	if c.indent() > 0 {
		c.col++
	}
}

// skipListMark goes past a list mark of n bytes and the blanks that belong to
// it, and returns by how much the item's content is indented.
func (c *cursor) skipListMark(n int) int {
	before := c.indent()
	c.skipMark(n)
	blanks := c.indent()
	if blanks == 0 || blanks > 4 || c.blank() {
		if blanks > 0 {
			c.col++
		}
		return before + n + 1
	}
	c.col = c.to
	return before + n + blanks
}

// isBreak reports whether the rest of the line is a thematic break. The answer is
// kept for the next call, because in "- - - x" every mark asks. Where the line is
// cut, what may be a list item does not count as a break.
func (c *cursor) isBreak() bool {
	rest := c.rest()
	var mark int
	switch rest[0] {
	case '-':
		mark = 0
	case '_':
		mark = 1
	case '*':
		mark = 2
	default:
		return false
	}
	if c.next < c.noBreak[mark] {
		return false
	}
	if n := notInBreak(rest); n >= 0 {
		c.noBreak[mark] = c.next + n
		return false
	}
	if n, _ := listMark(rest); c.cut && n > 0 {
		c.noBreak[mark] = len(c.line)
		return false
	}
	return true
}
