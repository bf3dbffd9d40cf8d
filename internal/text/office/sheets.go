package office

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// readSheets reads a file of Excel: the rows of the sheets that are shown. Formulas are
// not calculated: what counts is what the program that saved the file found.
func readSheets(p *pack, w *writer) error {
	const main = "xl/workbook.xml"
	p.properties("docProps/core.xml", &w.doc)
	targets := p.relations(main)
	type sheet struct{ name, part string }
	var list []sheet
	b := &book{p: p, w: w, epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	err := p.walk(main, visitor{start: func(n node) bool {
		switch n.name {
		case "workbookPr":
			if on := n.attr("date1904"); on == "1" || on == "true" {
				b.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			if state := n.attr("state"); state != "hidden" && state != "veryHidden" {
				for _, a := range n.attrs {
					if a.Name.Local == "id" && a.Name.Space != "" {
						list = append(list, sheet{n.attr("name"), targets[a.Value]})
					}
				}
			}
		}
		return true
	}})
	if err != nil {
		return err
	}
	if p.files["xl/sharedStrings.xml"] != nil {
		if err := b.readStrings(); err != nil {
			return err
		}
	}
	b.readStyles()
	for _, s := range list {
		w.heading(s.name)
		if err := b.readSheet(s.part); err != nil {
			return err
		}
	}
	return nil
}

// book is a workbook.
type book struct {
	p       *pack
	w       *writer
	epoch   time.Time
	strings []string
	formats []cellFormat // by style
}

// cellFormat says how a number is shown.
type cellFormat uint8

const (
	general cellFormat = iota
	percent
	date
)

// readStrings reads the texts of cells. What is written above them, to say how a word is
// read aloud, is left out.
func (b *book) readStrings() error {
	var text strings.Builder
	in, total := false, 0
	err := b.p.walk("xl/sharedStrings.xml", visitor{
		start: func(n node) bool {
			in = n.name == "t"
			return n.name != "rPh" && total < b.w.limit
		},
		text: func(s string) {
			if in {
				text.WriteString(s)
			}
		},
		end: func(name string) {
			in = false
			if name == "si" {
				b.strings = append(b.strings, text.String())
				total += text.Len() + 16
				text.Reset()
			}
		},
	})
	if err == nil && total >= b.w.limit {
		err = errTooLarge
	}
	return err
}

// readStyles reads which cells show percentages and dates.
func (b *book) readStyles() {
	custom, cells := map[string]cellFormat{}, false
	b.p.walk("xl/styles.xml", visitor{start: func(n node) bool {
		switch n.name {
		case "numFmt":
			custom[n.attr("numFmtId")] = formatOf(n.attr("formatCode"))
		case "cellXfs":
			cells = true
		case "cellStyles", "dxfs":
			cells = false
		case "xf":
			if cells && len(b.formats) < 1<<16 {
				id := n.attr("numFmtId")
				format, known := custom[id]
				if number, _ := strconv.Atoi(id); !known {
					switch {
					case number == 9 || number == 10:
						format = percent
					case number >= 14 && number <= 22:
						format = date
					}
				}
				b.formats = append(b.formats, format)
			}
		}
		return true
	}})
}

// formatOf reads the code of a format, without what it quotes.
func formatOf(code string) cellFormat {
	var plain strings.Builder
	quoted, colour := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '[':
			colour = true
		case c == ']':
			colour = false
		case !colour:
			plain.WriteByte(c | 0x20)
		}
	}
	switch text := plain.String(); {
	case strings.Contains(text, "y") || strings.Contains(text, "d") && strings.Contains(text, "m"):
		return date
	case strings.Contains(code, "%"):
		return percent
	}
	return general
}

// sheetReader reads a sheet row by row.
type sheetReader struct {
	b      *book
	table  Table
	cells  []string
	hidden map[int]bool // columns
	looked int          // at columns that may be hidden
	skip   bool         // the open row is hidden
	row    int          // number of the last one with text
	number int          // of the open one
	column int          // of the open cell
	kind   string       // of it
	format cellFormat
	value  strings.Builder
	in     bool // its value is open
	made   bool // by a formula
}

func (b *book) readSheet(part string) error {
	s := &sheetReader{b: b, hidden: map[int]bool{}}
	return b.p.walk(part, visitor{s.start, s.end, func(text string) {
		if s.in {
			s.value.WriteString(text)
		}
	}})
}

func (s *sheetReader) start(n node) bool {
	switch n.name {
	case "col":
		from, _ := strconv.Atoi(n.attr("min"))
		to, _ := strconv.Atoi(n.attr("max"))
		for c := max(1, from); n.attr("hidden") == "1" && c <= min(to, maxColumns) && s.looked < 4*maxColumns; c++ {
			s.hidden[c-1] = true
			s.looked++
		}
	case "row":
		s.cells, s.column = s.cells[:0], -1
		s.skip = n.attr("hidden") == "1" || n.attr("hidden") == "true"
		if s.number++; n.attr("r") != "" {
			s.number, _ = strconv.Atoi(n.attr("r"))
		}
	case "c":
		s.column++
		if place := n.attr("r"); place != "" {
			s.column = columnOf(place)
		}
		s.kind, s.format, s.made = n.attr("t"), general, false
		if style, err := strconv.Atoi(n.attr("s")); err == nil && style >= 0 && style < len(s.b.formats) {
			s.format = s.b.formats[style]
		}
		s.value.Reset()
	case "f":
		s.made = true
	case "v", "t":
		s.in = true
	case "rPh", "extLst":
		return false
	}
	return true
}

func (s *sheetReader) end(name string) {
	switch name {
	case "v", "t":
		s.in = false
	case "c":
		if s.column >= 0 && s.column < maxColumns && !s.skip && !s.hidden[s.column] {
			if text := s.shown(); text != "" {
				for len(s.cells) <= s.column {
					s.cells = append(s.cells, "")
				}
				s.cells[s.column] = text
			}
		}
	case "row":
		if len(s.cells) == 0 && !s.skip {
			return
		}
		if s.number > s.row+1 { // an empty row stands between two tables
			s.table = Table{}
		}
		s.row = s.number
		if len(s.cells) > 0 {
			s.b.w.line(s.table.Row(s.cells))
		}
	}
}

// shown is what a reader sees in the open cell.
func (s *sheetReader) shown() string {
	value := s.value.String()
	switch s.kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(s.b.strings) {
			return s.b.strings[i]
		}
		return ""
	case "b":
		if value == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "str", "inlineStr", "e", "d":
		return value
	}
	if value == "" && s.made {
		return "(not calculated)"
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return value
	}
	switch {
	case s.format == percent:
		return decimal(number*100) + "%"
	case s.format == date && number >= 1 && number < 2_958_466: // the year 9999
		day := s.b.epoch.AddDate(0, 0, int(number))
		if seconds := math.Round((number - math.Floor(number)) * 86_400); seconds > 0 {
			return day.Add(time.Duration(seconds) * time.Second).Format("2006-01-02 15:04")
		}
		return day.Format("2006-01-02")
	}
	return decimal(number)
}

// decimal writes a number with the fifteen digits that such programs keep.
func decimal(number float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(number, 'g', 15, 64), 64)
	if size := math.Abs(rounded); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// columnOf is the column of a place such as B3, counted from 0; -1 where it has none.
func columnOf(place string) int {
	column := 0
	for i := 0; i < len(place) && i < 4; i++ {
		c := place[i]
		if c < 'A' || c > 'Z' {
			break
		}
		column = column*26 + int(c-'A') + 1
	}
	return column - 1
}
