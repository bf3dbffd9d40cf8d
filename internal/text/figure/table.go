package figure

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// tableReader knows what the numbers of a table count where no unit stands beside
// them: the cells above and to the left, or the line before the table, name it. It
// is asked about the numbers of a text in order.
type tableReader struct {
	text      string
	languages []string
	at, end   int // the present line
	rows      int // how many rows of its table were read, this one included
	caption   []unit
	columns   [][]unit // what the rows before name
	cell      int      // where the present cell of the line begins
	column    int      // its number
	row       []unit   // what the cells before it name
}

// The limits on what is kept of a table.
const (
	mostColumns     = 64
	mostColumnUnits = 8
	mostRowUnits    = 16
)

// say adds the readings that a number has with the units of its table.
func (t *tableReader) say(f *Figure) {
	if len(f.Readings) == 0 || f.Readings[0].unit != noUnit {
		return
	}
	for t.end <= f.Start && t.end < len(t.text) || t.end == 0 {
		t.next()
	}
	if t.rows == 0 || f.Start < t.at {
		return
	}
	// Numbers come in the order of the text, so each row is read once.
	for t.cell <= f.Start {
		n := strings.IndexByte(t.text[t.cell:f.Start], '\t')
		if n < 0 {
			break
		}
		if len(t.row) < mostRowUnits {
			t.row = append(t.row, t.unitsBeside(t.text[t.cell:t.cell+n])...)
		}
		t.cell += n + 1
		t.column++
	}
	units := slices.Clone(t.caption)
	if t.column < len(t.columns) {
		units = append(units, t.columns[t.column]...)
	}
	units = append(units, t.row...)
	if t.cell <= f.Start {
		units = append(units, t.unitsBeside(t.text[t.cell:f.Start])...)
	}
	bare := slices.Clone(f.Readings)
	for i, u := range units {
		if slices.Contains(units[:i], u) {
			continue
		}
		for _, q := range bare {
			f.Readings = append(f.Readings, Quantity{q.Value, u})
		}
	}
}

// unitsBeside are the units that a cell without a number names.
func (t *tableReader) unitsBeside(cell string) []unit {
	if strings.ContainsAny(cell, "0123456789") {
		return nil
	}
	return t.unitsIn(cell)
}

// next goes on to the next line.
func (t *tableReader) next() {
	last := t.text[t.at:t.end]
	row := t.rows > 0
	t.at, t.cell, t.column, t.row = t.end, t.end, 0, nil
	if n := strings.IndexByte(t.text[t.at:], '\n'); n >= 0 {
		t.end = t.at + n + 1
	} else {
		t.end = len(t.text)
	}
	if !strings.Contains(t.text[t.at:t.end], "\t") {
		t.rows = 0
		return
	}
	t.rows++
	if !row {
		t.caption, t.columns = nil, nil
		if page.CountWords(last) < page.ProseLine { // a sentence is about something else
			t.caption = t.unitsIn(last)
		}
		return
	}
	i := 0
	for cell := range strings.SplitSeq(last, "\t") {
		if i == len(t.columns) {
			t.columns = append(t.columns, nil)
		}
		if i < mostColumns && len(t.columns[i]) < mostColumnUnits {
			t.columns[i] = append(t.columns[i], t.unitsIn(cell)...)
		}
		if i++; i == mostColumns {
			break
		}
	}
}

// longestHeader is how many bytes of a cell are read for units.
const longestHeader = 200

// unitsIn lists the units that a text names. A single letter is one only in
// brackets.
func (t *tableReader) unitsIn(cell string) (units []unit) {
	cell = page.CutBytes(cell, longestHeader)
	for at := 0; at < len(cell); {
		names, ends := phraseAt(cell, at, 3)
		if len(names) == 0 {
			_, size := utf8.DecodeRuneInString(cell[at:])
			at += size
			continue
		}
		next := ends[0]
		for n := len(names); n > 0; n-- {
			name := strings.TrimSuffix(strings.Join(names[:n], " "), ".")
			u, found := signs()[name]
			if !found {
				u, found = unitWords().of(strings.ToLower(name), t.languages)
			}
			if found && (len(name) > 1 || !isLetter(name[0]) || strings.HasSuffix(cell[:at], "(") || strings.HasSuffix(cell[:at], "[")) {
				units, next = append(units, u), ends[n-1]
				break
			}
		}
		at = next
	}
	return units
}
