package report

import "fmt"

// Block is one part of what people read: [Heading], [Paragraph], [Fields],
// [*Table], [Bullets], [Preformatted] or [Findings].
type Block interface{ block() }

// Heading opens a group of blocks. One line.
type Heading string

// Paragraph is running text. Line ends are kept.
type Paragraph string

// Fields are names with values, one per line.
type Fields []Field

// Field is one line of [Fields]. A Mark other than None is shown before the value.
type Field struct {
	Name  string
	Value string
	Mark  Status
}

// Bullets is a list of items, one line each.
type Bullets []string

// Preformatted is text whose line ends and blanks matter, such as a command to
// copy.
type Preformatted string

// Findings stands where people see the report's cases: every finding, and every
// case that did not pass and has no finding.
type Findings struct{}

// Table has columns and rows. When any row has a status, the table shows it in
// a first column of its own.
type Table struct {
	Columns []Column
	Rows    []Row
}

// Column is the head of a column.
type Column struct {
	Name  string
	Right bool // numbers: aligned right
}

// Row is one line of a [Table].
type Row struct {
	Status Status
	Cells  []Cell
}

// Cell is a text or a place in a file.
type Cell struct {
	Text  string
	Place Place // shown instead of Text when it names a file
}

// Place is a line in a file; a Line below 1 means the file as a whole. Writers
// show the file relative to [Options].Root.
type Place struct {
	File string
	Line int
}

func (Heading) block()      {}
func (Paragraph) block()    {}
func (Fields) block()       {}
func (Bullets) block()      {}
func (Preformatted) block() {}
func (Findings) block()     {}
func (*Table) block()       {}

// NewTable makes a table of left-aligned columns; a name that begins with ">"
// is a right-aligned one: NewTable("Perspective", ">Words").
func NewTable(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		c := Column{Name: name}
		if len(name) > 0 && name[0] == '>' {
			c = Column{Name: name[1:], Right: true}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Row appends a row. A [Place] or a [Cell] is taken as it is; everything else is
// printed as fmt.Sprint does. A row may be shorter or longer than the head.
func (t *Table) Row(status Status, cells ...any) {
	row := Row{Status: status, Cells: make([]Cell, 0, len(cells))}
	for _, cell := range cells {
		switch c := cell.(type) {
		case Cell:
			row.Cells = append(row.Cells, c)
		case Place:
			row.Cells = append(row.Cells, Cell{Place: c})
		case string:
			row.Cells = append(row.Cells, Cell{Text: c})
		default:
			row.Cells = append(row.Cells, Cell{Text: fmt.Sprint(c)})
		}
	}
	t.Rows = append(t.Rows, row)
}
