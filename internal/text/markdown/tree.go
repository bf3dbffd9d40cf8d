package markdown

import "strings"

// Node is a block with the blocks that it holds. Of fenced code, Line is that of
// the opening fence.
type Node struct {
	Block
	Children []*Node

	Ordered bool   // a list with numbers
	Start   int    // the number of its first item
	Loose   bool   // a list whose items stand apart
	Info    string // the first word after the fence that opens code
	Align   string // of a cell: left, right, center or ""
	Cut     bool   // a row with text beyond the last column, which nobody sees
}

// Tree is the document as a tree, without the link reference definitions. Of a
// document of [ParseGitHub], what Blocks has as one paragraph can be a table here,
// or a paragraph and a table. It is made once, and must not be changed.
func (d *Document) Tree() []*Node {
	if d.tree != nil {
		return d.tree
	}
	root := &Node{}
	nodes := make([]*Node, len(d.all))
	for i, b := range d.all {
		nodes[i] = d.node(b)
		parent := root
		if b.parent >= 0 {
			parent = nodes[b.parent]
		}
		if b.Kind == ItemBlock {
			parent = parent.listFor(b)
		}
		parent.Children = append(parent.Children, nodes[i])
	}
	d.finish(root)
	d.tree = root.Children
	return d.tree
}

func (d *Document) node(b Block) *Node {
	if b.Kind != ParagraphBlock || b.Line == 0 { // definitions may stand before its text
		b.Line = b.opened
	}
	b.last = max(b.last, b.opened)
	if b.Kind == CodeBlock && !b.fenced {
		for d.lines[b.end-1].start == d.lines[b.end-1].end {
			b.end--
		}
	}
	if b.first < b.end {
		b.last = max(b.last, d.lines[b.end-1].number)
	}
	n := &Node{Block: b}
	if words := strings.Fields(string(d.text[b.info.start:b.info.end])); len(words) > 0 {
		n.Info = words[0]
	}
	return n
}

// listFor is the list that an item belongs to: the last child, if its items have
// the same mark, or a new one.
func (n *Node) listFor(item Block) *Node {
	if i := len(n.Children); i > 0 && n.Children[i-1].Kind == ListBlock && n.Children[i-1].mark == item.mark {
		return n.Children[i-1]
	}
	list := &Node{Block: Block{Kind: ListBlock, Line: item.opened, Quoted: item.Quoted, mark: item.mark, opened: item.opened},
		Ordered: item.mark == '.' || item.mark == ')', Start: item.number}
	n.Children = append(n.Children, list)
	return list
}

// finish takes the definitions out of a node, finds its tables, and decides which
// of its lists are loose.
func (d *Document) finish(n *Node) {
	children := n.Children
	n.Children = nil
	for _, child := range children {
		switch {
		case child.Kind == ParagraphBlock && child.first == child.end: // nothing but definitions
		case child.Kind == ParagraphBlock && d.tables:
			n.Children = append(n.Children, d.tableIn(child)...)
		default:
			d.finish(child)
			n.Children = append(n.Children, child)
		}
	}
	if i := len(n.Children); i > 0 {
		n.last = max(n.last, n.Children[i-1].last)
	}
	if n.Kind == ListBlock {
		n.Loose = n.apart()
		for _, item := range n.Children {
			n.Loose = n.Loose || item.apart()
		}
	}
}

// apart reports whether a blank line stands between two children.
func (n *Node) apart() bool {
	for i, child := range n.Children {
		if i > 0 && child.opened > n.Children[i-1].last+1 {
			return true
		}
	}
	return false
}

// Raw is the text of a block of code or HTML as it is written, with the white space
// before its lines. Each line ends with a line feed.
func (d *Document) Raw(b Block) string {
	var out strings.Builder
	for _, s := range d.linesOf(b) {
		out.WriteString("   "[:s.pad])
		out.Write(d.text[s.start-int(s.lead) : s.end])
		out.WriteByte('\n')
	}
	return out.String()
}
