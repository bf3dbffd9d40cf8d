package paper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/chart"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// drawnTable is a table that its author asks to be drawn.
type drawnTable struct {
	*chart.Chart // nil where it is not drawn
	id           string
	words        chart.Words
	why          string // it is not drawn
}

// drawTables finds the tables that are drawn, and leaves the marks that ask for it out of the
// text. A number is drawn where the sentence of its row was checked and stands.
func (l *layout) drawTables(part *layoutPart, blocks []*draft.Block, checked bool) {
	for i, b := range blocks {
		l.drawTables(part, b.Children, checked)
		if b.Kind != markdown.TableBlock {
			continue
		}
		nodes := []*markdown.Node{b.Node}
		if i+1 < len(blocks) {
			nodes = append(nodes, blocks[i+1].Node)
		}
		kind, table, _ := evidence.ChartOf(part.doc.Markdown, nodes, l.Language)
		if kind == "" {
			continue
		}
		if rows := b.Children; len(rows) > len(table.Rows)+1 {
			part.left[rows[len(rows)-1]] = true
		} else {
			part.left[blocks[i+1]] = true
		}
		l.drawn = append(l.drawn, l.drawTable(part, b, kind, table, leadIn(blocks[:i]), checked))
		part.charts[b] = l.drawn[len(l.drawn)-1]
	}
}

func (l *layout) drawTable(part *layoutPart, b *draft.Block, kind chart.Kind, table chart.Table, title string, checked bool) *drawnTable {
	d := &drawnTable{id: "chart-" + strconv.Itoa(len(l.drawn)+1), words: chart.Words{Title: shownText(title)}}
	if !checked {
		d.why = l.say("The table is not drawn, because its numbers were not checked.")
		return d
	}
	var refs []*reference
	cite := func(row *draft.Block) {
		for _, cell := range row.Children {
			for _, place := range l.citations(cell.Leaf) {
				for _, ref := range place.refs {
					if !slices.Contains(refs, ref) {
						refs = append(refs, ref)
					}
				}
			}
		}
	}
	left := 0
	cite(b.Children[0])
	table = table.Without(func(row int) bool {
		cells := b.Children[row+1]
		if doubted(part, cells) {
			left++
			return true
		}
		cite(cells)
		return false
	})
	c, problem := chart.New(kind, table)
	if problem != nil {
		d.why = "The table is not drawn: " + problem.What + "."
		if !l.english() {
			d.why = l.say("The table cannot be drawn as a chart.")
		}
		return d
	}
	d.Chart = c
	if d.words.Title == "" {
		d.words.Title = shownText(c.Title())
	}
	if left > 0 {
		d.words.Note = l.say("Rows that are not drawn, because they are not confirmed: %d", left)
	}
	d.words.Sources = l.sourceLine(refs)
	return d
}

// doubted reports whether a row is not confirmed, or was not checked.
func doubted(part *layoutPart, row *draft.Block) bool {
	for _, cell := range row.Children {
		for _, run := range part.on[cell] {
			return run.Doubted
		}
	}
	return true
}

// leadIn is the text right before a table that introduces it, without its colon.
func leadIn(before []*draft.Block) string {
	if len(before) == 0 || before[len(before)-1].Kind != markdown.ParagraphBlock {
		return ""
	}
	lines := strings.Split(string(draft.Runes(before[len(before)-1].Glyphs)), ". ")
	text, found := strings.CutSuffix(strings.TrimSpace(lines[len(lines)-1]), ":")
	if !found || strings.Contains(text, "[") {
		return ""
	}
	return text
}

// sourceLine names the sources of a chart.
func (l *layout) sourceLine(refs []*reference) string {
	if len(refs) == 0 {
		return ""
	}
	slices.SortFunc(refs, func(a, b *reference) int { return a.number - b.number })
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = fmt.Sprintf("%s [%d]", ref.name(), ref.number)
	}
	return l.say("Sources") + ": " + strings.Join(names, "; ")
}

// svg is the chart as a file.
func (d *drawnTable) svg() []byte { return d.SVG(d.words, d.id, true) }

// File is a file that belongs to a report.
type File struct {
	Name string
	Data []byte
}
