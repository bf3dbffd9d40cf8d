package office

import (
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// writer takes the text of a document, in lines.
type writer struct {
	doc   Document
	b     strings.Builder
	limit int
	full  bool // the limit ended the text
}

// line adds a line of text with no blanks at its ends; an empty one counts for nothing.
func (w *writer) line(text string) {
	if text = tidy(text); text == "" {
		return
	}
	if w.b.Len()+len(text) >= w.limit {
		w.full = true
		return
	}
	w.b.WriteString(text)
	w.b.WriteByte('\n')
}

// heading adds a heading.
func (w *writer) heading(text string) {
	at := w.b.Len()
	if w.line(text); w.b.Len() > at && len(w.doc.Headings) < maxHeadings {
		w.doc.Headings, w.doc.Places = append(w.doc.Headings, tidy(text)), append(w.doc.Places, at)
	}
}

// tidy makes blanks of white space, one for each run of it, and keeps tabs between
// cells and line ends.
func tidy(text string) string {
	var b strings.Builder
	var gap rune
	for _, r := range text {
		switch {
		case r == '\n':
			gap = '\n'
		case r == '\t' && gap != '\n':
			gap = '\t'
		case unicode.IsSpace(r):
			if gap == 0 {
				gap = ' '
			}
		case unicode.IsControl(r):
		default:
			if gap != 0 && b.Len() > 0 {
				b.WriteRune(gap)
			}
			gap = 0
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Table writes the rows of a table as lines that say by themselves what their cells
// are: below a header, each cell stands with its header cell. The first row is a header
// where it has at least two cells and none of them is a number.
type Table struct {
	headers []string
	begun   bool
}

// Row is the line of a row, "" for one without text. A cell of a column without a header
// stands alone.
func (t *Table) Row(cells []string) string {
	filled, header := 0, true
	for i := range cells {
		if cells[i] = markdown.OneLine(cells[i]); cells[i] != "" {
			filled++
			header = header && !isNumber(cells[i])
		}
	}
	if filled == 0 {
		return ""
	}
	var b strings.Builder
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\t')
		}
		if i < len(t.headers) && t.headers[i] != "" {
			b.WriteString(t.headers[i] + ": ")
		}
		b.WriteString(cell)
	}
	if !t.begun && filled > 1 {
		t.begun = true
		if header {
			t.headers = make([]string, len(cells))
			for i, cell := range cells {
				t.headers[i] = strings.ToValidUTF8(cell[:min(len(cell), maxHeaderLen)], "")
			}
		}
	}
	return b.String()
}

// isNumber holds for a cell that is mainly a number: no header is.
func isNumber(cell string) bool {
	digits, letters := 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > letters && !isYear(cell)
}

// isYear holds for a year, which headers often are.
func isYear(cell string) bool {
	return len(cell) == 4 && (strings.HasPrefix(cell, "19") || strings.HasPrefix(cell, "20"))
}
