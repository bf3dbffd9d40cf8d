package synthesis

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The limits within which Markdown has a meaning. The parser takes time that
// grows with the square of these numbers, and an agent chooses what it reads.
const (
	MaxDepth = 100    // block quotes and list items that are open at once
	MaxMarks = 256    // marks of one kind in a block
	MaxCells = 20_000 // cells of a table
)

// newParser is made when it is first needed, and serves all documents.
var newParser = sync.OnceValue(func() parser.Parser {
	p := util.Prioritized
	return parser.NewParser(
		parser.WithBlockParsers(
			p(parser.NewSetextHeadingParser(), 100),
			p(parser.NewThematicBreakParser(), 200),
			p(container{parser.NewListParser()}, 300),
			p(parser.NewListItemParser(), 400),
			p(parser.NewCodeBlockParser(), 500),
			p(parser.NewATXHeadingParser(), 600),
			p(parser.NewFencedCodeBlockParser(), 700),
			p(container{parser.NewBlockquoteParser()}, 800),
			p(parser.NewHTMLBlockParser(), 900),
			p(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			p(parser.NewCodeSpanParser(), 100),
			p(newBounded(parser.NewLinkParser()), 200),
			p(newBounded(parser.NewAutoLinkParser()), 300),
			p(newBounded(parser.NewRawHTMLParser()), 400),
			p(newBounded(parser.NewEmphasisParser()), 500),
		),
		parser.WithParagraphTransformers(
			p(fewLines{parser.LinkReferenceParagraphTransformer}, 100),
			p(tables{}, 200),
		),
	)
})

// parse reads a draft. A lone carriage return ends a line, as CommonMark says but
// the parser does not know; the source that it returns has the same length.
func parse(draft []byte) (root ast.Node, source []byte) {
	source = bytes.Clone(draft)
	for i, c := range source {
		if c == '\r' && (i+1 == len(source) || source[i+1] != '\n') {
			source[i] = '\n'
		}
	}
	return newParser().Parse(text.NewReader(source)), source
}

// container opens no block quote or list inside too many others.
type container struct{ parser.BlockParser }

func (c container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		depth++
	}
	if depth > 2*MaxDepth { // a list and its item are two
		return nil, parser.NoChildren
	}
	return c.BlockParser.Open(parent, reader, pc)
}

// bounded leaves the marks of an inline parser beyond the limit as text.
type bounded struct {
	parser.InlineParser
	key parser.ContextKey
}

func newBounded(p parser.InlineParser) bounded { return bounded{p, parser.NewContextKey()} }

// marks counts what an inline parser was asked about in one block.
type marks struct {
	block ast.Node
	count int
}

func (b bounded) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	m := pc.ComputeIfAbsent(b.key, func() any { return new(marks) }).(*marks)
	if m.block != parent {
		*m = marks{block: parent}
	}
	if m.count++; m.count > MaxMarks {
		return nil
	}
	return b.InlineParser.Parse(parent, block, pc)
}

// CloseBlock lets a parser that keeps open marks end them with the block.
func (b bounded) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := b.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// fewLines looks for link definitions only in paragraphs of a sane size.
type fewLines struct{ parser.ParagraphTransformer }

func (f fewLines) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= MaxMarks {
		f.ParagraphTransformer.Transform(node, reader, pc)
	}
}
