package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Text writes title, blocks and, last, the summary, where a reader's eye is
// when a long report has scrolled by. With a width, everything but preformatted
// text is wrapped to it between words and nothing is cut; a table that does not
// fit becomes one record per row. Without a width a row is a line. All
// content passes through [Visible], and no line begins with the "::" of a
// workflow command, because CI logs obey it. A report of one preformatted text
// and nothing else is a document: it stands at the left margin, so that it can
// be kept as a file. It fails only when w does, with WRITE_FAILED.
func Text(w io.Writer, r Report, o Options) error {
	t := &terminal{color: o.Color, width: o.Width, root: o.Root}
	if t.width > 0 {
		t.width = max(t.width, minWidth)
	}
	if document, ok := r.document(); ok {
		for line := range strings.Lines(Visible(string(document))) {
			t.asIs(strings.TrimSuffix(line, "\n"))
		}
		return deliver(w, t.out.Bytes())
	}
	if r.OutcomeFirst {
		t.outcome(r)
	}
	if title := OneLine(r.Title); title != "" {
		t.gap()
		t.wrapped("", "", title, bold)
	}
	for _, b := range r.Blocks {
		t.gap()
		switch b := b.(type) {
		case Heading:
			t.wrapped("", "", OneLine(string(b)), bold)
			t.tight = true
		case Paragraph:
			t.wrapped("", "", Visible(string(b)), "")
		case Fields:
			t.fields(b)
		case Bullets:
			for _, item := range b {
				t.wrapped("- ", "  ", OneLine(item), "")
			}
		case Preformatted:
			for line := range strings.Lines(Visible(string(b))) {
				t.line("  " + strings.TrimSuffix(line, "\n"))
			}
		case *Table:
			t.table(b)
		case Findings:
			t.cases(r.Cases)
		}
	}
	if !r.OutcomeFirst {
		t.outcome(r)
	}
	return deliver(w, t.out.Bytes())
}

func (t *terminal) outcome(r Report) {
	if summary := joinNonEmpty("  ", r.Status.label(), OneLine(r.Summary)); summary != "" {
		t.tight = false
		t.gap()
		t.wrapped("", "", summary, shownAs[r.Status].color)
	}
}

// document is the text of a report that consists of nothing else.
func (r Report) document() (Preformatted, bool) {
	if len(r.Blocks) != 1 || r.Title != "" || r.Summary != "" || r.Status != None {
		return "", false
	}
	text, ok := r.Blocks[0].(Preformatted)
	return text, ok
}

// minWidth keeps layouts legible on absurdly narrow terminals.
const minWidth = 20

// The colours. Each repeats what a mark or a word says already.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// terminal collects the lines of a text report.
type terminal struct {
	out   bytes.Buffer
	color bool
	width int
	root  string
	tight bool // the next block follows its heading directly
}

// gap separates blocks by one empty line.
func (t *terminal) gap() {
	if t.out.Len() > 0 && !t.tight && !bytes.HasSuffix(t.out.Bytes(), []byte("\n\n")) {
		t.out.WriteByte('\n')
	}
	t.tight = false
}

// line writes one line of text that is visible already, and colours that are ours.
func (t *terminal) line(s string) { t.asIs(strings.TrimRight(s, " ")) }

// asIs is line for text whose blanks at the end matter.
func (t *terminal) asIs(s string) {
	if text := strings.TrimLeft(s, " "); strings.HasPrefix(text, "::") {
		s = s[:len(s)-len(text)] + `\` + text
	}
	t.out.WriteString(s)
	t.out.WriteByte('\n')
}

func (t *terminal) paint(color, s string) string {
	if !t.color || color == "" || s == "" {
		return s
	}
	return color + s + plain
}

// wrapped writes each line of text wrapped to the width, the first one prefixed
// with first and all others with indent.
func (t *terminal) wrapped(first, indent, text, color string) {
	for line := range strings.SplitSeq(text, "\n") {
		if t.width > 0 && t.width-TerminalColumns(first) < minWidth/2 {
			t.line(first)
			first = indent
		}
		for _, part := range wrap(line, t.room(first), t.room(indent)) {
			t.line(first + t.paint(color, part))
			first = indent
		}
	}
}

// room is what is left of the width after an indent.
func (t *terminal) room(indent string) int {
	if t.width == 0 {
		return 0
	}
	return max(t.width-TerminalColumns(indent), minWidth/2)
}

// TerminalColumns is [Columns] of a line that [Text] wrote, which may have colours.
func TerminalColumns(s string) int {
	for _, color := range []string{bold, dim, red, green, yellow, plain} {
		s = strings.ReplaceAll(s, color, "")
	}
	return Columns(s)
}

// fields aligns the values. A value with a word that does not fit beside the names
// stands below its own name, and all values do where the names take more than half
// of the width. On a terminal fields without a value are left out.
func (t *terminal) fields(fields Fields) {
	if t.width > 0 {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Mark == None && OneLine(f.Value) == "" })
	}
	names := make([]string, len(fields))
	widest := 0
	for i, f := range fields {
		names[i] = OneLine(f.Name) + ":"
		widest = max(widest, Columns(names[i]))
	}
	indent := strings.Repeat(" ", widest+2)
	for i, f := range fields {
		value := joinNonEmpty("  ", f.Mark.label(), OneLine(f.Value))
		if t.width > 0 && (widest > t.width/2 || longestWord(value) > t.room(indent)) {
			t.wrapped("", "  ", names[i], dim)
			t.wrapped("    ", "    ", value, shownAs[f.Mark].color)
			continue
		}
		t.wrapped(t.paint(dim, names[i])+indent[Columns(names[i]):], indent, value, shownAs[f.Mark].color)
	}
}

// cases shows what [Findings] stands for.
func (t *terminal) cases(cases []Case) {
	for _, c := range cases {
		if !c.telling() {
			continue
		}
		head := joinNonEmpty("  ", OneLine(c.Name), OneLine(relative(t.root, c.File)), OneLine(c.Note))
		if label := c.Status.label(); label != "" {
			t.wrapped(t.paint(shownAs[c.Status].color, label)+"  ", "  ", head, "")
		} else {
			t.wrapped("", "  ", head, "")
		}
		for _, f := range c.Findings {
			t.finding(c, f)
		}
	}
}

func (t *terminal) finding(c Case, f Finding) {
	file := f.File
	if file == "" && f.Line > 0 {
		file = c.File
	}
	l := f.Level.known()
	place := Place{file, f.Line}.show(t.root)
	head := joinNonEmpty("  ", OneLine(f.ruleID()), parenthesised(OneLine(f.Category)), OneLine(place))
	t.wrapped("  "+t.paint(levelShownAs[l].color, OneLine(f.matters()))+"  ", "    ", head, "")
	if title := OneLine(f.Title); title != "" {
		t.wrapped("    ", "    ", title, bold)
	}
	if facts := f.facts(); facts != "" {
		t.wrapped("    ", "    ", facts, dim)
	}
	if message := strings.TrimSpace(Visible(f.Message)); message != "" {
		t.wrapped("    ", "    ", message, "")
	}
	if help := strings.TrimSpace(Visible(strings.ReplaceAll(f.Help, "\t", "    "))); help != "" {
		t.wrapped("    → ", "      ", help, "")
	}
}

// telling holds for a case that people are shown: it has a finding, or it did
// not pass.
func (c Case) telling() bool {
	return len(c.Findings) > 0 || c.Status == Fail || c.Status == Warn || c.Status == Skip
}

// parenthesised is "" for an empty text.
func parenthesised(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func joinNonEmpty(separator string, parts ...string) string {
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// recordsBelow is the width of a terminal below which a table that does not fit as it is is
// written as records.
const recordsBelow = 100

// minText is the narrowest that a column becomes for the sake of the others.
const minText = 24

// columnGap stands between columns, and between the fields of a record.
const columnGap = "  "

// table writes a table as aligned columns. On a terminal it leaves out columns
// that have nothing in them, and writes records where the columns do
// not fit.
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
// readable. On a narrow terminal no column becomes narrower.
func (g grid) narrow(widths []int, width int) ([]int, bool) {
	room := width - len(columnGap)*(len(widths)-1)
	if sum(widths) <= room {
		return widths, true
	}
	if width < recordsBelow {
		return nil, false
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
