package report

import (
	"bytes"
	"strings"
)

// recordsBelow is the width of a terminal below which every table is written as
// records, so that a screen does not change its form with the length of a value.
const recordsBelow = 100

// minText is the narrowest that a column becomes for the sake of the others.
const minText = 24

// columnGap stands between columns, and between the fields of a record.
const columnGap = "  "

// table writes a table as aligned columns. On a terminal it leaves out columns
// that have nothing in them, and writes records where it is narrow or the columns
// do not fit.
func (t *terminal) table(table *Table) {
	grid := table.layout(t.root)
	if t.width > 0 {
		grid = grid.withoutEmpty()
	}
	if len(grid.columns) == 0 {
		return
	}
	widths := grid.widths()
	if t.width > 0 {
		var fits bool
		if widths, fits = grid.narrow(widths, t.width); !fits {
			t.records(grid)
			return
		}
	}
	head, rule := make([]string, len(widths)), make([]string, len(widths))
	for i, c := range grid.columns {
		head[i], rule[i] = c.Name, strings.Repeat("-", widths[i])
	}
	t.row(grid.columns, widths, head, func(int) string { return bold })
	t.row(grid.columns, widths, rule, func(int) string { return dim })
	for _, row := range grid.rows {
		t.row(grid.columns, widths, row.cells, func(column int) string {
			if column == 0 && grid.judged {
				return shownAs[row.status].color
			}
			return ""
		})
	}
}

// row writes the cells of one row on as many lines as the longest needs.
func (t *terminal) row(columns []Column, widths []int, cells []string, color func(column int) string) {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, cell := range cells {
		limit := widths[i]
		if t.width == 0 {
			limit = 0
		}
		wrapped[i] = wrap(cell, limit, limit)
		height = max(height, len(wrapped[i]))
	}
	for n := range height {
		var b strings.Builder
		for i := range cells {
			text := ""
			if n < len(wrapped[i]) {
				text = wrapped[i][n]
			}
			if i > 0 {
				b.WriteString(columnGap)
			}
			padding := strings.Repeat(" ", max(widths[i]-Columns(text), 0))
			if columns[i].Right {
				b.WriteString(padding)
				padding = ""
			}
			b.WriteString(t.paint(color(i), text))
			b.WriteString(padding)
		}
		t.line(b.String())
	}
}

// records writes each row as its names and values, as many on a line as fit, the
// first line less indented than the others. A value longer than a line gets lines
// of its own; an empty one is left out. Records of more than two lines are set
// apart.
func (t *terminal) records(grid grid) {
	records := make([][]byte, len(grid.rows))
	apart := false
	for n, row := range grid.rows {
		own := &terminal{color: t.color, width: t.width, root: t.root}
		own.record(grid, row)
		records[n] = own.out.Bytes()
		apart = apart || bytes.Count(records[n], []byte("\n")) > 2
	}
	for n, record := range records {
		if n > 0 && apart {
			t.line("")
		}
		t.out.Write(record)
	}
}

func (t *terminal) record(grid grid, row gridRow) {
	const further = "  "
	indent, line, used := "", "", 0
	flush := func() {
		if line != "" {
			t.line(line)
			indent, line, used = further, "", 0
		}
	}
	for i, cell := range row.cells {
		if cell == "" {
			continue
		}
		name, color := grid.columns[i].Name, ""
		switch {
		case i == 0 && grid.judged:
			name, color = "", shownAs[row.status].color
		case name != "":
			name += ": "
		}
		width := Columns(name) + Columns(cell)
		if used > 0 && used+len(columnGap)+width > t.width {
			flush()
		}
		switch {
		case used > 0:
			line += columnGap
			used += len(columnGap)
		case len(indent)+width > t.width:
			first := indent + t.paint(dim, name)
			if Columns(name) > t.width/2 {
				t.wrapped(indent, further, name, dim)
				first = further + further
			}
			t.wrapped(first, further+further, cell, color)
			indent = further
			continue
		default:
			line, used = indent, len(indent)
		}
		line += t.paint(dim, name) + t.paint(color, cell)
		used += width
	}
	flush()
}

// grid is a table in which every row has a cell for every column, all texts
// are on one line, and the status is a column like the others.
type grid struct {
	columns []Column
	rows    []gridRow
	judged  bool // the first column is the status
}

type gridRow struct {
	status Status
	cells  []string
}

func (table *Table) layout(root string) grid {
	columns := len(table.Columns)
	judged := false
	for _, row := range table.Rows {
		columns = max(columns, len(row.Cells))
		judged = judged || row.Status != None
	}
	g := grid{judged: judged, rows: make([]gridRow, 0, len(table.Rows))}
	if judged {
		g.columns = append(g.columns, Column{Name: "Result"})
	}
	for i := range columns {
		column := Column{}
		if i < len(table.Columns) {
			column = table.Columns[i]
			column.Name = OneLine(column.Name)
		}
		g.columns = append(g.columns, column)
	}
	for _, row := range table.Rows {
		cells := make([]string, 0, len(g.columns))
		if judged {
			cells = append(cells, row.Status.label())
		}
		for i := range columns {
			text := ""
			if i < len(row.Cells) {
				text = OneLine(row.Cells[i].show(root))
			}
			cells = append(cells, text)
		}
		g.rows = append(g.rows, gridRow{row.Status, cells})
	}
	return g
}

// withoutEmpty is the grid without the columns in which no row has anything.
func (g grid) withoutEmpty() grid {
	filled := make([]bool, len(g.columns))
	for _, row := range g.rows {
		for i, cell := range row.cells {
			filled[i] = filled[i] || cell != ""
		}
	}
	kept := grid{judged: g.judged}
	for i, c := range g.columns {
		if filled[i] {
			kept.columns = append(kept.columns, c)
		}
	}
	for _, row := range g.rows {
		cells := make([]string, 0, len(kept.columns))
		for i, cell := range row.cells {
			if filled[i] {
				cells = append(cells, cell)
			}
		}
		kept.rows = append(kept.rows, gridRow{row.status, cells})
	}
	return kept
}

// narrow limits the widths so that a row is not wider than width, and reports
// whether that is possible: every word stays whole, and the widest column
// readable.
func (g grid) narrow(widths []int, width int) ([]int, bool) {
	if width < recordsBelow {
		return nil, false
	}
	room := width - len(columnGap)*(len(widths)-1)
	if sum(widths) <= room {
		return widths, true
	}
	words := make([]int, len(widths))
	for i, c := range g.columns {
		words[i] = longestWord(c.Name)
	}
	for _, row := range g.rows {
		for i, cell := range row.cells {
			words[i] = max(words[i], longestWord(cell))
		}
	}
	spare := make([]int, len(widths))
	for i := range widths {
		words[i] = max(words[i], min(minText, widths[i]))
		spare[i] = widths[i] - words[i]
	}
	room -= sum(words)
	more := level(spare, max(room, 0))
	for i := range words {
		words[i] += min(spare[i], more)
	}
	return words, room >= 0
}

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

func (g grid) widths() []int {
	widths := make([]int, len(g.columns))
	for i, c := range g.columns {
		widths[i] = Columns(c.Name)
	}
	for _, row := range g.rows {
		for i, cell := range row.cells {
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	return widths
}
