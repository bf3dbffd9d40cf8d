package paper

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readable is the widest that running text becomes on a wide terminal.
const readable = 100

// keptBlank stands for the blank that a line is not broken at: before the number of a source.
const keptBlank = "\u00a0"

// Text is the report for a terminal of that width, with numbers for citations and the
// sources below. Addresses and words stay whole. A width of 0 wraps nothing.
func (r Report) Text(width int, color bool) []byte {
	r = r.shown()
	w := &txtWriter{width: width, color: color}
	w.lineWriter = lineWriter{layout: r.layout(), quote: "| ", rule: strings.Repeat("-", 20), put: w.put, leaf: w.leaf, title: w.title, code: w.code, table: w.table}
	w.draw(w)
	return bytes.ReplaceAll(w.written(), []byte(keptBlank), []byte(" "))
}

// txtWriter writes the report as text.
type txtWriter struct {
	lineWriter
	width int
	color bool
}

// put writes a text, its first line after first and the others after rest.
func (w *txtWriter) put(first, rest, text string) {
	for _, line := range report.Hanging(first, rest, text, min(w.width, readable)) {
		w.bare(line)
	}
}

// bare writes a line. A log of CI takes one that begins with "::" for a command.
func (w *txtWriter) bare(text string) {
	text = strings.TrimRight(text, " ")
	if at := len(text) - len(strings.TrimLeft(text, " ")); strings.HasPrefix(text[at:], "::") {
		text = text[:at] + `\` + text[at:]
	}
	w.out.WriteString(text + "\n")
}

func (w *txtWriter) own(kind own, text string) {
	switch kind {
	case ownTitle:
		w.heading(1, text)
		return
	case ownAnswer:
		w.heading(2, w.AnswerTitle)
	case ownBanner:
		w.gap()
		w.put("! ", "  ", strings.ReplaceAll(text, "\n", " "))
		return
	}
	w.gap()
	w.line(text)
}

func (w *txtWriter) heading(level int, text string) {
	w.gap()
	w.title(level, text)
}

// title writes a heading: bold where there are colours, underlined where there are none.
func (w *txtWriter) title(level int, text string) {
	widest := 0
	for _, line := range report.Hanging("", "", text, min(w.width, readable)) {
		widest = max(widest, report.Columns(line))
		if w.color {
			line = "\x1b[1m" + line + "\x1b[0m"
		}
		w.bare(line)
	}
	if level <= 2 && !w.color {
		w.bare(strings.Repeat(map[bool]string{true: "=", false: "-"}[level == 1], min(widest, 40)))
	}
	w.gap()
}

func (w *txtWriter) code(text, _ string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		w.bare("    " + report.Visible(line))
	}
}

// table writes a table in columns where they fit, else each row as a record.
func (w *txtWriter) table(b *draft.Block, rows [][]string) {
	t := &report.Table{}
	for i, cell := range b.Children[0].Children {
		t.Columns = append(t.Columns, report.Column{Name: rows[0][i], Right: cell.Align == "right"})
	}
	for _, cells := range rows[1:] {
		row := report.Row{}
		for _, cell := range cells {
			row.Cells = append(row.Cells, report.Cell{Text: cell})
		}
		t.Rows = append(t.Rows, row)
	}
	shown := report.Report{Blocks: []report.Block{t}}
	var wide, narrow bytes.Buffer
	// Neither can fail: a buffer takes everything.
	_ = report.Text(&wide, shown, report.Options{Color: w.color})
	for line := range bytes.Lines(wide.Bytes()) {
		if w.width > 0 && report.TerminalColumns(string(bytes.TrimSuffix(line, []byte("\n")))) > w.width {
			_ = report.Text(&narrow, shown, report.Options{Color: w.color, Width: w.width})
			w.out.Write(narrow.Bytes())
			return
		}
	}
	w.out.Write(wide.Bytes())
}

// leaf is the text of a block.
func (w *txtWriter) leaf(b *draft.Block) string {
	l := &txtLeaf{single: b.Kind != markdown.ParagraphBlock}
	l.notes = notes{w.Report, func(text string) { l.out.WriteString(" (" + text + ")") }}
	w.text(w.part, b, l)
	return l.out.String()
}

// txtLeaf writes the text of a leaf without any marks but those of the report.
type txtLeaf struct {
	notes
	out    strings.Builder
	single bool // on one line, as in a table or a heading
}

func (l *txtLeaf) cite(place citationPlace, s *ShownSentence, _ bool) {
	if place.Absent != "" {
		l.out.WriteString(place.absence(s))
		return
	}
	blank := keptBlank
	if place.Calculated != "" || place.Inferred != nil {
		blank = " " // a formula is long
	}
	l.out.WriteString(blank + "[" + place.words(l.Report) + "]")
}

func (l *txtLeaf) mark(m draft.Mark) {
	switch {
	case m.Kind == markdown.ImageSpan && m.Open:
		l.out.WriteString("Image: ")
	case m.Kind != markdown.LinkSpan || m.Open || m.Dest == "" || m.Dest[0] == '#':
	case isWeb(m.Dest):
		if to, err := url.Parse(m.Dest); err == nil {
			l.out.WriteString(" (" + shownText(to.Hostname()) + ")")
		}
	default:
		l.out.WriteString(" " + shownText(m.Dest))
	}
}

func (l *txtLeaf) glyph(g draft.Glyph, _ rune, is glyphIs) {
	switch {
	case is.beforeRef:
	case g.Rune == '\n' && !l.single && g.In&draft.HardBreak != 0:
		l.out.WriteByte('\n')
	case g.Rune == '\n' || g.Rune == '\t':
		l.out.WriteByte(' ')
	default:
		l.out.WriteString(shown(g.Rune))
	}
}

func (w *txtWriter) reference(ref *reference) {
	v, mark := w.sourceView(ref), "- "
	v.Link = ref.link(nil) // nobody clicks on it
	if ref.number > 0 {
		mark = "[" + ref.mark() + "] "
	}
	indent := strings.Repeat(" ", len(mark))
	w.put(mark, indent, v.before()+v.Name+v.behind()+w.standing(v))
	if v.Link != "" && v.Link != v.Name {
		w.bare(indent + shownText(v.Link))
	}
}
