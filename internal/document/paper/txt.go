package paper

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// readable is the widest that running text becomes on a wide terminal.
const readable = 100

// kept stands for the blank that a line is not broken at: before the number of a source.
const kept = "\u00a0"

// Text is the report for a terminal of that width, with numbers for citations and the
// sources below. Addresses and words stay whole. A width of 0 wraps nothing.
func (r Report) Text(width int, color bool) []byte {
	r = r.shown()
	w := &txtWriter{layout: r.layout(), width: width, color: color}
	for _, b := range w.banners() {
		w.lines("! ", "  ", b.Title+". "+b.Text)
		w.gap()
	}
	w.heading(1, r.Question)
	kind := r.say("Research report")
	if day := r.day(r.CreatedAt); day != "" {
		kind += ", " + day
	}
	w.paragraph(kind + ".")
	if r.Trust != "" {
		w.paragraph(r.Trust)
	}
	for i := range w.parts {
		w.part = &w.parts[i]
		if w.part.title != "" {
			w.heading(2, w.part.title)
		}
		w.part.walk(w.part.doc.Blocks, w)
	}
	w.references()
	for _, s := range w.appendix() {
		w.section(s)
	}
	w.paragraph(w.Program + ", " + w.say("run %s", w.RunID))
	text := bytes.ReplaceAll(w.out.Bytes(), []byte(kept), []byte(" "))
	return append(bytes.TrimRight(text, "\n"), '\n')
}

type txtWriter struct {
	*layout
	part  *layoutPart
	out   bytes.Buffer
	width int
	color bool
	boxes []mdBox // the open block quotes and list items
	lists []mdList
	table *report.Table // that is under way
}

// gap sets what follows apart from what is written.
func (w *txtWriter) gap() {
	if w.out.Len() > 0 && !bytes.HasSuffix(w.out.Bytes(), []byte("\n\n")) {
		w.out.WriteByte('\n')
	}
}

// lines writes a text, its first line after first and the others after rest.
func (w *txtWriter) lines(first, rest, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range report.Hanging(first, rest, line, min(w.width, readable)) {
			w.line(part)
		}
		first = rest
	}
}

// line writes a line. A log of CI takes one that begins with "::" for a command.
func (w *txtWriter) line(text string) {
	text = strings.TrimRight(text, " ")
	if at := len(text) - len(strings.TrimLeft(text, " ")); strings.HasPrefix(text[at:], "::") {
		text = text[:at] + `\` + text[at:]
	}
	w.out.WriteString(text + "\n")
}

func (w *txtWriter) paragraph(text string) {
	w.gap()
	w.boxed(text)
}

// boxed writes a text in the containers around it.
func (w *txtWriter) boxed(text string) {
	var first, rest strings.Builder
	for i := range w.boxes[:min(len(w.boxes), maxBoxes)] {
		box := &w.boxes[i]
		if rest.WriteString(box.rest); box.begun {
			first.WriteString(box.rest)
		} else {
			first.WriteString(box.first)
		}
	}
	for i := len(w.boxes) - 1; i >= 0 && !w.boxes[i].begun; i-- {
		w.boxes[i].begun = true
	}
	w.lines(first.String(), rest.String(), text)
}

// heading writes a heading: bold where there are colours, underlined where there are none.
func (w *txtWriter) heading(level int, text string) {
	w.gap()
	widest := 0
	for _, line := range report.Hanging("", "", text, min(w.width, readable)) {
		widest = max(widest, report.Columns(line))
		if w.color {
			line = "\x1b[1m" + line + "\x1b[0m"
		}
		w.line(line)
	}
	if level <= 2 && !w.color {
		w.line(strings.Repeat(map[bool]string{true: "=", false: "-"}[level == 1], min(widest, 40)))
	}
	w.gap()
}

func (w *txtWriter) open(b *draft.Block, first bool) {
	inTable := b.Kind == markdown.RowBlock || b.Kind == markdown.CellBlock
	if !inTable && !b.Tight && (!first || len(w.boxes) == 0) {
		w.gap()
	}
	switch b.Kind {
	case markdown.ParagraphBlock:
		w.boxed(w.leaf(b))
	case markdown.HeadingBlock:
		w.heading(w.part.headingLevel(b), w.leaf(b))
	case markdown.ListBlock:
		w.lists = append(w.lists, mdList{Block: b})
	case markdown.ItemBlock:
		mark := w.lists[len(w.lists)-1].next()
		w.boxes = append(w.boxes, mdBox{first: mark, rest: strings.Repeat(" ", len(mark))})
	case markdown.QuoteBlock:
		w.boxes = append(w.boxes, mdBox{first: "| ", rest: "| "})
	case markdown.CodeBlock, markdown.HTMLBlock:
		for line := range strings.SplitSeq(strings.TrimSuffix(b.Text, "\n"), "\n") {
			w.line("    " + report.Visible(line))
		}
	case markdown.RuleBlock:
		w.line(strings.Repeat("-", 20))
	case markdown.TableBlock:
		w.table = &report.Table{}
	case markdown.RowBlock:
		if !first {
			w.table.Rows = append(w.table.Rows, report.Row{})
		}
	case markdown.CellBlock:
		if text := w.leaf(b); len(w.table.Rows) == 0 {
			w.table.Columns = append(w.table.Columns, report.Column{Name: text, Right: b.Align == "right"})
		} else {
			row := &w.table.Rows[len(w.table.Rows)-1]
			row.Cells = append(row.Cells, report.Cell{Text: text})
		}
	}
}

func (w *txtWriter) close(b *draft.Block) {
	switch b.Kind {
	case markdown.ListBlock:
		w.lists = w.lists[:len(w.lists)-1]
	case markdown.ItemBlock, markdown.QuoteBlock:
		if last := len(w.boxes) - 1; w.boxes[last].begun {
			w.boxes = w.boxes[:last]
		} else {
			w.boxed("")
			w.boxes = w.boxes[:last]
		}
	case markdown.TableBlock:
		w.drawTable(w.table)
	}
}

// drawTable writes a table in columns where they fit, else each row as a record.
func (w *txtWriter) drawTable(t *report.Table) {
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
	l := &txtLeaf{report: w.Report, single: b.Kind != markdown.ParagraphBlock}
	passage := w.part.of[b]
	c := w.part.claims[passage]
	w.text(b, c, w.part.on[b], l)
	if c != nil && lastLeaf(passage) == b && c.Verdict == claim.Unchecked {
		l.out.WriteString(" (" + w.say("not checked") + ")")
	}
	return l.out.String()
}

// txtLeaf writes the text of a leaf without any marks but those of the report.
type txtLeaf struct {
	out    strings.Builder
	report *Report
	single bool // on one line, as in a table or a heading
}

func (l *txtLeaf) keep(bool) {}

func (l *txtLeaf) endMissing() { l.out.WriteString(" (" + l.report.say("not on the page") + ")") }

func (l *txtLeaf) cite(place citationPlace, _ *ShownSentence, _ bool) {
	blank := " "
	if place.kept {
		blank = kept
	}
	l.out.WriteString(blank + "[" + place.words(l.report) + "]")
}

func (l *txtLeaf) endSentence(s *ShownSentence) {
	if label := l.report.label(s); label != "" {
		l.out.WriteString(" (" + label + ")")
	}
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

// references lists the cited sources under their numbers, and the others.
func (w *txtWriter) references() {
	w.heading(2, w.say("References"))
	if len(w.cited) == 0 {
		w.paragraph(w.say("The report cites no source."))
	}
	for _, ref := range w.cited {
		w.reference("["+strconv.Itoa(ref.number)+"] ", ref)
	}
	if len(w.others) > 0 {
		w.heading(3, w.say("Sources that the report does not cite"))
		for _, s := range w.others {
			w.reference("- ", &reference{Source: s})
		}
	}
}

func (w *txtWriter) reference(mark string, ref *reference) {
	v := w.sourceView(ref, nil)
	indent := strings.Repeat(" ", len(mark))
	w.lines(mark, indent, v.before()+v.Name+v.behind()+w.standing(v))
	if v.Link != "" && v.Link != v.Name {
		w.line(indent + shownText(v.Link))
	}
}

// section writes a part of the appendix.
func (w *txtWriter) section(s section) {
	w.heading(2, s.Title)
	for _, e := range s.Entries {
		w.gap()
		if e.Title != "" {
			w.heading(3, e.Title)
		}
		if e.Text != "" {
			w.lines("", "", e.Text)
		}
		for _, i := range e.Items {
			w.lines("- ", "  ", i.plain())
		}
		if e.Table != nil {
			t := &report.Table{}
			for _, c := range e.Table.Columns {
				t.Columns = append(t.Columns, report.Column{Name: c.Name, Right: c.Right})
			}
			for _, cells := range e.Table.Rows {
				row := report.Row{}
				for _, c := range cells {
					row.Cells = append(row.Cells, report.Cell{Text: c.plain()})
				}
				t.Rows = append(t.Rows, row)
			}
			w.drawTable(t)
		}
	}
}
