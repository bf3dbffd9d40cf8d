package draft

import (
	"bytes"
	"sort"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Document is a draft as a reader sees it: a tree of blocks whose leaves hold
// characters, each with the place in the source that it comes from. The judge
// and the report read the same tree.
type Document struct {
	*markdown.Text
	Starts   []int // where each line begins
	Markdown *markdown.Document
	Blocks   []*Block
	Passages []*Passage
	Begins   []beginning
}

// Block is a container with children, or a leaf with text.
type Block struct {
	*markdown.Node
	Text     string   // of a block of code or HTML
	Owner    *Passage // of the list item that a block quote belongs to
	Tight    bool     // it stands in a list whose items do not stand apart
	Second   bool     // a list right below another of its kind, which has other marks
	Children []*Block
	Leaf
}

// Passage is a paragraph outside list items, a table, or a list item up to the
// first item inside it, as package markdown has it: the smallest part of a text
// that a citation belongs to.
type Passage struct {
	Line   int
	Leaves []*Block
}

// beginning is a line on which a block begins that can be changed by itself: a
// passage, a heading, a block of code or HTML, or a rule.
type beginning struct {
	Line    int
	Heading bool
}

// Read makes the document of a draft.
func Read(text *markdown.Text) *Document {
	d := &Document{Text: text, Starts: []int{0}, Markdown: text.GitHub()}
	for i, c := range d.Source {
		if c == '\n' && i+1 < len(d.Source) {
			d.Starts = append(d.Starts, i+1)
		}
	}
	r := reader{Document: d, numbered: map[int]*Passage{}}
	d.Blocks = r.all(d.Markdown.Tree(), false)
	return d
}

// LineOf is the number of the line that holds a byte of the source.
func (d *Document) LineOf(at int) int { return sort.SearchInts(d.Starts, at+1) }

// LineText is a line without its end.
func (d *Document) LineText(line int) []byte {
	end := len(d.Source)
	if line < len(d.Starts) {
		end = d.Starts[line]
	}
	return bytes.TrimRight(d.Source[d.Starts[line-1]:end], "\r\n")
}

// Lines is how many lines the draft has; a line end at its end does not begin
// another.
func (d *Document) Lines() int {
	if len(d.Source) == 0 {
		return 0
	}
	return len(d.Starts)
}

// reader turns the tree of a Markdown document into ours.
type reader struct {
	*Document
	numbered map[int]*Passage // by the number that package markdown gives it
}

func (r *reader) all(nodes []*markdown.Node, tight bool) []*Block {
	blocks := make([]*Block, len(nodes))
	for i, n := range nodes {
		blocks[i] = r.block(n, tight)
		if before := i - 1; i > 0 && n.Kind == markdown.ListBlock && nodes[before].Kind == n.Kind && nodes[before].Ordered == n.Ordered {
			blocks[i].Second = !blocks[before].Second
		}
	}
	return blocks
}

func (r *reader) block(n *markdown.Node, tight bool) *Block {
	b := &Block{Node: n, Tight: tight}
	switch n.Kind {
	case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
		b.Leaf = r.inline(n.Block)
	case markdown.CodeBlock, markdown.HTMLBlock:
		b.Text = r.Markdown.Raw(n.Block)
	case markdown.QuoteBlock:
		if n.Item {
			b.Owner = r.numbered[n.Passage]
		}
	case markdown.ListBlock:
		tight = !n.Loose
	}
	r.place(b)
	b.Children = r.all(n.Children, tight && (n.Kind == markdown.ListBlock || n.Kind == markdown.ItemBlock))
	return b
}

// place adds a block to its passage, and notes where what can be changed by itself
// begins.
func (r *reader) place(b *Block) {
	switch b.Kind {
	case markdown.ItemBlock:
		r.begin(b)
	case markdown.ParagraphBlock, markdown.TableBlock:
		// A table right below a text is one passage with it.
		if r.numbered[b.Passage] == nil {
			r.begin(b)
		}
		p := r.numbered[b.Passage]
		p.Leaves = append(p.Leaves, b)
	case markdown.HeadingBlock, markdown.CodeBlock, markdown.HTMLBlock, markdown.RuleBlock:
		switch {
		case !b.Item:
			r.Begins = append(r.Begins, beginning{b.Line, b.Kind == markdown.HeadingBlock})
		case b.Kind == markdown.HeadingBlock:
			p := r.numbered[b.Passage]
			p.Leaves = append(p.Leaves, b)
		}
	}
}

// begin opens the passage of a block.
func (r *reader) begin(b *Block) {
	p := &Passage{Line: b.Line}
	r.numbered[b.Passage] = p
	r.Passages = append(r.Passages, p)
	r.Begins = append(r.Begins, beginning{p.Line, false})
}

// EachLeaf calls visit for every leaf in a block, in order.
func (b *Block) EachLeaf(visit func(*Block)) {
	b.Each(func(b *Block) {
		if b.Kind == markdown.ParagraphBlock || b.Kind == markdown.HeadingBlock || b.Kind == markdown.CellBlock {
			visit(b)
		}
	})
}

// Each calls visit for a block and every block in it, in order.
func (b *Block) Each(visit func(*Block)) {
	visit(b)
	for _, child := range b.Children {
		child.Each(visit)
	}
}

func (d *Document) EachLeaf(visit func(*Block)) {
	for _, b := range d.Blocks {
		b.EachLeaf(visit)
	}
}
