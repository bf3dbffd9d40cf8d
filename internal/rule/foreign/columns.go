package foreign

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// run is lines that follow each other in one column: a cell of a table, or a paragraph.
type run struct {
	lines []*page.Line
	of    []int // for each line, which one of the report it is part of
	reach
}

// reach is how far something goes from left to right.
type reach struct{ left, right float64 }

func (r reach) over(s reach) bool { return r.left < s.right && s.left < r.right }

func (r reach) and(s reach) reach { return reach{min(r.left, s.left), max(r.right, s.right)} }

func (r *run) top() float64 { return r.lines[0].Base }

func (r *run) bottom() float64 { return r.lines[len(r.lines)-1].Base }

func (r *run) add(s *run) {
	r.lines, r.of, r.reach = append(r.lines, s.lines...), append(r.of, s.of...), r.and(s.reach)
}

// goesOn reports whether a line goes on with the run, below it.
func (r *run) goesOn(l *run, step float64) bool {
	last, next := r.lines[len(r.lines)-1], l.lines[0]
	gap := last.Base - next.Base
	return next.Page == last.Page && gap > 0.2*next.Size && gap < max(1.35*step+0.5, 1.3*next.Size) && rounded(next.Size) == rounded(last.Size) && r.over(l.reach)
}

// beside reports whether a run is the next cell of a row: right of this one, and level with
// it at the top, at the bottom or in the middle.
func (r *run) beside(s *run) bool {
	near := 0.6 * s.lines[0].Size
	return r.lines[0].Page == s.lines[0].Page && s.left > r.right-1 && (math.Abs(r.top()-s.top()) < near || math.Abs(r.bottom()-s.bottom()) < near ||
		math.Abs(r.top()+r.bottom()-s.top()-s.bottom()) < 2*near)
}

// table is one of a printed report.
type table struct {
	rows     [][]*run
	from, to int  // its lines
	header   bool // its first row names the columns
}

// tablesOf finds the tables of a printed report by where their cells stand: rows of cells in
// the same columns, which go on over pages.
func tablesOf(lines []page.Line, step float64) (tables []*table) {
	var runs []*run
	for i := range lines {
		parts := lines[i].Parts
		if parts == nil {
			parts = lines[i : i+1]
		}
		for k := range parts {
			l := &run{[]*page.Line{&parts[k]}, []int{i}, reach{parts[k].Left, parts[k].Right}}
			if n := len(runs) - 1; n >= 0 && runs[n].goesOn(l, step) {
				runs[n].add(l)
			} else {
				runs = append(runs, l)
			}
		}
	}
	var rows [][]*run
	for _, r := range runs {
		if n := len(rows) - 1; n >= 0 && rows[n][len(rows[n])-1].beside(r) {
			rows[n] = append(rows[n], r)
		} else {
			rows = append(rows, []*run{r})
		}
	}
	for len(rows) > 0 {
		t, n := tableOf(rows)
		if t != nil {
			tables = append(tables, t)
		}
		rows = rows[n:]
	}
	return tables
}

// tableOf is the table that begins with the first of some rows, nil where none does, and how
// many of the rows it takes.
func tableOf(rows [][]*run) (t *table, taken int) {
	var columns []reach
	whole := 0
	for k, cells := range rows {
		if len(cells) == 1 && k == 0 || !fits(&columns, cells) || cells[0].lines[0].Size > 1.08*rows[0][0].lines[0].Size {
			break
		}
		if len(cells) > 1 {
			whole++
		}
		if len(cells) > 1 || !cells[0].over(columns[0]) { // a line of one cell below a table is a paragraph
			taken = k + 1
		}
	}
	if whole < 2 || allMarks(rows[:taken]) {
		return nil, 1
	}
	last := rows[taken-1][len(rows[taken-1])-1]
	t = &table{from: rows[0][0].of[0], to: last.of[len(last.of)-1] + 1}
	for _, cells := range rows[:taken] {
		switch n := len(t.rows) - 1; {
		case n >= 0 && !cells[0].over(columns[0]):
			for _, c := range cells { // the last row goes on
				if k := slices.IndexFunc(t.rows[n], func(r *run) bool { return r.over(c.reach) }); k >= 0 {
					t.rows[n][k].add(c)
				} else {
					t.rows[n] = append(t.rows[n], c)
				}
			}
		case n >= 0 && slices.EqualFunc(cells, t.rows[0], same):
			t.header = true // and is repeated on each page
		default:
			t.rows = append(t.rows, slices.Clone(cells))
		}
	}
	t.header = t.header || !slices.ContainsFunc(t.rows[0], func(r *run) bool {
		text := r.lines[len(r.lines)-1].Text
		first, _ := utf8.DecodeRuneInString(r.lines[0].Text)
		return strings.ContainsRune(".!?。！？]", lastRune(text)) || unicode.IsDigit(first) || len(r.lines[0].Links) > 0
	})
	return t, taken
}

func same(r, s *run) bool {
	return slices.EqualFunc(r.lines, s.lines, func(a, b *page.Line) bool { return a.Text == b.Text })
}

// allMarks reports whether the first cells of all rows are what items of a list begin with.
func allMarks(rows [][]*run) bool {
	return !slices.ContainsFunc(rows, func(cells []*run) bool {
		text := cells[0].lines[0].Text
		return len(cells) != 2 || len(text) > 6 || strings.ContainsFunc(text, unicode.IsLetter) || !strings.ContainsRune(".)]"+bullets, lastRune(text))
	})
}

// fits reports whether each cell stands in a column of its own, and lets columns reach as far
// as their cells. The first row makes them; a later one may fill further ones.
func fits(columns *[]reach, cells []*run) bool {
	next := slices.Clone(*columns)
	used := map[int]bool{}
	for _, c := range cells {
		at := -1
		for k, column := range *columns {
			if column.over(c.reach) {
				if at >= 0 || used[k] {
					return false
				}
				at = k
			}
		}
		if at < 0 {
			if len(*columns) > 0 && (len(cells) == 1 || len(used) == 0) {
				return false
			}
			next = append(next, c.reach)
			continue
		}
		used[at], next[at] = true, next[at].and(c.reach)
	}
	*columns = next
	return true
}

// table adds a table: each of its rows is a block.
func (p *printer) table(t *table) {
	p.tables++
	for i, of := range t.rows {
		var list []block
		for _, c := range of {
			for k, l := range c.lines {
				p.cut = k > 0 && p.broken(c.lines[k-1], l, c.right)
				p.add(l, c.of[k])
			}
			list = append(list, p.done())
		}
		kind := row
		if t.header && i == 0 {
			kind = headerRow
		}
		p.take(cells(list, kind, p.tables))
	}
	p.cut = false
}

// broken reports whether a narrow column broke a word at the end of a line, where it had no
// hyphen: a word alone in its line that goes to the edge, of which the report knows only the whole.
func (p *printer) broken(last, next *page.Line, edge float64) bool {
	first, _ := utf8.DecodeRuneInString(next.Text)
	if strings.ContainsAny(last.Text, " -") || !unicode.IsLetter(lastRune(last.Text)) || !unicode.IsLower(first) || page.IsDense(first) || last.Right+last.Size < edge {
		return false
	}
	word, _, _ := strings.Cut(next.Text, " ")
	whole := strings.ToLower(strings.Trim(last.Text+word, "([.,;:)]"))
	return p.words[whole] || !p.words[strings.ToLower(strings.Trim(last.Text, "([.,;:)]"))]
}
