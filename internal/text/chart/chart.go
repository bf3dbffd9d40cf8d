package chart

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate/internal/text/figure"
)

// Kind is how a table is drawn.
type Kind string

// The kinds.
const (
	Bar  Kind = "bar"
	Line Kind = "line"
)

// Table is what is drawn: header cells, and rows with as many cells. The first column
// has the labels.
type Table struct {
	Head     []string
	Rows     [][]string
	Language string // in two letters, by which numbers are written; "" for English
}

// Chart is a table that can be drawn.
type Chart struct {
	kind     Kind
	language string
	labels   []string
	at       []float64 // places of labels that are years or numbers, in a line chart; nil for equal steps
	series   []series
	unit     string
	low      float64 // the smallest number, or 0
	high     float64 // likewise the largest
}

type series struct {
	name   string
	values []value
}

type value struct {
	text   string // as the cell has it, "" for an empty one
	number float64
}

// The most that a chart has: more cannot be read.
const (
	maxBars   = 30 // rows
	maxPoints = 80
	maxSeries = 6
)

// The size of the numbers that are drawn, beyond which floating point loses digits.
const (
	smallest = 1e-9
	largest  = 1e15
)

// Problem is why a table cannot be drawn, and what to change. Row counts from 0 in the
// rows of the table; it is -1 where the problem is the table's as a whole.
type Problem struct {
	Row          int
	What, Change string
}

// New reads the numbers of a table. Of each column either all filled cells are numbers of
// one unit, or none is: such a column is not drawn.
func New(kind Kind, t Table) (*Chart, *Problem) {
	c := &Chart{kind: kind, language: t.Language}
	most := maxBars
	if kind == Line {
		most = maxPoints
	}
	switch {
	case len(t.Rows) < 2:
		return nil, &Problem{-1, "it has fewer than two rows", "Draw a table with at least two rows, or take the mark out."}
	case len(t.Rows) > most:
		return nil, &Problem{-1, "it has too many rows to be read as a chart", "Draw fewer rows, or take the mark out."}
	}
	for _, row := range t.Rows {
		c.labels = append(c.labels, cell(row, 0))
	}
	units := map[string]bool{}
	for column := 1; column < len(t.Head); column++ {
		s, unit, problem := readColumn(t, column)
		if problem != nil {
			return nil, problem
		}
		if s == nil {
			continue
		}
		units[strings.ToLower(unit)] = true
		if c.series = append(c.series, *s); len(units) > 1 {
			return nil, &Problem{-1, "its columns have different units", "Draw one unit in one chart: put the other columns into a table of their own."}
		}
		c.unit = unit
	}
	switch {
	case len(c.series) == 0:
		return nil, &Problem{-1, "no column behind the first has numbers", "Put labels into the first column and numbers into the others, or take the mark out."}
	case len(c.series) > maxSeries:
		return nil, &Problem{-1, "it has more than six columns of numbers", "Draw fewer columns, or take the mark out."}
	}
	for _, s := range c.series {
		for _, v := range s.values {
			c.low, c.high = min(c.low, v.number), max(c.high, v.number)
		}
	}
	if c.high-c.low == 0 {
		return nil, &Problem{-1, "all its numbers are zero", "Take the mark out."}
	}
	if kind == Line {
		return c, c.place()
	}
	return c, nil
}

// Without leaves out rows, whose numbers are not shown.
func (t Table) Without(leaveOut func(row int) bool) Table {
	var rows [][]string
	for i, row := range t.Rows {
		if !leaveOut(i) {
			rows = append(rows, row)
		}
	}
	t.Rows = rows
	return t
}

func cell(row []string, column int) string {
	if column >= len(row) {
		return ""
	}
	return markdown.OneLine(row[column])
}

// readColumn reads a column, nil for one without numbers.
func readColumn(t Table, column int) (*series, string, *Problem) {
	name, unit := unitOf(cell(t.Head, column))
	s := &series{name: name}
	numbers, other, differs, found := 0, -1, -1, ""
	for i, row := range t.Rows {
		text := cell(row, column)
		if isEmpty(text) {
			s.values = append(s.values, value{})
			continue
		}
		number, its, ok := readNumber(text, t.Language)
		if !ok {
			other = i
			continue
		}
		if numbers++; numbers == 1 {
			found = its
		} else if !strings.EqualFold(its, found) {
			differs = i
		}
		s.values = append(s.values, value{text, number})
	}
	switch {
	case numbers == 0:
		return nil, "", nil
	case other >= 0:
		return nil, "", &Problem{other, "its column " + quoted(cell(t.Head, column)) + " has numbers, and " + quoted(cell(t.Rows[other], column)) + " is none",
			"Write one number with its unit into each cell of a column that is drawn, or leave the cell empty."}
	case differs >= 0:
		return nil, "", &Problem{differs, "the unit of " + quoted(cell(t.Rows[differs], column)) + " is another than above it",
			"Write all numbers of a column in the same unit."}
	}
	if found != "" {
		unit = strings.TrimSpace(found)
	}
	return s, unit, nil
}

// unitOf takes the unit out of a header cell: what stands in brackets at its end.
func unitOf(head string) (name, unit string) {
	open := strings.LastIndexByte(head, '(')
	if open <= 0 || !strings.HasSuffix(head, ")") {
		return head, ""
	}
	return strings.TrimSpace(head[:open]), strings.TrimSpace(head[open+1 : len(head)-1])
}

// isEmpty holds for a cell without a number on purpose.
func isEmpty(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "–", "—", "…", "...", "n/a", "n.a.", "?", "k. a.", "k.a.":
		return true
	}
	return false
}

// readNumber reads a cell that has one number: perhaps a word that says how exact it is,
// a sign, a currency, the number with its magnitude, and its unit.
func readNumber(text, language string) (number float64, unit string, ok bool) {
	rest := text
	for _, word := range []string{"about ", "around ", "some ", "approx. ", "ca. ", "circa ", "rund ", "etwa ", "environ ", "~", "≈", "c. "} {
		if len(rest) > len(word) && strings.EqualFold(rest[:len(word)], word) {
			rest = strings.TrimSpace(rest[len(word):])
			break
		}
	}
	sign := 1.0
	takeSign := func() {
		for _, minus := range []string{"-", "−", "–", "+"} {
			if after, found := strings.CutPrefix(rest, minus); found {
				rest = strings.TrimSpace(after)
				if minus != "+" {
					sign = -1
				}
			}
		}
	}
	takeSign()
	before := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.Is(unicode.Sc, r) || unicode.IsUpper(r) || r == ' ' || r == '\u00a0' }))]
	if currency := strings.TrimSpace(before); currency != "" {
		if first, size := utf8.DecodeRuneInString(currency); !(unicode.Is(unicode.Sc, first) && len(currency) == size) && utf8.RuneCountInString(currency) != 3 {
			return 0, "", false
		}
		unit = currency
		rest = rest[len(before):]
		takeSign()
	}
	if language == "" {
		language = "en"
	}
	w, ok := figure.ReadWritten(rest, language)
	if !ok || strings.ContainsFunc(rest[w.Len:], unicode.IsDigit) {
		return 0, "", false
	}
	for _, digits := range []string{w.Whole, w.Fraction} {
		for _, d := range digits {
			number = float64(number*10) + float64(d-'0')
		}
	}
	for power := w.Power - len(w.Fraction); power != 0; {
		if power > 0 {
			number = float64(number * 10)
			power--
		} else {
			number = float64(number / 10)
			power++
		}
	}
	behind := strings.TrimSpace(rest[w.Len:])
	if w.Percent {
		behind = "%" + behind
	}
	if utf8.RuneCountInString(behind) > 24 || number > largest || number != 0 && number < smallest {
		return 0, "", false
	}
	return float64(sign * number), strings.TrimSpace(unit + " " + behind), true
}

// place finds where the points of a line stand: labels that are all years or numbers
// stand in their distance, and must rise.
func (c *Chart) place() *Problem {
	var at []float64
	for _, label := range c.labels {
		number, _, ok := readNumber(label, c.language)
		if !ok {
			return nil
		}
		if n := len(at); n > 0 && number <= at[n-1] {
			return &Problem{len(at), quoted(label) + " is not above the label before it", "Sort the rows by their first column, each label once."}
		}
		at = append(at, number)
	}
	c.at = at
	return nil
}

func quoted(text string) string {
	if utf8.RuneCountInString(text) > 40 {
		text = string([]rune(text)[:40]) + "…"
	}
	return "“" + text + "”"
}
