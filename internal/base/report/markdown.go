package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// MarkdownLimit is the most bytes that [Markdown] writes: a GitHub comment holds
// 65,536 characters, and the rest is room for a line of the sender's own.
const MarkdownLimit = 65_000

// The longest texts that markdown shows, in code points; what is longer ends in
// an ellipsis.
const (
	mdCellText  = 300
	mdLongText  = 1000
	mdFirstText = 500 // title and summary
)

// Markdown writes title, summary and blocks in GitHub's flavour, at most
// [MarkdownLimit] bytes. Where that does not hold everything, the blocks share
// the room, rows and findings that did not pass go first, and a line says how
// many were left out. No content can make a heading, list, table cell, link,
// image, HTML or mention. It fails only when w does, with WRITE_FAILED.
func Markdown(w io.Writer, r Report, o Options) error {
	var out bytes.Buffer
	if title := mdInline(shorten(r.Title, mdFirstText)); title != "" {
		out.WriteString("### " + title + "\n\n")
	}
	summary := mdInline(shorten(r.Summary, mdFirstText))
	switch {
	case r.Status != None:
		out.WriteString(strings.TrimSpace("**"+r.Status.label()+"** "+summary) + "\n\n")
	case summary != "":
		out.WriteString(mdStart(shorten(r.Summary, mdFirstText)) + "\n\n")
	}
	parts := mdParts(r, o.Root)
	sizes := make([]int, len(parts))
	for i, part := range parts {
		sizes[i] = part.size()
	}
	allowance := level(sizes, MarkdownLimit-out.Len()-mdNoteRoom)
	dropped := 0
	for _, part := range parts {
		if !part.write(&out, allowance) {
			dropped++
		}
	}
	if dropped > 0 {
		fmt.Fprintf(&out, "*%d of %d parts of the report left out.*\n", dropped, len(parts))
	}
	return deliver(w, append(bytes.TrimRight(out.Bytes(), "\n"), '\n'))
}

// mdPart is a block as items that can be left out one by one. Fields, bullets
// and findings have list marks of their own, so that neighbours stay apart.
type mdPart struct {
	head, tail string
	items      []mdItem
	noun       string // what the items are
}

type mdItem struct {
	text  string
	first bool // shown before the others when there is not room for all
}

// mdNoteRoom is enough for any line that says how many were left out.
const mdNoteRoom = 160

func (p mdPart) size() int {
	n := len(p.head) + len(p.tail)
	for _, item := range p.items {
		n += len(item.text)
	}
	return n
}

// write adds what fits into the allowance, and reports whether anything of the
// part, even if only the line about what was left out, found room.
func (p mdPart) write(out *bytes.Buffer, allowance int) bool {
	shown := make([]bool, len(p.items))
	if p.size() <= allowance {
		for i := range shown {
			shown[i] = true
		}
	} else {
		if allowance < mdNoteRoom || len(p.items) == 0 {
			return false
		}
		p.choose(shown, allowance-len(p.head)-len(p.tail)-mdNoteRoom)
	}
	left, leftFirst := 0, 0
	for i, item := range p.items {
		if !shown[i] {
			left++
			if item.first {
				leftFirst++
			}
		}
	}
	if left < len(p.items) || left == 0 {
		out.WriteString(p.head)
		for i, item := range p.items {
			if shown[i] {
				out.WriteString(item.text)
			}
		}
		out.WriteString(p.tail)
	}
	if left > 0 {
		fmt.Fprintf(out, "*%d of %d %s left out", left, len(p.items), p.noun)
		if leftFirst > 0 {
			fmt.Fprintf(out, ", %d of them not passed", leftFirst)
		}
		out.WriteString(".*\n\n")
	}
	return true
}

// choose marks the items that fit into room, those that go first before the others.
func (p mdPart) choose(shown []bool, room int) {
	for _, first := range []bool{true, false} {
		for i, item := range p.items {
			if item.first == first && len(item.text) <= room {
				shown[i] = true
				room -= len(item.text)
			}
		}
	}
}

func mdParts(r Report, root string) []mdPart {
	var parts []mdPart
	for _, b := range r.Blocks {
		var part mdPart
		switch b := b.(type) {
		case Heading:
			if text := mdInline(shorten(string(b), mdFirstText)); text != "" {
				part = mdPart{noun: "headings", items: []mdItem{{text: "#### " + text + "\n\n"}}}
			}
		case Paragraph:
			part = mdPart{noun: "paragraphs", items: mdParagraphs(string(b))}
		case Fields:
			part = mdPart{noun: "fields", tail: "\n"}
			for _, f := range b {
				text := "- "
				if name := mdInline(shorten(f.Name, mdCellText)); name != "" {
					text += "**" + name + "**: "
				}
				if label := f.Mark.label(); label != "" {
					text += label + " "
				}
				text += mdStart(shorten(f.Value, mdLongText))
				part.items = append(part.items, mdItem{text: strings.TrimRight(text, " ") + "\n", first: f.Mark == Fail})
			}
		case Bullets:
			part = mdPart{noun: "items", tail: "\n"}
			for _, item := range b {
				text := strings.TrimRight("* "+mdStart(shorten(item, mdLongText)), " ")
				part.items = append(part.items, mdItem{text: text + "\n"})
			}
		case Preformatted:
			part = mdPreformatted(string(b))
		case *Table:
			part = mdTable(b, root)
		case Findings:
			part = mdFindings(r.Cases, root)
		}
		if len(part.items) > 0 || part.head != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// mdParagraphs is one item for each group of lines between empty ones.
func mdParagraphs(s string) []mdItem {
	var items []mdItem
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			items = append(items, mdItem{text: strings.Join(lines, "\\\n") + "\n\n"})
			lines = nil
		}
	}
	for line := range strings.SplitSeq(lineEnds.Replace(s), "\n") {
		if line = mdProse(OneLine(shorten(line, mdLongText)), mdStart); line != "" {
			lines = append(lines, line)
		} else {
			flush()
		}
	}
	flush()
	return items
}

func mdPreformatted(s string) mdPart {
	s = Visible(s)
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	part := mdPart{noun: "lines", head: fence + "text\n", tail: fence + "\n\n"}
	for line := range strings.Lines(s) {
		part.items = append(part.items, mdItem{text: shorten(strings.TrimSuffix(line, "\n"), mdLongText) + "\n"})
	}
	return part
}

func mdTable(table *Table, root string) mdPart {
	grid := table.layout(root)
	if len(grid.columns) == 0 {
		return mdPart{}
	}
	var head, rule strings.Builder
	for _, c := range grid.columns {
		head.WriteString("| " + mdInline(shorten(c.Name, mdCellText)) + " ")
		if c.Right {
			rule.WriteString("| ---: ")
		} else {
			rule.WriteString("| --- ")
		}
	}
	part := mdPart{noun: "rows", head: head.String() + "|\n" + rule.String() + "|\n", tail: "\n"}
	for n, row := range grid.rows {
		var b strings.Builder
		for i, cell := range row.cells {
			text := shorten(cell, mdCellText)
			switch {
			case i == 0 && grid.judged && row.status == Fail:
				text = "**" + text + "**"
			case grid.place(table.Rows[n], i):
				text = mdCode(text)
			default:
				text = mdInline(text)
			}
			b.WriteString("| " + text + " ")
		}
		part.items = append(part.items, mdItem{text: b.String() + "|\n", first: row.status == Fail || row.status == Warn})
	}
	return part
}

// place holds for a cell of the grid that names a place in a file.
func (g grid) place(row Row, column int) bool {
	if g.judged {
		column--
	}
	return column >= 0 && column < len(row.Cells) && row.Cells[column].Place.File != ""
}

// mdFindings is one list item for each finding, and for each case that did not
// pass and has no finding.
func mdFindings(cases []Case, root string) mdPart {
	part := mdPart{noun: "findings", tail: "\n"}
	for _, c := range cases {
		if !c.telling() {
			continue
		}
		name := mdCode(shorten(c.Name, mdCellText))
		if len(c.Findings) == 0 {
			text := "+ **" + c.Status.label() + "** " + name + " " + mdInline(shorten(c.Note, mdLongText))
			part.items = append(part.items, mdItem{text: strings.TrimRight(text, " ") + "\n", first: c.Status == Fail})
		}
		for _, f := range c.Findings {
			part.items = append(part.items, mdItem{text: mdFinding(c, f, name, root), first: f.Level.known() == LevelError})
		}
	}
	return part
}

func mdFinding(c Case, f Finding, name, root string) string {
	place := Place{firstOf(f.File, c.File), f.Line}.show(root)
	parts := []string{"+ **" + mdInline(f.matters()) + "**", mdCode(shorten(f.ruleID(), mdCellText)), parenthesised(mdInline(shorten(f.Category, mdCellText))), name}
	if place != "" {
		parts = append(parts, "at "+mdCode(shorten(place, mdCellText)))
	}
	text := joinNonEmpty(" ", parts...) + ":"
	if title := Inline(shorten(f.Title, mdCellText)); title != "" {
		text += " **" + title + "**"
	}
	if message := Inline(shorten(f.Message, mdLongText)); message != "" {
		text += " " + message
	}
	if help := Inline(shorten(f.Help, mdLongText)); help != "" {
		text += " — *What to do:* " + help
	}
	if facts := Inline(shorten(f.facts(), mdCellText)); facts != "" {
		text += " (" + facts + ")"
	}
	return text + "\n"
}
