package office

import (
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readOpen reads an OpenDocument file: a text, a spreadsheet or a presentation.
func readOpen(p *pack, w *writer) error {
	p.properties("meta.xml", &w.doc)
	o := &openReader{w: w, hidden: map[string]bool{}}
	err := p.walk("content.xml", visitor{o.start, o.end, o.chars})
	for _, note := range o.notes {
		w.line(note)
	}
	return err
}

// openReader reads the content of an OpenDocument file.
type openReader struct {
	w      *writer
	style  string          // that is declared
	hidden map[string]bool // styles whose text is hidden or struck out
	texts  []*strings.Builder
	unseen int // open spans whose text is not shown
	spans  []bool
	notes  []string
	inNote bool
	note   strings.Builder
	tables int
	table  Table
	cells  []string
	cell   strings.Builder
	copies int // of the open cell
	bytes  int // of the open row
	rows   int // of the open row
}

// text is the open paragraph; nil outside one.
func (o *openReader) text() *strings.Builder {
	if len(o.texts) == 0 {
		return nil
	}
	return o.texts[len(o.texts)-1]
}

func (o *openReader) start(n node) bool {
	switch n.name {
	case "tracked-changes", "annotation", "hidden-text", "hidden-paragraph", "note-citation", "script", "forms", "sequence-decls":
		return false
	case "style":
		o.style = n.attr("name")
	case "text-properties":
		through := n.attr("text-line-through-style")
		o.hidden[o.style] = o.hidden[o.style] || n.attr("display") == "none" || through != "" && through != "none"
	case "h", "p":
		o.texts = append(o.texts, new(strings.Builder))
		o.enter(n)
	case "span":
		o.enter(n)
	case "note":
		o.inNote = true
		o.note.Reset()
	case "s":
		o.write(" ")
	case "tab":
		o.write(" ")
	case "line-break":
		o.write("\n")
	case "table":
		if n.attr("display") == "false" || o.hidden[n.attr("style-name")] {
			return false
		}
		if o.tables++; o.tables == 1 {
			o.table = Table{}
			if name := n.attr("name"); name != "" && len(o.texts) == 0 {
				o.w.heading(name)
			}
		}
	case "table-row":
		if visible := n.attr("visibility"); visible == "collapse" || visible == "filter" {
			return false
		}
		if o.tables == 1 {
			o.cells, o.bytes, o.rows = o.cells[:0], 0, repeated(n, "number-rows-repeated")
		}
	case "table-cell", "covered-table-cell":
		if o.tables == 1 {
			o.cell.Reset()
			o.copies = repeated(n, "number-columns-repeated")
		}
	}
	return true
}

// enter begins a paragraph or span.
func (o *openReader) enter(n node) {
	hides := o.hidden[n.attr("style-name")]
	o.spans = append(o.spans, hides)
	if hides {
		o.unseen++
	}
}

func (o *openReader) leave() {
	if last := len(o.spans) - 1; last >= 0 {
		if o.spans[last] {
			o.unseen--
		}
		o.spans = o.spans[:last]
	}
}

func repeated(n node, attr string) int {
	count, _ := strconv.Atoi(n.attr(attr))
	return min(max(1, count), maxColumns)
}

func (o *openReader) write(text string) {
	if b := o.text(); b != nil && o.unseen == 0 {
		b.WriteString(text)
	}
}

func (o *openReader) chars(text string) { o.write(strings.ReplaceAll(text, "\n", " ")) }

func (o *openReader) end(name string) {
	switch name {
	case "span":
		o.leave()
	case "h", "p":
		o.leave()
		b := o.text()
		if b == nil {
			return
		}
		o.texts = o.texts[:len(o.texts)-1]
		switch text := b.String(); {
		case o.inNote:
			o.note.WriteString(text + " ")
		case o.tables > 0:
			o.cell.WriteString(text + "\n")
		case name == "h":
			o.w.heading(markdown.OneLine(text))
		default:
			o.w.line(text)
		}
	case "note":
		o.inNote = false
		o.notes = append(o.notes, o.note.String())
	case "table-cell", "covered-table-cell":
		if o.tables == 1 {
			text := strings.TrimSpace(o.cell.String())
			for i := 0; i < o.copies && len(o.cells) < maxColumns; i++ {
				if o.bytes += len(text); o.bytes > o.w.limit {
					o.w.full = true
					break
				}
				o.cells = append(o.cells, text)
			}
		}
	case "table-row":
		if o.tables != 1 || o.w.full {
			return
		}
		line := o.table.Row(o.cells)
		if line == "" {
			o.table = Table{} // an empty row stands between two tables
		}
		for i := 0; i < o.rows && line != "" && !o.w.full; i++ {
			o.w.line(line)
		}
	case "table":
		o.tables--
	}
}
