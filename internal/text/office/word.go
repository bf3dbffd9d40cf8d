package office

import (
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readWord reads a file of Word: its paragraphs and tables, then its notes.
func readWord(p *pack, w *writer) error {
	p.properties("docProps/core.xml", &w.doc)
	titles := headingStyles(p)
	err := p.walk("word/document.xml", newFlow(w, titles).visitor())
	for _, name := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if p.files[name] != nil && err == nil {
			err = p.walk(name, newFlow(w, titles).visitor())
		}
	}
	return err
}

// headingStyles are the ids of the styles that make a paragraph a heading: programs
// translate the ids, but not the names.
func headingStyles(p *pack) map[string]bool {
	titles, id := map[string]bool{}, ""
	p.walk("word/styles.xml", visitor{start: func(n node) bool {
		switch n.name {
		case "style":
			id = n.attr("styleId")
		case "name":
			if name := strings.ToLower(n.attr("val")); strings.HasPrefix(name, "heading") || name == "title" {
				titles[id] = true
			}
		}
		return true
	}})
	return titles
}

// flow reads the paragraphs and tables of a text in the markup of Word or PowerPoint.
type flow struct {
	w       *writer
	styles  map[string]bool
	text    strings.Builder // of the open paragraph
	title   bool            // it is a heading
	inText  bool
	hidden  bool // the open run is
	inStyle bool // the properties of a run are open
	tables  int  // that are open
	table   Table
	cells   []string
	cell    strings.Builder
}

func newFlow(w *writer, styles map[string]bool) *flow { return &flow{w: w, styles: styles} }

func (f *flow) visitor() visitor { return visitor{f.start, f.end, f.chars} }

func (f *flow) start(n node) bool {
	switch n.name {
	case "del", "moveFrom", "Fallback": // deleted, or the same once more for older programs
		return false
	case "t":
		f.inText = true
	case "r":
		f.hidden = false
	case "rPr":
		f.inStyle = true
		f.hidden = f.hidden || n.attr("strike") == "sngStrike" || n.attr("strike") == "dblStrike"
	case "vanish", "strike", "dstrike":
		on := n.attr("val")
		f.hidden = f.hidden || f.inStyle && on != "0" && on != "false" && on != "off"
	case "pStyle":
		f.title = f.styles[n.attr("val")]
	case "ph":
		f.title = n.attr("type") == "title" || n.attr("type") == "ctrTitle"
	case "tab":
		f.text.WriteByte(' ')
	case "br", "cr":
		f.text.WriteByte('\n')
	case "noBreakHyphen":
		f.text.WriteByte('-')
	case "tbl":
		if f.tables++; f.tables == 1 {
			f.table = Table{}
		}
	case "tr":
		if f.tables == 1 {
			f.cells = f.cells[:0]
		}
	}
	return true
}

func (f *flow) chars(text string) {
	if f.inText && !f.hidden {
		f.text.WriteString(text)
	}
}

func (f *flow) end(name string) {
	switch name {
	case "t":
		f.inText = false
	case "rPr":
		f.inStyle = false
	case "r":
		f.hidden = false
	case "sp": // a shape of a slide
		f.title = false
	case "p":
		f.paragraph()
	case "tc":
		if f.tables == 1 && len(f.cells) < maxColumns {
			f.cells = append(f.cells, f.cell.String())
			f.cell.Reset()
		}
	case "tr":
		if f.tables == 1 {
			f.w.line(f.table.Row(f.cells))
		}
	case "tbl":
		f.tables--
	}
}

// paragraph ends a paragraph.
func (f *flow) paragraph() {
	text := f.text.String()
	f.text.Reset()
	switch {
	case f.tables > 0:
		f.cell.WriteString(text + "\n")
	case f.title:
		f.w.heading(markdown.OneLine(text))
	default:
		f.w.line(text)
	}
	if f.styles != nil {
		f.title = false
	}
}
