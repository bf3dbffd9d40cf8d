package synthesis

import (
	"bytes"
	"sort"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// document is a draft as a reader sees it: a tree of blocks whose leaves hold
// characters, each with the place in the source that it comes from. The judge
// and the report read the same tree.
type document struct {
	source   []byte // without a byte-order mark; every line ends with a line feed
	starts   []int  // where each line begins
	markdown *markdown.Document
	blocks   []*block
	passages []*passage
	begins   []beginning
}

// block is a container with children, or a leaf with text.
type block struct {
	*markdown.Node
	text     string   // of a block of code or HTML
	item     *passage // of the list item that a block quote belongs to
	tight    bool     // it stands in a list whose items do not stand apart
	second   bool     // a list right below another of its kind, which has other marks
	children []*block
	drawn    *drawnTable // the chart of a table
	left     bool        // it is left out of the report: a mark that was carried out
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
	source := bytes.Clone(bytes.TrimPrefix(draft, []byte("\ufeff")))
	for i, c := range source { // a lone carriage return ends a line
		if c == '\r' && (i+1 == len(source) || source[i+1] != '\n') {
			source[i] = '\n'
		}
	}
	d := &document{source: source, starts: []int{0}, markdown: markdown.ParseGitHub(source)}
	for i, c := range source {
		if c == '\n' && i+1 < len(source) {
			d.starts = append(d.starts, i+1)
		}
	}
	r := reader{document: d, numbered: map[int]*passage{}}
	d.blocks = r.all(d.markdown.Tree(), false)
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

// reader turns the tree of a Markdown document into ours.
type reader struct {
	*document
	numbered map[int]*passage // by the number that package markdown gives it
}

func (r *reader) all(nodes []*markdown.Node, tight bool) []*block {
	blocks := make([]*block, len(nodes))
	for i, n := range nodes {
		blocks[i] = r.block(n, tight)
		if before := i - 1; i > 0 && n.Kind == markdown.ListBlock && nodes[before].Kind == n.Kind && nodes[before].Ordered == n.Ordered {
			blocks[i].second = !blocks[before].second
		}
	}
	return blocks
}

func (r *reader) block(n *markdown.Node, tight bool) *block {
	b := &block{Node: n, tight: tight}
	switch n.Kind {
	case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
		b.leaf = r.inline(n.Block)
	case markdown.CodeBlock, markdown.HTMLBlock:
		b.text = r.markdown.Raw(n.Block)
	case markdown.QuoteBlock:
		if n.Item {
			b.item = r.numbered[n.Passage]
		}
	case markdown.ListBlock:
		tight = !n.Loose
	}
	r.place(b)
	b.children = r.all(n.Children, tight && (n.Kind == markdown.ListBlock || n.Kind == markdown.ItemBlock))
	return b
}

// place adds a block to its passage, and notes where what can be changed by itself
// begins.
func (r *reader) place(b *block) {
	switch b.Kind {
	case markdown.ItemBlock:
		r.begin(b)
	case markdown.ParagraphBlock, markdown.TableBlock:
		// A table right below a text is one passage with it.
		if r.numbered[b.Passage] == nil {
			r.begin(b)
		}
		p := r.numbered[b.Passage]
		p.leaves = append(p.leaves, b)
	case markdown.HeadingBlock, markdown.CodeBlock, markdown.HTMLBlock, markdown.RuleBlock:
		switch {
		case !b.Item:
			r.begins = append(r.begins, beginning{b.Line, b.Kind == markdown.HeadingBlock})
		case b.Kind == markdown.HeadingBlock:
			p := r.numbered[b.Passage]
			p.leaves = append(p.leaves, b)
		}
	}
}

// begin opens the passage of a block.
func (r *reader) begin(b *block) {
	p := &passage{line: b.Line}
	r.numbered[b.Passage] = p
	r.passages = append(r.passages, p)
	r.begins = append(r.begins, beginning{p.line, false})
}

// eachLeaf calls visit for every leaf in a block, in order.
func (b *block) eachLeaf(visit func(*block)) {
	b.each(func(b *block) {
		if b.Kind == markdown.ParagraphBlock || b.Kind == markdown.HeadingBlock || b.Kind == markdown.CellBlock {
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
