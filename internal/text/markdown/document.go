package markdown

import (
	"bytes"
	"sort"
)

// Document is a Markdown text in memory, as its leaf blocks. A [Scanner] gives
// what the judgement of a text of any size needs; a Document gives what a reader
// sees: see [Document.Inlines].
//
// It must not be used by two goroutines at once.
type Document struct {
	Blocks []Block // in document order
	text   []byte
	tables bool              // a paragraph may be a table
	lines  []span            // of all blocks
	all    []Block           // with the containers, in the order in which they begin
	labels map[string]string // the destinations of the link reference definitions
	isPart bool              // they stand in another document
	tree   []*Node           // see Tree
	inline inliner           // the present block's, and its buffers
}

// Block is a block that holds no other block.
type Block struct {
	Kind  BlockKind
	Line  int  // where it begins, 1-based
	Level int  // of a heading, 1 to 6
	Top   bool // it is a [Heading]: ATX, and at the top level
	// Passage is the number of the [Passage] that the block belongs to, from 1;
	// 0 for a block that belongs to none.
	Passage int
	Item    bool // that passage is a list item
	Quoted  bool // it stands in a block quote

	setext     bool // a heading that was a paragraph until it was underlined
	fenced     bool // code between fences
	cell       bool // of a table
	mark       byte // a bullet, or what follows the number of a list item
	number     int  // of a list item
	parent     int  // index of the container that it stands in, -1 for none
	opened     int  // the line that opens it
	last       int  // the last line that belongs to it, where it has no line there
	info       span // what follows a fence
	first, end int  // its lines, as indexes of the document's
}

// BlockKind says what a block holds.
type BlockKind uint8

// The kinds of blocks.
const (
	ParagraphBlock  BlockKind = iota + 1
	HeadingBlock              // ATX or setext, at any depth
	CodeBlock                 // fenced or indented
	HTMLBlock                 // of any kind, comments included
	DefinitionBlock           // one link reference definition

	// Those that only the tree of a document has, see [Document.Tree].
	RuleBlock  // a thematic break
	QuoteBlock // a block quote
	ListBlock  // its children are items
	ItemBlock
	TableBlock // its children are rows, the first of them the header
	RowBlock   // its children are cells
	CellBlock
)

// span is a line of a block: a part of the document's text, without the marks
// of containers and the line end.
type span struct {
	start, end int
	number     int // of the line, 1-based
	// Of code and HTML: how many bytes of white space before start belong to it,
	// and how many columns of a tab before them.
	lead, pad int32
	indented  bool // by four columns or more, so that it begins no block
}

// Parse finds the blocks of a text. Its structure is exact within the limits of
// this package. The document refers to text, which must not be changed.
func Parse(text []byte) *Document { return parse(text, &collector{text: text}) }

// Part is [Parse] for a part of the document's text, read by itself. The definitions
// of the document hold in it, and [Document.Inlines] has the destinations that they
// give to links.
func (d *Document) Part(text []byte) *Document {
	part := Parse(text)
	if d.labels != nil {
		part.labels, part.isPart = d.labels, true
	}
	return part
}

// ParseGitHub is [Parse] by the flavour of GitHub, which adds tables: a table ends
// where another block begins, also one that could not interrupt a paragraph. In
// Blocks it is a paragraph, and in [Document.Tree] a table.
func ParseGitHub(text []byte) *Document { return parse(text, &collector{text: text, tables: true}) }

func parse(text []byte, c *collector) *Document {
	if Observe != nil {
		Observe(text, c.tables)
	}
	b := blocks{leaves: c}
	b.reset(nil)
	b.passages.on = true
	at := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		at = len(byteOrderMark)
	}
	lines := lineCutter{text: text, lf: -1}
	for number := 1; at < len(text); number++ {
		end, next := lines.cut(at)
		line := text[at:end]
		c.at, c.end = at, end
		b.line(line[:min(len(line), MaxLine)], len(line) > MaxLine, number)
		if len(line) > MaxLine {
			b.more(line[MaxLine:], true)
		}
		at = next
	}
	b.end()
	d := &Document{text: text, tables: c.tables, lines: c.lines, all: c.blocks, Blocks: make([]Block, 0, len(c.blocks))}
	for i := range d.all {
		d.add(&d.all[i])
	}
	return d
}

// add takes a block into the document. The definitions that a paragraph begins
// with become blocks of their own; a paragraph is also what was underlined.
func (d *Document) add(b *Block) {
	if b.Kind == ParagraphBlock || b.setext {
		d.addDefinitions(b)
	}
	if b.first < b.end {
		b.Line = d.lines[b.first].number
		d.Blocks = append(d.Blocks, *b)
	}
}

// addDefinitions takes the definitions that a block begins with away from it.
func (d *Document) addDefinitions(b *Block) {
	if b.first == b.end || d.text[d.lines[b.first].start] != '[' {
		return
	}
	for text := d.joined(*b); len(text) > 0; {
		def, n := parseDefinition(text)
		if n == 0 {
			return
		}
		if d.labels == nil {
			d.labels = map[string]string{}
		}
		if _, there := d.labels[def.label]; !there {
			d.labels[def.label] = string(unescape(text[def.start:def.end]))
		}
		first := b.first
		b.first += bytes.Count(text[:n], lineFeed)
		if n == len(text) && text[n-1] != '\n' {
			b.first++
		}
		d.Blocks = append(d.Blocks, Block{Kind: DefinitionBlock, Line: d.lines[first].number, first: first, end: b.first})
		text = text[n:]
	}
}

// linesOf are the lines of a block.
func (d *Document) linesOf(b Block) []span { return d.lines[b.first:b.end] }

// Lines calls visit for each line of a block with its number, where it begins
// in the document's text, and what it says there.
func (d *Document) Lines(b Block, visit func(number, start int, line []byte)) {
	for _, s := range d.linesOf(b) {
		visit(s.number, s.start, d.text[s.start:s.end])
	}
}

// Range is where a block begins and ends in the document's text, marks of
// containers between its lines included.
func (d *Document) Range(b Block) (start, end int) {
	return d.lines[b.first].start, d.lines[b.end-1].end
}

// Source says where the bytes of a block's lines, joined by line feeds, stand in
// the document's text.
func (d *Document) Source(b Block) func(i int) int {
	lines := d.linesOf(b)
	begins := make([]int, len(lines))
	for i := range begins[1:] {
		begins[i+1] = begins[i] + lines[i].end - lines[i].start + 1
	}
	return func(i int) int {
		line := max(0, sort.SearchInts(begins, i+1)-1)
		return lines[line].start + i - begins[line]
	}
}

// joined is the text of a block, its lines joined by line feeds. A single line is
// part of the document's text.
func (d *Document) joined(b Block) []byte {
	lines := d.linesOf(b)
	if len(lines) == 1 {
		return d.text[lines[0].start:lines[0].end]
	}
	n := 0
	for _, s := range lines {
		n += s.end - s.start + 1
	}
	text := make([]byte, 0, n)
	for i, s := range lines {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, d.text[s.start:s.end]...)
	}
	return text
}

// collector gathers the leaf blocks while [blocks] finds them. A nil collector
// gathers nothing.
type collector struct {
	blocks  []Block
	lines   []span
	at, end int // of the current line

	text    []byte // of the document
	tables  bool   // it may have tables
	scanned int    // lines[:scanned] were looked at for a table
	table   bool   // the open paragraph has one
}

// begin opens a block in the innermost open container.
func (c *collector) begin(kind BlockKind, b *blocks) *Block {
	block := Block{Kind: kind, Quoted: len(b.quotes) > 0, parent: -1, opened: b.passages.number, first: len(c.lines), end: len(c.lines)}
	if n := len(b.containers); n > 0 {
		block.parent = int(b.containers[n-1].block)
	}
	if b.passages.kind != noPassage {
		block.Passage, block.Item = b.passages.count, b.passages.kind == itemPassage
	}
	c.blocks = append(c.blocks, block)
	c.scanned, c.table = len(c.lines)+1, false
	return c.lastBlock()
}

func (c *collector) lastBlock() *Block { return &c.blocks[len(c.blocks)-1] }

// addPart takes a part of the current line into the last block.
func (c *collector) addPart(i, j, number int) {
	c.lines = append(c.lines, span{start: c.at + i, end: c.at + j, number: number})
	c.lastBlock().end = len(c.lines)
}

// heading takes a heading whose text begins at byte i of the current line.
func (c *collector) heading(level, i, length int, b *blocks) {
	block := c.begin(HeadingBlock, b)
	block.Level, block.Top = level, len(b.containers) == 0
	if c.end-c.at > MaxLine {
		length = c.end - c.at - i
	}
	c.addPart(i, i+length, b.passages.number)
}

// fence says where the text after the opening fence of the last block begins.
func (c *collector) fence(i, number int) {
	block := c.lastBlock()
	block.fenced, block.last, block.info = true, number, span{start: c.at + i, end: c.end}
}

// item says which mark the last block, a list item, has.
func (c *collector) item(mark byte, number int, b *blocks) {
	block := c.lastBlock()
	block.mark, block.number = mark, number
	block.Passage, block.Item = b.passages.count, true
}

// underline turns the last block, a paragraph, into a setext heading.
func (c *collector) underline(mark byte, number int) {
	block := c.lastBlock()
	block.Kind, block.Level, block.setext, block.last = HeadingBlock, 2, true, number
	if mark == '=' {
		block.Level = 1
	}
	if !block.Item {
		block.Passage = 0
	}
}

// lineCutter finds the ends of lines: LF, CR and CRLF.
type lineCutter struct {
	text []byte
	lf   int // index of the next LF, or the length of the text; not known when before the line
}

// cut says where the line that begins at a place ends, and where the next one
// begins.
func (l *lineCutter) cut(at int) (end, next int) {
	if l.lf < at {
		l.lf = len(l.text)
		if i := bytes.IndexByte(l.text[at:], '\n'); i >= 0 {
			l.lf = at + i
		}
	}
	if i := bytes.IndexByte(l.text[at:l.lf], '\r'); i >= 0 {
		end = at + i
		if end+1 == l.lf {
			return end, end + 2
		}
		return end, end + 1
	}
	return l.lf, l.lf + 1
}

// Text is a Markdown text that is read once in each flavour, whoever looks at it.
// It must not be used by two goroutines at once.
type Text struct {
	Raw           []byte // as it was written
	Source        []byte // without a byte-order mark; every line ends with a line feed
	github, plain *Document
}

// Read takes a text, which must not be changed.
func Read(text []byte) *Text {
	source := bytes.TrimPrefix(text, byteOrderMark)
	for at, c := range source { // a lone carriage return ends a line
		if c != '\r' || at+1 < len(source) && source[at+1] == '\n' {
			continue
		}
		if &source[0] == &text[len(text)-len(source)] {
			source = bytes.Clone(source)
		}
		source[at] = '\n'
	}
	return &Text{Raw: text, Source: source}
}

// GitHub is the text as [ParseGitHub] reads it.
func (t *Text) GitHub() *Document {
	if t.github == nil {
		t.github = ParseGitHub(t.Source)
	}
	return t.github
}

// Plain is the text as [Parse] reads it.
func (t *Text) Plain() *Document {
	if t.plain == nil {
		t.plain = Parse(t.Source)
	}
	return t.plain
}

// Observe, where a test sets it, is called with each text whose blocks are found, and
// whether by the flavour of GitHub.
var Observe func(text []byte, github bool)
