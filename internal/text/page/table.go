package page

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/net/html/atom"
)

// table is an open table of which rows are written with its header cells, so that each
// says by itself what its cells are.
type table struct {
	headers  []string // by column
	occupied []int    // by column: how many rows a cell of a row before still takes
	open     bool     // a row is open
	from     int      // where it begins in the text
	cells    []tableCell
	gone     []bool // columns that are not drawn
	group    bool   // nor are those of the group that is open
	alone    bool   // the group has no columns of its own yet
}

type tableCell struct {
	at     int // where it begins in the text
	column int
	header bool
}

// The limits on what is kept of a table.
const (
	maxTables    = 16 // inside each other
	maxColumns   = 64
	maxHeaderLen = 80
)

// tableStart takes the start tag of a table or a part of it. Hidden says that it is a cell
// of columns that are not drawn.
func (w *walker) tableStart(e element, a *attributes) (hidden bool) {
	name := e.name
	if name == atom.Table {
		if len(w.tables) < maxTables {
			w.tables = append(w.tables, table{})
		}
		return false
	}
	if len(w.tables) == 0 {
		return false
	}
	t := &w.tables[len(w.tables)-1]
	switch name {
	case atom.Tr:
		w.endRow(t)
		t.open, t.from, t.cells = true, w.out.Len(), t.cells[:0]
	case atom.Td, atom.Th:
		if t.open {
			t.cell(w.out.Len(), name == atom.Th, span(a.colspan), span(a.rowspan))
			from := t.cells[len(t.cells)-1].column
			to := from + span(a.colspan)
			return to <= len(t.gone) && !slices.Contains(t.gone[from:to], false)
		}
	case atom.Colgroup, atom.Col:
		if name == atom.Col && t.alone {
			t.gone = t.gone[:len(t.gone)-1]
		}
		for range span(a.colspan) {
			if len(t.gone) < maxColumns {
				t.gone = append(t.gone, e.effect.Collapses || name == atom.Col && t.group)
			}
		}
		if t.alone = name == atom.Colgroup && span(a.colspan) == 1 && len(t.gone) < maxColumns; name == atom.Colgroup {
			t.group = e.effect.Collapses
		}
	case atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption:
		w.endRow(t)
	}
	return false
}

// tableEnd takes the end tag of a table or a row.
func (w *walker) tableEnd(name atom.Atom) {
	if len(w.tables) == 0 || name != atom.Table && name != atom.Tr {
		return
	}
	w.endRow(&w.tables[len(w.tables)-1])
	if name == atom.Table {
		w.tables = w.tables[:len(w.tables)-1]
	}
}

// span is how many columns or rows a cell takes.
func span(value string) int {
	if n, err := strconv.Atoi(value); err == nil && n > 1 {
		return min(n, maxColumns)
	}
	return 1
}

// cell begins a cell in the next free column.
func (t *table) cell(at int, header bool, columns, rows int) {
	column := 0
	if n := len(t.cells); n > 0 {
		column = t.cells[n-1].column + 1
	}
	for column < len(t.occupied) && t.occupied[column] > 0 {
		column++
	}
	t.cells = append(t.cells, tableCell{at, column, header})
	for i := range columns {
		for len(t.occupied) <= column+i && len(t.occupied) < maxColumns {
			t.occupied = append(t.occupied, 0)
		}
		if column+i < len(t.occupied) {
			t.occupied[column+i] = rows
		}
	}
	t.cells[len(t.cells)-1].column = column
}

// endRow ends the open row: a row of header cells is kept, any other is written with
// them.
func (w *walker) endRow(t *table) {
	if !t.open {
		return
	}
	t.open = false
	for i := range t.occupied {
		t.occupied[i] = max(0, t.occupied[i]-1)
	}
	row := w.out.b[min(t.from, len(w.out.b)):]
	texts, headers := make([][]byte, len(t.cells)), len(t.cells) > 1
	for i, c := range t.cells {
		end := len(w.out.b)
		if i+1 < len(t.cells) {
			end = min(end, t.cells[i+1].at)
		}
		texts[i] = bytes.TrimSpace(w.out.b[min(c.at, end):end])
		headers = headers && c.header
	}
	if headers {
		t.headers = make([]string, min(maxColumns, t.cells[len(t.cells)-1].column+1))
		for i, c := range t.cells {
			if c.column < len(t.headers) {
				t.headers[c.column] = CutBytes(TidySpace(string(texts[i])), maxHeaderLen)
			}
		}
		return
	}
	if len(t.headers) == 0 {
		return
	}
	var b []byte
	if len(row) > 0 && row[0] == '\n' {
		b = append(b, '\n')
	}
	start := len(b)
	for i, c := range t.cells {
		if len(texts[i]) == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, '\t')
		}
		if c.column < len(t.headers) && t.headers[c.column] != "" && !c.header {
			b = append(append(b, t.headers[c.column]...), ": "...)
		}
		b = append(b, texts[i]...)
	}
	w.out.b = append(w.out.b[:min(t.from, len(w.out.b))], b...)
}
