package paper

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// lineWriter writes blocks as lines, each after the marks of the containers around it. What
// the formats of lines do in their own way stands in the functions.
type lineWriter struct {
	*layout
	part  *layoutPart
	out   bytes.Buffer
	boxes []box // the open block quotes and list items
	lists []openList

	quote string                                // the mark of a quotation
	put   func(first, rest, text string)        // a line
	leaf  func(b *draft.Block) string           // the text of a block
	title func(level int, text string)          // a heading whose text is marked up already
	code  func(text, info string)               // a block of code
	rule  string                                // a line across
	table func(b *draft.Block, rows [][]string) // the first row is its head
}

// box is what stands before the lines of a block quote or list item.
type box struct {
	first, rest string
	begun       bool // its first line is written
}

// openList is an open list.
type openList struct {
	*draft.Block
	items int // so far
}

// maxBoxes is how deep block quotes and list items have marks: each line of text
// repeats those around it.
const maxBoxes = 100

func (w *lineWriter) begin(part *layoutPart) { w.part = part }

// gap sets what follows apart from what is written.
func (w *lineWriter) gap() {
	switch {
	case len(w.boxes) > 0:
		w.line("")
	case w.out.Len() > 0 && !bytes.HasSuffix(w.out.Bytes(), []byte("\n\n")):
		w.out.WriteByte('\n')
	}
}

// line writes a line of a block in the containers around it.
func (w *lineWriter) line(text string) {
	var first, rest strings.Builder
	for i := range w.boxes[:min(len(w.boxes), maxBoxes)] {
		box := &w.boxes[i]
		if rest.WriteString(box.rest); box.begun {
			first.WriteString(box.rest)
		} else {
			first.WriteString(box.first)
		}
	}
	for i := len(w.boxes) - 1; i >= 0 && !w.boxes[i].begun; i-- {
		w.boxes[i].begun = true
	}
	w.put(first.String(), rest.String(), text)
}

// written are the lines, without empty ones at the end.
func (w *lineWriter) written() []byte { return append(bytes.TrimRight(w.out.Bytes(), "\n"), '\n') }

func (w *lineWriter) open(b *draft.Block, first bool) {
	inTable := b.Kind == markdown.RowBlock || b.Kind == markdown.CellBlock
	if !inTable && !b.Tight && (!first || len(w.boxes) == 0) {
		w.gap()
	}
	switch b.Kind {
	case markdown.ParagraphBlock:
		for line := range strings.SplitSeq(w.leaf(b), "\n") {
			w.line(line)
		}
	case markdown.HeadingBlock:
		w.title(w.part.headingLevel(b), w.leaf(b))
	case markdown.ListBlock:
		w.lists = append(w.lists, openList{Block: b})
	case markdown.ItemBlock:
		mark := w.lists[len(w.lists)-1].next()
		w.boxes = append(w.boxes, box{first: mark, rest: strings.Repeat(" ", len(mark))})
	case markdown.QuoteBlock:
		w.boxes = append(w.boxes, box{first: w.quote, rest: w.quote})
	case markdown.CodeBlock:
		w.code(b.Text, b.Info)
	case markdown.HTMLBlock:
		w.code(b.Text, "html")
	case markdown.RuleBlock:
		w.line(w.rule)
	case markdown.TableBlock:
		var rows [][]string
		for _, row := range b.Children {
			if w.part.left[row] {
				continue
			}
			var cells []string
			for _, cell := range row.Children {
				cells = append(cells, w.leaf(cell))
			}
			rows = append(rows, cells)
		}
		w.table(b, rows)
	}
}

func (w *lineWriter) close(b *draft.Block) {
	switch b.Kind {
	case markdown.ListBlock:
		w.lists = w.lists[:len(w.lists)-1]
	case markdown.ItemBlock, markdown.QuoteBlock:
		last := len(w.boxes) - 1
		if !w.boxes[last].begun {
			w.line("")
		}
		w.boxes = w.boxes[:last]
	}
}

// next is the mark of the next item. Two lists side by side have different marks,
// or they would be one.
func (l *openList) next() string {
	l.items++
	switch {
	case l.Ordered && l.Second:
		return strconv.Itoa(l.Start+l.items-1) + ") "
	case l.Ordered:
		return strconv.Itoa(l.Start+l.items-1) + ". "
	case l.Second:
		return "* "
	}
	return "- "
}
