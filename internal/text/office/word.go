package office

import (
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readWord reads a file of Word: its paragraphs and tables, then its notes.
func readWord(p *pack, w *writer) error {
	p.properties("docProps/core.xml", &w.doc)
	theme := themeOf(p)
	styles := wordStyles(p, theme)
	text := func() visitor { return newFlow(w, &sight{theme: theme, styles: styles}).visitor() }
	err := p.walk("word/document.xml", text())
	for _, name := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if p.files[name] != nil && err == nil {
			err = p.walk(name, text())
		}
	}
	return err
}

// flow reads the paragraphs and tables of a text in the markup of Word or PowerPoint.
type flow struct {
	w       *writer
	sight   *sight          // nil in a file of PowerPoint
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

func newFlow(w *writer, s *sight) *flow { return &flow{w: w, sight: s} }

func (f *flow) visitor() visitor { return visitor{f.start, f.end, f.chars} }

func (f *flow) start(n node) bool {
	if isBeside(n.name) {
		return false
	}
	if f.sight != nil {
		f.sight.start(n)
	}
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
	case "strike", "dstrike":
		on := n.attr("val")
		f.hidden = f.hidden || f.inStyle && on != "0" && on != "false" && on != "off"
	case "pStyle":
		f.title = f.sight != nil && f.sight.styles[n.attr("val")].title
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
	if f.inText && !f.hidden && (f.sight == nil || !f.sight.hides()) {
		f.text.WriteString(text)
	}
}

func (f *flow) end(name string) {
	if f.sight != nil {
		f.sight.end(name)
	}
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
	if f.sight != nil {
		f.title = false
	}
}
