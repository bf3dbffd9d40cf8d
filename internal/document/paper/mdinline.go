package paper

import (
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// mdLeaf writes the text of a block as Markdown that every reader shows as the
// report does: what is text in the draft is text here.
type mdLeaf struct {
	out    strings.Builder
	shown  strings.Builder // what a reader will see, to check the rest by
	plain  bool            // emphasis is left out
	cell   bool            // in a table
	single bool            // on one line, as in a table or a heading
	line   lineStart
	last   rune // the last character that was written
	inSpan bool // in a code span, whose text is kept until it ends
	span   strings.Builder
	notes
}

// lineStart is what of a line has been written.
type lineStart uint8

const (
	emptyLine  lineStart = iota
	digitsLine           // digits, which may yet become the mark of a list
	textLine
)

// leaf is the text of a block. It is read again before it is used: where stars
// would be taken for something other than the emphasis that they stand for, they
// are left out.
func (w *mdWriter) leaf(b *draft.Block) string {
	marked, shown := w.writeLeaf(b, false)
	if showsOnly(draft.Read(markdown.Read([]byte(marked))), shown) {
		return marked
	}
	plain, _ := w.writeLeaf(b, true)
	return plain
}

// showsOnly holds when a document is one paragraph with that text.
func showsOnly(d *draft.Document, text string) bool {
	if strings.TrimSpace(text) == "" {
		return len(d.Blocks) == 0
	}
	if len(d.Blocks) != 1 || d.Blocks[0].Kind != markdown.ParagraphBlock {
		return false
	}
	return strings.Join(strings.Fields(string(draft.Runes(d.Blocks[0].Glyphs))), " ") == markdown.OneLine(text)
}

func (w *mdWriter) writeLeaf(b *draft.Block, plain bool) (text, shown string) {
	l := &mdLeaf{plain: plain, cell: b.Kind == markdown.CellBlock, single: b.Kind != markdown.ParagraphBlock}
	l.notes = notes{w.Report, l.behind}
	w.text(w.part, b, l)
	return l.out.String(), l.shown.String()
}

// raw writes Markdown.
func (l *mdLeaf) raw(s string) {
	l.out.WriteString(s)
	l.line, l.last = textLine, 0
}

// behind writes words of the report's own after what they are about.
func (l *mdLeaf) behind(text string) {
	l.raw(" (" + mdText(text) + ")")
	l.shown.WriteString(" (" + text + ")")
}

// cite writes a mark. A citation is a link to its reference; the other marks are text, as
// `tidegate audit` reads them back.
func (l *mdLeaf) cite(place citationPlace, s *ShownSentence, inLink bool) {
	if place.Absent != "" {
		l.raw(mdText(place.absence(s)))
		l.shown.WriteString(place.absence(s))
		return
	}
	text := place.words(l.Report)
	l.shown.WriteString("[" + text + "]")
	if place.Calculated != "" || place.Inferred != nil || inLink {
		l.raw(`\[` + mdText(text) + `]`)
		return
	}
	l.raw(`[\[` + text + `\]](#source-` + text + `)`)
}

// absence is what a mark stands for that says what is on no page.
func (p citationPlace) absence(s *ShownSentence) string {
	if s == nil {
		return "[" + shownText(p.Absent) + "]"
	}
	return shownText(s.Text)
}

// words are a mark as a text has it.
func (p citationPlace) words(r *Report) string {
	var numbers []string
	for _, ref := range p.refs {
		numbers = append(numbers, ref.mark())
	}
	switch {
	case p.Calculated != "":
		return r.say("calculated: %s", shownText(p.Calculated))
	case p.Inferred != nil && len(numbers) < len(p.Inferred):
		numbers = append(numbers, r.say("this run"))
	}
	if p.Inferred != nil {
		return r.say("inferred from %s", strings.Join(numbers, ", "))
	}
	return numbers[0]
}

func (l *mdLeaf) mark(m draft.Mark) {
	switch m.Kind {
	case markdown.EmphasisSpan, markdown.StrongSpan:
		if !l.plain {
			l.raw(map[markdown.SpanKind]string{markdown.EmphasisSpan: "*", markdown.StrongSpan: "**"}[m.Kind])
		}
	case markdown.CodeSpan:
		if l.inSpan = m.Open; !m.Open {
			l.code(l.span.String())
			l.span.Reset()
		}
	case markdown.ImageSpan:
		if m.Open {
			l.raw("Image: ")
			l.shown.WriteString("Image: ")
		}
	case markdown.LinkSpan:
		switch {
		case m.Open && isWeb(m.Dest):
			l.raw("[")
		case isWeb(m.Dest):
			l.raw("](<" + m.Dest + ">)")
		case !m.Open && m.Dest != "" && m.Dest[0] != '#':
			l.raw(" ")
			l.shown.WriteString(" ")
			l.code(shownText(m.Dest))
		}
	}
}

// code writes a code span.
func (l *mdLeaf) code(text string) {
	if strings.TrimSpace(text) == "" {
		l.glyph(draft.Glyph{Rune: ' '}, 0, glyphIs{})
		return
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	pad := ""
	if text[0] == '`' || text[len(text)-1] == '`' || text[0] == ' ' && text[len(text)-1] == ' ' {
		pad = " "
	}
	l.shown.WriteString(text)
	if l.cell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	l.raw(fence + pad + text + pad + fence)
}

func longestRun(s string, char rune) (longest int) {
	run := 0
	for _, r := range s {
		if r != char {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// glyph writes one character as text.
func (l *mdLeaf) glyph(g draft.Glyph, next rune, _ glyphIs) {
	switch {
	case l.inSpan:
		l.span.WriteString(shown(g.Rune))
		return
	case g.Rune == '\n' && l.single:
		g.Rune = ' '
	case g.Rune == '\n':
		if g.In&draft.HardBreak != 0 {
			l.out.WriteByte('\\')
		}
		l.out.WriteByte('\n')
		l.shown.WriteByte('\n')
		l.line = emptyLine
		return
	case l.line == emptyLine && unicode.IsSpace(g.Rune):
		return
	case concealed(g.Rune):
		l.raw(shown(g.Rune))
		l.shown.WriteString(shown(g.Rune))
		return
	}
	switch {
	case g.Rune == '\\' && next == '\n': // with the one that ends the line, readers count them differently
		l.out.WriteString("&#92;")
	case l.special(g.Rune, next):
		l.out.WriteByte('\\')
		l.out.WriteRune(g.Rune)
	default:
		l.out.WriteRune(g.Rune)
	}
	l.shown.WriteRune(g.Rune)
	l.last = g.Rune
	if l.line == textLine || !unicode.IsDigit(g.Rune) {
		l.line = textLine
	} else {
		l.line = digitsLine
	}
}

// special holds for a character that Markdown would take for a mark.
func (l *mdLeaf) special(r, next rune) bool {
	switch {
	case r == '_': // within a word it is text
		return !draft.IsWordRune(l.last) || !draft.IsWordRune(next)
	case r == '&':
		return next == '#' || unicode.IsLetter(next)
	case strings.ContainsRune("\\`*[]<|~$", r) || r == '#' && l.single: // it ends a heading
		return true
	case l.line == emptyLine:
		return strings.ContainsRune("#+-=>:", r)
	}
	return l.line == digitsLine && (r == '.' || r == ')') && (next == 0 || unicode.IsSpace(next))
}
