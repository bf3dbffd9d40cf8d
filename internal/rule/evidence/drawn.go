package evidence

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/chart"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// ChartOf reads how a table is drawn, "" where it is not: the mark stands below it, in a
// paragraph of its own or, without an empty line between them, as what Markdown takes for
// the last row. Nodes begin with the table and go on with what stands behind it. Lines
// are those of the rows.
func ChartOf(doc *markdown.Document, nodes []*markdown.Node, language string) (kind chart.Kind, t chart.Table, lines []int) {
	rows := nodes[0].Children
	if last := len(rows) - 1; last > 0 {
		if kind = chartIn(doc, rows[last]); kind != "" {
			rows = rows[:last]
		}
	}
	if kind == "" && len(nodes) > 1 && nodes[1].Kind == markdown.ParagraphBlock {
		kind = leafOf(doc, nodes[1].Block).chart
	}
	t.Language = language
	for i, row := range rows {
		cells := make([]string, len(row.Children))
		for k, cell := range row.Children {
			cells[k] = string(leafOf(doc, cell.Block).text)
		}
		if i == 0 {
			t.Head = cells
		} else {
			t.Rows, lines = append(t.Rows, cells), append(lines, row.Line)
		}
	}
	return kind, t, lines
}

// chartIn is the mark of a chart that a row has in its first cell and nothing else.
func chartIn(doc *markdown.Document, row *markdown.Node) (kind chart.Kind) {
	for i, cell := range row.Children {
		l := leafOf(doc, cell.Block)
		switch {
		case i == 0 && l.chart != "":
			kind = l.chart
		case len(l.text) > 0 || len(l.marks) > 0 || l.chart != "":
			return ""
		}
	}
	return kind
}

// drawn looks whether a table can be drawn as its mark asks for.
func (w *walker) drawn(nodes []*markdown.Node) {
	kind, t, lines := ChartOf(w.doc, nodes, w.facts.Language)
	if kind == "" {
		return
	}
	if _, problem := chart.New(kind, t); problem != nil {
		line := nodes[0].Line
		if problem.Row >= 0 {
			line = lines[problem.Row]
		}
		w.fault(tidegate.FormMixed, line, problem.Change, "the table of line %d cannot be drawn: %s", nodes[0].Line, problem.What)
	}
}
