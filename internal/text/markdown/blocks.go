package markdown

// blocks is the block structure at the current line: the open containers from
// the outside in, and the leaf that is open in the innermost of them.
type blocks struct {
	containers []container
	quotes     []int // the indexes of the block quotes among containers
	leaf       leaf
	fence      byte // the mark of the open fenced code
	fenceLen   int
	fenceCol   int // columns by which it is indented
	html       int // the kind of the open HTML block
	defs       definitions
	title      []byte // text of the heading found last
	passages   passages
	leaves     *collector // nil when nobody asks for blocks
	tail       []byte     // of a long line in an HTML block: the end of what was seen
}

// container is a block quote, or a list item.
type container struct {
	quote  bool
	empty  bool  // a list item in which no block has begun
	indent int32 // columns by which a list item's content is indented
	inner  int32 // likewise, with the items around it up to a block quote
	block  int32 // index of its block in the collector
}

type leaf uint8

const (
	noLeaf leaf = iota
	paragraph
	indentedCode
	fencedCode
	htmlBlock
)

func (b *blocks) reset(report func(Passage)) {
	*b = blocks{containers: b.containers[:0], quotes: b.quotes[:0], tail: b.tail[:0], leaves: b.leaves,
		passages: passages{on: report != nil, report: report, text: b.passages.text[:0]}}
}

// plain marks the bytes that start nothing but text at the start of a line.
var plain = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = true
	}
	for _, c := range []byte("#`~*+_=<>-0123456789[ \t") {
		plain[c] = false
	}
	return
}()

// line takes the next line and says where it lies. Where the line is a top-level
// heading, level is that of the heading, with its text in title; otherwise it is
// 0.
func (b *blocks) line(line []byte, cut bool, number int) (in Place, level int) {
	if !b.passages.on && b.simple(line) {
		return InText, 0
	}
	c := cursor{line: line, cut: cut}
	c.skip(0, 0)
	b.passages.number = number
	matched := b.match(&c)
	if matched == len(b.containers) {
		switch b.leaf {
		case fencedCode:
			return b.inFence(&c), 0
		case htmlBlock:
			if b.html <= htmlLastEnded || !c.blank() {
				return b.inHTML(&c), 0
			}
			b.leaf = noLeaf
		case indentedCode:
			if c.indented() || c.blank() {
				b.add(&c, c.col+4)
				return InText, 0
			}
			b.leaf = noLeaf
		case paragraph:
			if c.blank() {
				b.endParagraph()
			}
		}
	}
	if c.blank() {
		b.close(matched)
		return InText, 0
	}
	return b.open(&c, matched)
}

// simple takes a line that can be judged by its first bytes, as most can when
// nobody asks for text: blank lines and plain text where no container is open,
// blank lines in lists, and plain items of an outermost list.
func (b *blocks) simple(line []byte) bool {
	n := len(b.containers)
	switch {
	case n == 0 && b.leaf > paragraph:
		return false
	case len(line) == 0:
		if n > 0 && (len(b.quotes) > 0 || b.containers[n-1].empty || b.leaf > paragraph) {
			return false
		}
		b.leaf = noLeaf
		return true
	case plain[line[0]]:
		if n > 0 || b.leaf == paragraph && b.defs.state != defText {
			return false
		}
		b.leaf = paragraph
		b.defs.stop()
		return true
	case isPlainItem(line):
		// No container is continued by a line that begins with this mark.
		b.close(0)
		b.containers = append(b.containers, container{indent: 2})
		b.leaf = paragraph
		b.defs.stop()
		return true
	}
	return false
}

// isPlainItem reports whether a line is a bullet, a space and text that can begin
// nothing else, be it in bold.
func isPlainItem(line []byte) bool {
	if len(line) < 5 || line[0] != '-' && line[0] != '*' && line[0] != '+' || line[1] != ' ' {
		return false
	}
	return plain[line[2]] || line[2] == '*' && line[3] == '*' && plain[line[4]]
}

// match moves past the marks of the containers that go on in this line, and
// returns their number.
func (b *blocks) match(c *cursor) int {
	quotes := 0
	for i := range b.containers {
		if c.blank() {
			matched := b.matchBlank(quotes)
			if matched > 0 {
				c.col += int(b.containers[matched-1].inner)
			}
			return matched
		}
		switch box := &b.containers[i]; {
		case box.quote:
			if c.indented() || c.line[c.next] != '>' {
				return i
			}
			c.skipQuote()
			quotes++
			if b.leaves != nil {
				b.leaves.blocks[box.block].last = b.passages.number
			}
		case c.indent() < int(box.indent):
			return i
		default:
			c.col += int(box.indent)
		}
	}
	return len(b.containers)
}

// matchBlank is the number of containers that go on in a line of which nothing is
// left after the marks of that many block quotes. Blank lines belong to list
// items, up to the next block quote, but end an item that has nothing in it yet.
// There is no loop: otherwise blank lines in deep lists would cost a thousand
// times their bytes.
func (b *blocks) matchBlank(quotes int) int {
	if quotes < len(b.quotes) {
		return b.quotes[quotes]
	}
	n := len(b.containers)
	if b.containers[n-1].empty {
		return n - 1
	}
	return n
}

// close ends all containers but the first n, and the open leaf if it was in one
// of them.
func (b *blocks) close(n int) {
	if n == len(b.containers) {
		return
	}
	b.endLeaf()
	b.containers = b.containers[:n]
	for len(b.quotes) > 0 && b.quotes[len(b.quotes)-1] >= n {
		b.quotes = b.quotes[:len(b.quotes)-1]
	}
	b.passages.closeTo(n)
}

// endLeaf ends the open leaf, if any.
func (b *blocks) endLeaf() {
	if b.leaf == paragraph {
		b.endParagraph()
	}
	b.leaf = noLeaf
}

func (b *blocks) endParagraph() {
	b.leaf = noLeaf
	b.passages.endParagraph()
}

// end closes the document.
func (b *blocks) end() {
	b.endLeaf()
	b.close(0)
	b.passages.flush()
}

// begin opens a leaf in the innermost of the first n containers, and ends what
// is open beside it.
func (b *blocks) begin(l leaf, n int) {
	b.close(n)
	b.endLeaf()
	b.leaf = l
	if n > 0 {
		b.containers[n-1].empty = false
	}
}

// add takes the rest of a line into the open leaf, in which the line begins at a
// column.
func (b *blocks) add(c *cursor, col int) {
	b.passages.add(c.rest())
	b.collectLine(c, col)
}

func (b *blocks) collectLine(c *cursor, col int) {
	if b.leaves != nil {
		from, pad := c.content(col)
		b.leaves.addPart(c.next, b.leaves.end-b.leaves.at, b.passages.number)
		last := &b.leaves.lines[len(b.leaves.lines)-1]
		last.lead, last.pad, last.indented = int32(c.next-from), int32(pad), c.indented()
	}
}

// collect says which kind of block the open leaf is.
func (b *blocks) collect(kind BlockKind) {
	if b.leaves != nil {
		b.leaves.begin(kind, b)
	}
}

// push opens a container.
func (b *blocks) push(box container, n int) {
	b.begin(noLeaf, n)
	if b.leaves != nil {
		box.block = int32(len(b.leaves.blocks))
	}
	if box.quote {
		b.collect(QuoteBlock)
		b.quotes = append(b.quotes, n)
	} else {
		b.collect(ItemBlock)
		box.inner = box.indent
		if n > 0 {
			box.inner += b.containers[n-1].inner
		}
	}
	b.containers = append(b.containers, box)
}
