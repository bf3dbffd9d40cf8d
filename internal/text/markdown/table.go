package markdown

import "bytes"

// MaxCells is how many cells a table can have. The rows of a table are filled up to
// the length of the first, so that without a limit a few bytes would make many
// cells.
const MaxCells = 20_000

// tableIn is a paragraph as GitHub's flavour reads it. The first line that has the
// form of a delimiter row, and as many cells as the line above it, makes a table
// of these two and all lines below. The lines above stay a paragraph.
func (d *Document) tableIn(paragraph *Node) []*Node {
	lines := d.linesOf(paragraph.Block)
	for i := 1; i < len(lines); i++ {
		aligns := alignments(d.text, lines[i])
		if aligns == nil || len(aligns) != len(cells(d.text, lines[i-1])) {
			continue
		}
		if len(aligns)*(len(lines)-i) > MaxCells {
			break
		}
		table := &Node{Block: paragraph.Block}
		table.Kind, table.Line = TableBlock, lines[i-1].number
		table.Children = append(table.Children, d.row(lines[i-1], aligns, table.Block))
		for _, line := range lines[i+1:] {
			table.Children = append(table.Children, d.row(line, aligns, table.Block))
		}
		if i == 1 {
			return []*Node{table}
		}
		paragraph.end = paragraph.first + i - 1
		paragraph.last = lines[i-2].number
		table.opened = table.Line
		return []*Node{paragraph, table}
	}
	return []*Node{paragraph}
}

// inTable reports whether the open paragraph ends with a table. One that begins
// with a bracket may be a definition, which is decided later.
func (c *collector) inTable() bool {
	if c == nil || !c.tables {
		return false
	}
	for ; c.scanned < len(c.lines) && !c.table; c.scanned++ {
		aligns := alignments(c.text, c.lines[c.scanned])
		c.table = aligns != nil && len(aligns) == len(cells(c.text, c.lines[c.scanned-1])) &&
			c.text[c.lines[c.lastBlock().first].start] != '['
	}
	return c.table
}

// row is a line of a table. Cells that it lacks are empty, and those beyond the
// first row's are not shown.
func (d *Document) row(line span, aligns []string, table Block) *Node {
	row := &Node{Block: Block{Kind: RowBlock, Line: line.number, Quoted: table.Quoted}}
	cells := cells(d.text, line)
	for i, align := range aligns {
		cell := &Node{Block: table, Align: align}
		cell.Kind, cell.Line, cell.cell = CellBlock, line.number, true
		cell.first, cell.end = len(d.lines), len(d.lines)+1
		if i < len(cells) {
			d.lines = append(d.lines, cells[i])
		} else {
			d.lines = append(d.lines, span{start: line.end, end: line.end, number: line.number})
		}
		row.Children = append(row.Children, cell)
	}
	for _, cell := range cells[min(len(aligns), len(cells)):] {
		row.Cut = row.Cut || cell.start < cell.end
	}
	return row
}

// cells are the parts of a line between its bars. A bar after a backslash is text.
func cells(text []byte, line span) []span {
	line = trimmed(text, line)
	if line.start < line.end && text[line.start] == '|' {
		line.start++
	}
	if line.end > line.start && text[line.end-1] == '|' && text[line.end-2] != '\\' {
		line.end--
	}
	var out []span
	from := line.start
	for at := from; at <= line.end; at++ {
		if at < line.end && (text[at] != '|' || at > 0 && text[at-1] == '\\') {
			continue
		}
		out = append(out, trimmed(text, span{start: from, end: at, number: line.number}))
		from = at + 1
	}
	return out
}

func trimmed(text []byte, s span) span {
	s.start = s.end - len(bytes.TrimLeft(text[s.start:s.end], " \t\v\f"))
	s.end = s.start + len(bytes.TrimRight(text[s.start:s.end], " \t\v\f"))
	return s
}

// alignments are those of a delimiter row, nil for any other line.
func alignments(text []byte, line span) []string {
	if row := text[line.start:line.end]; line.indented || len(row) == 0 || row[0] != '|' && row[0] != ':' && row[0] != '-' {
		return nil
	}
	var out []string
	for _, cell := range cells(text, line) {
		mark := text[cell.start:cell.end]
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(mark, []byte(":")), []byte(":"))
		if len(dashes) == 0 || run(dashes, '-') < len(dashes) {
			return nil
		}
		left, right := mark[0] == ':', mark[len(mark)-1] == ':'
		switch {
		case left && right:
			out = append(out, "center")
		case left:
			out = append(out, "left")
		case right:
			out = append(out, "right")
		default:
			out = append(out, "")
		}
	}
	return out
}
