package synthesis

import (
	"bytes"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// document is a draft as a reader sees it: a tree of blocks whose leaves hold
// characters, each with the place in the source that it comes from. The judge
// and the report read the same tree.
type document struct {
	source   []byte // without a byte-order mark; every line ends with a line feed
	starts   []int  // where each line begins
	blocks   []*block
	passages []*passage
	begins   []beginning
}

type kind uint8

const (
	paragraph kind = iota
	heading
	list
	item
	quote
	code
	html
	rule
	table
	row
	cell
)

// block is a container with children, or a leaf with text.
type block struct {
	kind     kind
	line     int      // where it begins, 1-based
	level    int      // of a heading, 1 to 6
	ordered  bool     // a list
	start    int      // the number of an ordered list's first item
	loose    bool     // a list whose items stand apart
	info     string   // the language of a fenced code block
	align    string   // of a cell: left, right, center or ""
	text     string   // of a block of code or HTML
	quoted   bool     // it stands in a block quote
	item     *passage // of the list item that a block quote belongs to
	children []*block
	leaf
}

// passage is a paragraph outside list items, a table, or a list item up to the
// first item inside it, as package markdown has it: the smallest part of a text
// that a citation belongs to.
type passage struct {
	line   int
	leaves []*block
}

// beginning is a line on which a block begins that can be changed by itself: a
// passage, a heading, a block of code or HTML, or a rule.
type beginning struct {
	line    int
	heading bool
}

// read makes the document of a draft.
func read(draft []byte) *document {
	draft = bytes.TrimPrefix(draft, []byte("\ufeff"))
	root, source := parse(draft)
	d := &document{source: source, starts: []int{0}}
	for i, c := range source {
		if c == '\n' && i+1 < len(source) {
			d.starts = append(d.starts, i+1)
		}
	}
	r := reader{document: d}
	d.blocks = r.children(root)
	return d
}

// lineOf is the number of the line that holds a byte of the source.
func (d *document) lineOf(at int) int { return sort.SearchInts(d.starts, at+1) }

// lineText is a line without its end.
func (d *document) lineText(line int) []byte {
	end := len(d.source)
	if line < len(d.starts) {
		end = d.starts[line]
	}
	return bytes.TrimRight(d.source[d.starts[line-1]:end], "\r\n")
}

// lines is how many lines the draft has; a line end at its end does not begin
// another.
func (d *document) lines() int {
	if len(d.source) == 0 {
		return 0
	}
	return len(d.starts)
}

// reader turns the parser's tree into a document.
type reader struct {
	*document
	open   *passage // of the list item whose text is being read
	quotes int      // block quotes that are open
}

func (r *reader) children(n ast.Node) []*block {
	var blocks []*block
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if b := r.block(c); b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (r *reader) block(n ast.Node) *block {
	b := &block{line: r.lineOf(max(n.Pos(), 0)), quoted: r.quotes > 0}
	switch n := n.(type) {
	case *ast.Heading:
		b.kind, b.level = heading, n.Level
		b.leaf = r.inline(n)
		if r.open != nil {
			r.open.leaves = append(r.open.leaves, b)
		}
		r.beginOutside(b)
	case *ast.Paragraph, *ast.TextBlock:
		b.leaf = r.inline(n)
		r.passage(n, b)
	case *ast.HTMLBlock:
		b.kind, b.text = html, r.code(n)
		if n.HasClosure() {
			b.text += string(n.ClosureLine.Value(r.source))
		}
		r.beginOutside(b)
	case *ast.List:
		b.kind, b.ordered, b.start, b.loose = list, n.IsOrdered(), n.Start, !n.IsTight
		b.children = r.children(n)
	case *ast.ListItem:
		b.kind = item
		r.open = &passage{line: b.line}
		r.begin(r.open)
		b.children = r.children(n)
		r.open = nil
	case *ast.Blockquote:
		b.kind, b.item = quote, r.open
		r.quotes++
		b.children = r.children(n)
		r.quotes--
	case *ast.FencedCodeBlock:
		b.kind, b.text, b.info = code, r.code(n), string(n.Language(r.source))
		r.beginOutside(b)
	case *ast.CodeBlock:
		b.kind, b.text = code, r.code(n)
		r.beginOutside(b)
	case *ast.ThematicBreak:
		b.kind = rule
		r.beginOutside(b)
	case *tableNode:
		b.kind = table
		r.table(n, b)
	default: // a link definition, which shows nothing
		return nil
	}
	return b
}

// code is the text of a block of code or HTML.
func (r *reader) code(n ast.Node) string {
	return strings.ReplaceAll(string(n.Lines().Value(r.source)), "\r\n", "\n")
}

// beginOutside notes a block outside passages, unless it is part of a list item.
func (r *reader) beginOutside(b *block) {
	if r.open == nil {
		r.begins = append(r.begins, beginning{b.line, b.kind == heading})
	}
}

func (r *reader) begin(p *passage) {
	r.passages = append(r.passages, p)
	r.begins = append(r.begins, beginning{p.line, false})
}

// passage adds a leaf to the list item that it is in, or begins a passage.
func (r *reader) passage(n ast.Node, b *block) {
	if r.open != nil {
		r.open.leaves = append(r.open.leaves, b)
		return
	}
	p := &passage{line: b.line, leaves: []*block{b}}
	// A table right below a text is one paragraph with it.
	if before, ok := n.PreviousSibling().(*ast.Paragraph); ok && b.kind == table && n.Pos() == before.Pos() {
		p = r.passages[len(r.passages)-1]
		p.leaves = append(p.leaves, b)
	} else {
		r.begin(p)
	}
}

func (r *reader) table(n *tableNode, b *block) {
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		cells := &block{kind: row, line: r.lineOf(max(line.Pos(), 0))}
		for c := line.FirstChild(); c != nil; c = c.NextSibling() {
			cells.children = append(cells.children, &block{kind: cell, line: cells.line, align: c.(*tableNode).align, leaf: r.inline(c)})
		}
		b.children = append(b.children, cells)
	}
	r.passage(n, b)
}

// eachLeaf calls visit for every leaf in a block, in order.
func (b *block) eachLeaf(visit func(*block)) {
	b.each(func(b *block) {
		if b.kind == paragraph || b.kind == heading || b.kind == cell {
			visit(b)
		}
	})
}

// each calls visit for a block and every block in it, in order.
func (b *block) each(visit func(*block)) {
	visit(b)
	for _, child := range b.children {
		child.each(visit)
	}
}

func (d *document) eachLeaf(visit func(*block)) {
	for _, b := range d.blocks {
		b.eachLeaf(visit)
	}
}
