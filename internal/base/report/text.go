package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Text writes title, blocks and, last, the summary, where a reader's eye is
// when a long report has scrolled by. With a width, everything but preformatted
// text is wrapped to it between words and nothing is cut; a table that does not
// fit becomes one record per row. Without a width a row is a line. All
// content passes through [Visible], and no line begins with the "::" of a
// workflow command, because CI logs obey it. A report of one preformatted text
// and nothing else is a document: it stands at the left margin, so that it can
// be kept as a file. It fails only when w does, with WRITE_FAILED.
func Text(w io.Writer, r Report, o Options) error {
	t := &terminal{color: o.Color, width: o.Width, root: o.Root}
	if t.width > 0 {
		t.width = max(t.width, minWidth)
	}
	if document, ok := r.document(); ok {
		for line := range strings.Lines(Visible(string(document))) {
			t.asIs(strings.TrimSuffix(line, "\n"))
		}
		return deliver(w, t.out.Bytes())
	}
	if r.OutcomeFirst {
		t.outcome(r)
	}
	if title := OneLine(r.Title); title != "" {
		t.gap()
		t.wrapped("", "", title, bold)
	}
	for _, b := range r.Blocks {
		t.gap()
		switch b := b.(type) {
		case Heading:
			t.wrapped("", "", OneLine(string(b)), bold)
			t.tight = true
		case Paragraph:
			t.wrapped("", "", Visible(string(b)), "")
		case Fields:
			t.fields(b)
		case Bullets:
			for _, item := range b {
				t.wrapped("- ", "  ", OneLine(item), "")
			}
		case Preformatted:
			for line := range strings.Lines(Visible(string(b))) {
				t.line("  " + strings.TrimSuffix(line, "\n"))
			}
		case *Table:
			t.table(b)
		case Findings:
			t.cases(r.Cases)
		}
	}
	if !r.OutcomeFirst {
		t.outcome(r)
	}
	return deliver(w, t.out.Bytes())
}

func (t *terminal) outcome(r Report) {
	if summary := joinNonEmpty("  ", r.Status.label(), OneLine(r.Summary)); summary != "" {
		t.tight = false
		t.gap()
		t.wrapped("", "", summary, shownAs[r.Status].color)
	}
}

// document is the text of a report that consists of nothing else.
func (r Report) document() (Preformatted, bool) {
	if len(r.Blocks) != 1 || r.Title != "" || r.Summary != "" || r.Status != None {
		return "", false
	}
	text, ok := r.Blocks[0].(Preformatted)
	return text, ok
}

// minWidth keeps layouts legible on absurdly narrow terminals.
const minWidth = 20

// The colours. Each repeats what a mark or a word says already.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// terminal collects the lines of a text report.
type terminal struct {
	out   bytes.Buffer
	color bool
	width int
	root  string
	tight bool // the next block follows its heading directly
}

// gap separates blocks by one empty line.
func (t *terminal) gap() {
	if t.out.Len() > 0 && !t.tight && !bytes.HasSuffix(t.out.Bytes(), []byte("\n\n")) {
		t.out.WriteByte('\n')
	}
	t.tight = false
}

// line writes one line of text that is visible already, and colours that are ours.
func (t *terminal) line(s string) { t.asIs(strings.TrimRight(s, " ")) }

// asIs is line for text whose blanks at the end matter.
func (t *terminal) asIs(s string) {
	if text := strings.TrimLeft(s, " "); strings.HasPrefix(text, "::") {
		s = s[:len(s)-len(text)] + `\` + text
	}
	t.out.WriteString(s)
	t.out.WriteByte('\n')
}

func (t *terminal) paint(color, s string) string {
	if !t.color || color == "" || s == "" {
		return s
	}
	return color + s + plain
}

// wrapped writes each line of text wrapped to the width, the first one prefixed
// with first and all others with indent.
func (t *terminal) wrapped(first, indent, text, color string) {
	for line := range strings.SplitSeq(text, "\n") {
		if t.width > 0 && t.width-TerminalColumns(first) < minWidth/2 {
			t.line(first)
			first = indent
		}
		for _, part := range wrap(line, t.room(first), t.room(indent)) {
			t.line(first + t.paint(color, part))
			first = indent
		}
	}
}

// room is what is left of the width after an indent.
func (t *terminal) room(indent string) int {
	if t.width == 0 {
		return 0
	}
	return max(t.width-TerminalColumns(indent), minWidth/2)
}

// TerminalColumns is [Columns] of a line that [Text] wrote, which may have colours.
func TerminalColumns(s string) int {
	for _, color := range []string{bold, dim, red, green, yellow, plain} {
		s = strings.ReplaceAll(s, color, "")
	}
	return Columns(s)
}

// fields aligns the values. A value with a word that does not fit beside the names
// stands below its own name, and all values do where the names take more than half
// of the width. On a terminal fields without a value are left out.
func (t *terminal) fields(fields Fields) {
	if t.width > 0 {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Mark == None && OneLine(f.Value) == "" })
	}
	names := make([]string, len(fields))
	widest := 0
	for i, f := range fields {
		names[i] = OneLine(f.Name) + ":"
		widest = max(widest, Columns(names[i]))
	}
	indent := strings.Repeat(" ", widest+2)
	for i, f := range fields {
		value := joinNonEmpty("  ", f.Mark.label(), OneLine(f.Value))
		if t.width > 0 && (widest > t.width/2 || longestWord(value) > t.room(indent)) {
			t.wrapped("", "  ", names[i], dim)
			t.wrapped("    ", "    ", value, shownAs[f.Mark].color)
			continue
		}
		t.wrapped(t.paint(dim, names[i])+indent[Columns(names[i]):], indent, value, shownAs[f.Mark].color)
	}
}

// cases shows what [Findings] stands for.
func (t *terminal) cases(cases []Case) {
	for _, c := range cases {
		if !c.telling() {
			continue
		}
		head := joinNonEmpty("  ", OneLine(c.Name), OneLine(relative(t.root, c.File)), OneLine(c.Note))
		if label := c.Status.label(); label != "" {
			t.wrapped(t.paint(shownAs[c.Status].color, label)+"  ", "  ", head, "")
		} else {
			t.wrapped("", "  ", head, "")
		}
		for _, f := range c.Findings {
			t.finding(c, f)
		}
	}
}

func (t *terminal) finding(c Case, f Finding) {
	file := f.File
	if file == "" && f.Line > 0 {
		file = c.File
	}
	l := f.Level.known()
	place := Place{file, f.Line}.show(t.root)
	head := joinNonEmpty("  ", OneLine(f.ruleID()), parenthesised(OneLine(f.Category)), OneLine(place))
	t.wrapped("  "+t.paint(levelShownAs[l].color, OneLine(f.matters()))+"  ", "    ", head, "")
	if title := OneLine(f.Title); title != "" {
		t.wrapped("    ", "    ", title, bold)
	}
	if facts := f.facts(); facts != "" {
		t.wrapped("    ", "    ", facts, dim)
	}
	if message := strings.TrimSpace(Visible(f.Message)); message != "" {
		t.wrapped("    ", "    ", message, "")
	}
	if help := strings.TrimSpace(Visible(f.Help)); help != "" {
		t.wrapped("    → ", "      ", help, "")
	}
}

// telling holds for a case that people are shown: it has a finding, or it did
// not pass.
func (c Case) telling() bool {
	return len(c.Findings) > 0 || c.Status == Fail || c.Status == Warn || c.Status == Skip
}

// parenthesised is "" for an empty text.
func parenthesised(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func joinNonEmpty(separator string, parts ...string) string {
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}
