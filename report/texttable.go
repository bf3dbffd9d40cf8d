package report

import (
	"slices"
	"strings"
)

// minColumn is the width below which a column is not narrowed further; a table
// with more columns than that allows is written as one record per row.
const minColumn = 8

// minText is the width below which a table does not press its widest column for
// the sake of whole words in the others.
const minText = 16

// columnGap stands between columns.
const columnGap = "  "

// table writes a table as aligned columns. Cells that are too wide for the
// terminal go on below themselves, so that nothing is cut.
func (t *terminal) table(table *Table) {
	grid := table.layout(t.root)
	if len(grid.columns) == 0 {
		return
	}
	widths := grid.widths()
	if t.width > 0 {
		room := t.width - len(columnGap)*(len(widths)-1)
		limit := level(widths, room)
		if limit < slices.Max(widths) && limit < minColumn {
			t.records(grid)
			return
		}
		widths = grid.narrow(widths, room, limit)
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
				return statusColor(row.status)
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
			padding := strings.Repeat(" ", max(widths[i]-runes(text), 0))
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

// records writes each row as lines of name and value, without the empty ones.
func (t *terminal) records(grid grid) {
	for n, row := range grid.rows {
		if n > 0 {
			t.line("")
		}
		for i, cell := range row.cells {
			if cell == "" {
				continue
			}
			color := ""
			if i == 0 && grid.judged {
				color = statusColor(row.status)
			}
			name := firstOf(grid.columns[i].Name, "-") + ":"
			if runes(name) > t.width/2 {
				t.wrapped("", "", name, dim)
				t.wrapped("  ", "  ", cell, color)
			} else {
				t.wrapped(t.paint(dim, name)+" ", "  ", cell, color)
			}
		}
	}
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
			column.Name = oneLine(column.Name)
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
				text = oneLine(row.Cells[i].show(root))
			}
			cells = append(cells, text)
		}
		g.rows = append(g.rows, gridRow{row.Status, cells})
	}
	return g
}

// narrow limits the widths to room. Columns keep their longest words whole, as
// far as the widest column stays readable; else all are limited alike.
func (g grid) narrow(widths []int, room, limit int) []int {
	words := make([]int, len(widths))
	look := func(column int, cell string) {
		for word := range strings.FieldsSeq(cell) {
			words[column] = max(words[column], runes(word))
		}
	}
	for i, c := range g.columns {
		look(i, c.Name)
	}
	for _, row := range g.rows {
		for i, cell := range row.cells {
			look(i, cell)
		}
	}
	spare := make([]int, len(widths))
	for i := range widths {
		words[i] = min(max(words[i], minColumn), widths[i])
		spare[i] = widths[i] - words[i]
		room -= words[i]
	}
	more := level(spare, max(room, 0))
	for i := range words {
		words[i] += min(spare[i], more)
	}
	widest := slices.Index(widths, slices.Max(widths))
	if room >= 0 && words[widest] >= min(minText, widths[widest]) {
		return words
	}
	for i := range widths {
		widths[i] = min(widths[i], limit)
	}
	return widths
}

func (g grid) widths() []int {
	widths := make([]int, len(g.columns))
	for i, c := range g.columns {
		widths[i] = runes(c.Name)
	}
	for _, row := range g.rows {
		for i, cell := range row.cells {
			widths[i] = max(widths[i], runes(cell))
		}
	}
	return widths
}
