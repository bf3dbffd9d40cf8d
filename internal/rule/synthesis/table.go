package synthesis

import (
	"bytes"

	"github.com/tidegate/tidegate/internal/text/pattern"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The nodes of a table of GitHub's flavour. goldmark has an extension for them,
// which costs every start of the program a millisecond, and which fills rows up
// without a limit.
type tableNode struct {
	ast.BaseBlock
	align string // of a cell
	kind  ast.NodeKind
}

var (
	kindTable = ast.NewNodeKind("Table")
	kindRow   = ast.NewNodeKind("TableRow")
	kindCell  = ast.NewNodeKind("TableCell")
)

func (n *tableNode) Kind() ast.NodeKind { return n.kind }

// Dump is for debugging, and part of what a node must have.
func (n *tableNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

func newTableNode(kind ast.NodeKind, at int) *tableNode {
	n := &tableNode{kind: kind}
	n.SetPos(at)
	return n
}

// tables turns paragraphs into tables: the first line that has the form of a
// delimiter row, as many cells as the line above it, and no more cells altogether
// than [MaxCells]. Lines above these two stay a paragraph. Cells beyond those of
// the first row are not shown, as in GitHub's flavour.
type tables struct{}

var delimiterCell = pattern.New(`^:?-+:?$`)

func (tables) Transform(paragraph *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), paragraph.Lines()
	for i := 1; i < lines.Len(); i++ {
		aligns := alignments(source, lines.At(i))
		if aligns == nil || len(aligns) != len(cells(source, lines.At(i-1))) {
			continue
		}
		if len(aligns)*(lines.Len()-i) > MaxCells {
			return
		}
		table := newTableNode(kindTable, paragraph.Pos())
		table.AppendChild(table, tableRow(source, lines.At(i-1), aligns))
		for k := i + 1; k < lines.Len(); k++ {
			table.AppendChild(table, tableRow(source, lines.At(k), aligns))
		}
		parent := paragraph.Parent()
		parent.InsertAfter(parent, paragraph, table)
		if i == 1 {
			parent.RemoveChild(parent, paragraph)
			return
		}
		lines.SetSliced(0, i-1)
		last := lines.At(i - 2)
		lines.Set(i-2, last.TrimRightSpace(source))
		return
	}
}

func tableRow(source []byte, line text.Segment, aligns []string) ast.Node {
	row := newTableNode(kindRow, line.Start)
	found := cells(source, line)
	for i, align := range aligns {
		cell := newTableNode(kindCell, line.Start)
		cell.align = align
		if i < len(found) {
			cell.SetPos(found[i].Start)
			cell.Lines().Append(found[i])
		}
		row.AppendChild(row, cell)
	}
	return row
}

// cells are the parts of a line between its bars.
func cells(source []byte, line text.Segment) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	row := source[line.Start:line.Stop]
	from, to := 0, len(row)
	if to > 0 && row[0] == '|' {
		from = 1
	}
	if to > from && row[to-1] == '|' && row[max(to-2, 0)] != '\\' {
		to--
	}
	var out []text.Segment
	for at := from; at <= to; at++ {
		if at < to && (row[at] != '|' || at > 0 && row[at-1] == '\\') {
			continue
		}
		cell := text.NewSegment(line.Start+from, line.Start+at)
		cell = cell.TrimLeftSpace(source)
		out = append(out, cell.TrimRightSpace(source))
		from = at + 1
	}
	return out
}

// alignments are those of a delimiter row, nil for any other line.
func alignments(source []byte, line text.Segment) []string {
	if !bytes.ContainsRune(line.Value(source), '-') {
		return nil
	}
	var out []string
	for _, cell := range cells(source, line) {
		mark := source[cell.Start:cell.Stop]
		if !delimiterCell().Match(mark) {
			return nil
		}
		out = append(out, map[[2]bool]string{{true, true}: "center", {true, false}: "left", {false, true}: "right"}[[2]bool{mark[0] == ':', mark[len(mark)-1] == ':'}])
	}
	return out
}
