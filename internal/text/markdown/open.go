package markdown

// open takes what is left of a line that is not blank, after the marks of the
// first matched containers: it opens the blocks that begin there, or adds the
// text to a paragraph.
func (b *blocks) open(c *cursor, matched int) (in Place, level int) {
	var to text
	row, item := false, false
	if b.leaf == paragraph {
		to = ownText
		if matched < len(b.containers) {
			to = lazyText
		}
		if b.leaves.inTable() { // whatever begins a block ends it
			to, row = newText, true
		}
	}
	for !c.indented() {
		if in, level, ok := b.openLeaf(c, matched, to); ok {
			if item {
				in = InText
			}
			return in, level
		}
		if matched == MaxDepth || !b.openContainer(c, matched, to) {
			break
		}
		item = item || !b.containers[matched].quote
		matched++
		to, row = newText, false
		if c.blank() {
			return InText, 0
		}
	}
	if to == newText && (!row || c.indented()) {
		if c.indented() {
			b.begin(indentedCode, matched)
			b.collect(CodeBlock)
			b.add(c, c.col+4)
			return InText, 0
		}
		b.begin(paragraph, matched)
		b.passages.beginParagraph()
		b.collect(ParagraphBlock)
		b.defs.start(c.line[c.next])
	}
	b.addText(c)
	return InText, 0
}

// text is what the rest of a line is, if it begins no block.
type text uint8

const (
	newText  text = iota // the beginning of a paragraph, or indented code
	ownText              // a line of the open paragraph
	lazyText             // likewise, though marks of its containers are missing
)

// openLeaf opens the leaf that the rest of the line begins, if it begins one, in
// the innermost of the first n containers.
func (b *blocks) openLeaf(c *cursor, n int, to text) (in Place, level int, ok bool) {
	rest := c.rest()
	switch rest[0] {
	case '#':
		if level := headingLevel(rest); level > 0 {
			b.begin(noLeaf, n)
			b.title = headingText(rest, level, c.cut)
			if b.leaves != nil {
				at := c.next
				if len(b.title) > 0 {
					// Both end where the line's array ends, so that the
					// difference is where the title begins.
					at += cap(rest) - cap(b.title)
				}
				b.leaves.heading(level, at, len(b.title), b)
			}
			if n > 0 {
				b.passages.add(b.title)
				return InText, 0, true
			}
			b.passages.flush()
			return InText, level, true
		}
	case '`', '~':
		if length := fenceOpen(rest, c.cut); length > 0 {
			b.begin(fencedCode, n)
			b.fence, b.fenceLen, b.fenceCol = rest[0], length, c.indent()
			b.collect(CodeBlock)
			if b.leaves != nil {
				b.leaves.fence(c.next+min(length, len(rest)), b.passages.number)
			}
			return InFence, 0, true
		}
	case '<':
		if kind := htmlKind(rest, c.cut); kind > 0 && (kind != htmlAnyTag || to == newText) {
			b.begin(htmlBlock, n)
			b.html = kind
			b.collect(HTMLBlock)
			return b.inHTML(c), 0, true
		}
	case '=', '-', '_', '*':
		if to == ownText && isSetextUnderline(rest) && !b.defs.only() {
			b.passages.dropHeading()
			if b.leaves != nil {
				b.leaves.underline(rest[0], b.passages.number)
			}
			b.endLeaf()
			return InText, 0, true
		}
		if c.isBreak() {
			b.begin(noLeaf, n)
			b.collect(RuleBlock)
			return InText, 0, true
		}
	}
	return InText, 0, false
}

// openContainer opens the container that the rest of the line begins, if it
// begins one, inside the first n, and moves past its mark.
func (b *blocks) openContainer(c *cursor, n int, to text) bool {
	rest := c.rest()
	switch rest[0] {
	case '>':
		b.push(container{quote: true}, n)
		c.skipQuote()
		return true
	case '-', '+', '*', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		length, value := listMark(rest)
		if length == 0 {
			return false
		}
		if to == ownText && (value != 1 || onlyBlanks(rest[length:]) && !c.cut) {
			return false
		}
		b.push(container{indent: int32(c.skipListMark(length)), empty: true}, n)
		b.passages.beginItem(n)
		if b.leaves != nil {
			b.leaves.item(rest[length-1], value, b)
		}
		return true
	}
	return false
}

// addText adds the rest of the line to the open paragraph.
func (b *blocks) addText(c *cursor) {
	text := c.rest()
	b.add(c, c.to)
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

// inFence takes a line of the open fenced code.
func (b *blocks) inFence(c *cursor) Place {
	if !c.indented() && isFenceClose(c.rest(), b.fence, b.fenceLen, c.cut) {
		b.leaf = noLeaf
		if b.leaves != nil {
			b.leaves.lastBlock().last = b.passages.number
		}
		return InFence
	}
	b.add(c, min(c.col+b.fenceCol, c.to))
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
	b.collectLine(c, c.col)
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
