package markdown

// open takes what is left of a line that is not blank, after the marks of the
// first matched containers: it opens the blocks that begin there, or adds the
// text to a paragraph.
func (b *blocks) open(c *cursor, matched int) (in Place, level int) {
	inParagraph := b.leaf == paragraph && matched == len(b.containers)
	lazy := b.leaf == paragraph && !inParagraph
	item := false
	var noBreak [3]int // index before which no thematic break begins, by mark
	for {
		if c.indented() {
			if inParagraph || lazy {
				break
			}
			b.begin(indentedCode, matched)
			b.passages.add(c.rest())
			return InText, 0
		}
		rest := c.rest()
		switch rest[0] {
		case '>':
			if matched < MaxDepth {
				b.push(container{quote: true}, matched)
				c.skipQuote()
				matched++
				inParagraph, lazy = false, false
				if c.blank() {
					return InText, 0
				}
				continue
			}
		case '#':
			if level := headingLevel(rest); level > 0 {
				b.begin(noLeaf, matched)
				b.title = headingText(rest, level, c.cut)
				if matched > 0 {
					b.passages.add(b.title)
					return InText, 0
				}
				b.passages.flush()
				return InText, level
			}
		case '`', '~':
			if n := fenceOpen(rest, c.cut); n > 0 {
				b.begin(fencedCode, matched)
				b.fence, b.fenceLen = rest[0], n
				return place(InFence, item), 0
			}
		case '<':
			kind := htmlKind(rest, c.cut)
			if kind > 0 && (kind < htmlAnyTag || !inParagraph && !lazy) {
				b.begin(htmlBlock, matched)
				b.html = kind
				return place(b.inHTML(c), item), 0
			}
		case '=':
			if inParagraph && isSetextUnderline(rest) && !b.defs.only() {
				b.endSetext()
				return InText, 0
			}
		case '-', '_', '*', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if inParagraph && rest[0] == '-' && isSetextUnderline(rest) && !b.defs.only() {
				b.endSetext()
				return InText, 0
			}
			if c.isBreak(&noBreak) {
				b.begin(noLeaf, matched)
				return InText, 0
			}
			n, value := listMark(rest)
			if n == 0 || matched == MaxDepth {
				break
			}
			if inParagraph && (value != 1 || onlyBlanks(rest[n:]) && !c.cut) {
				break
			}
			b.push(container{indent: int32(c.skipListMark(n)), empty: true}, matched)
			b.passages.beginItem(matched)
			matched++
			inParagraph, lazy, item = false, false, true
			if c.blank() {
				return InText, 0
			}
			continue
		}
		break
	}
	if !inParagraph && !lazy {
		b.begin(paragraph, matched)
		b.passages.beginParagraph()
		b.defs.start(c.line[c.next])
	}
	b.addText(c)
	return InText, 0
}

// place is where a line lies that opens a block, which may be the first of an
// item that begins in the same line.
func place(in Place, item bool) Place {
	if item {
		return InText
	}
	return in
}

// isBreak tells whether the rest of the line is a thematic break. What one look
// has found out serves the next, as in "- - - x" every mark asks.
func (c *cursor) isBreak(noBreak *[3]int) bool {
	rest := c.rest()
	var i int
	switch rest[0] {
	case '-':
	case '_':
		i = 1
	case '*':
		i = 2
	default:
		return false
	}
	if c.next < noBreak[i] {
		return false
	}
	if n := notInBreak(rest); n >= 0 {
		noBreak[i] = c.next + n
		return false
	}
	if n, _ := listMark(rest); c.cut && n > 0 {
		noBreak[i] = len(c.line)
		return false
	}
	return true
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

// addText adds the rest of the line to the open paragraph.
func (b *blocks) addText(c *cursor) {
	text := c.rest()
	b.passages.add(text)
	if b.defs.state == defText {
		return
	}
	b.defs.write(text)
	if !c.cut {
		b.endText()
	}
}

// endText ends a line of the open paragraph.
func (b *blocks) endText() {
	b.defs.endLine()
	if b.defs.only() {
		b.passages.dropParagraph()
	}
}

// endSetext ends a paragraph that turned out to be a setext heading.
func (b *blocks) endSetext() {
	b.passages.dropHeading()
	b.endLeaf()
}

func (b *blocks) inFence(c *cursor) Place {
	if !c.indented() && isFenceClose(c.rest(), b.fence, b.fenceLen, c.cut) {
		b.leaf = noLeaf
		return InFence
	}
	b.passages.add(c.rest())
	return InFence
}

// inHTML takes a line of the open HTML block.
func (b *blocks) inHTML(c *cursor) Place {
	in, rest := InHTML, c.rest()
	if b.html == htmlComment {
		in = InComment
	} else {
		b.passages.add(rest)
	}
	if endsHTML(rest, b.html) {
		b.leaf = noLeaf
	} else if c.cut {
		b.setTail(rest)
	}
	return in
}

// more takes a further piece of a line that was cut.
func (b *blocks) more(piece []byte, last bool) {
	switch {
	case b.leaf == htmlBlock && b.html <= htmlLastEnded:
		b.moreHTML(piece)
	case b.leaf == paragraph && b.defs.state != defText:
		b.defs.write(piece)
		if last {
			b.endText()
		}
	}
}
