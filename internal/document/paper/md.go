package paper

import (
	"encoding/base64"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Markdown is the report as a Markdown file: the documents with numbered
// citations, the references with links that lead to the quoted words, and how the
// report was made.
// Charts stand in it as data.
func (r Report) Markdown() []byte {
	return r.markdown(func(d *drawnTable) string {
		return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.svg())
	})
}

// MarkdownFiles is the report as a Markdown file of some name, with its charts as files
// beside it.
func (r Report) MarkdownFiles(name string) (text []byte, charts []File) {
	text = r.markdown(func(d *drawnTable) string {
		file := File{strings.TrimSuffix(name, path.Ext(name)) + "-" + d.id + ".svg", d.svg()}
		charts = append(charts, file)
		return url.PathEscape(file.Name)
	})
	return text, charts
}

func (r Report) markdown(addressOf func(*drawnTable) string) []byte {
	r = r.shown()
	w := &mdWriter{layout: r.layout(), addressOf: addressOf}
	w.banners()
	w.paragraph("# " + mdText(r.Question))
	if day := r.day(r.CreatedAt); day != "" {
		w.paragraph(r.say("Research report") + ", " + mdText(day) + ".")
	}
	if r.Trust != "" {
		w.paragraph("*" + mdText(r.Trust) + "*")
	}
	for i := range w.parts {
		w.part = &w.parts[i]
		if w.part.title != "" {
			w.paragraph("## " + mdText(w.part.title))
		}
		w.part.walk(w.part.doc.Blocks, w)
		w.lines = append(w.lines, "")
	}
	w.references()
	for _, part := range w.appendix() {
		w.section(part)
	}
	w.paragraph(mdText(w.Program + ", " + w.say("run %s", w.RunID)))
	return []byte(strings.TrimRight(strings.Join(w.lines, "\n"), "\n") + "\n")
}

// banners begin the file: whatever a reader must know stands in the first line.
func (w *mdWriter) banners() {
	var titles, texts []string
	for _, b := range w.Report.banners() {
		titles, texts = append(titles, b.Title+"."), append(texts, mdText(b.Text))
	}
	if len(titles) > 0 {
		w.paragraph("> **" + strings.Join(titles, " ") + "** " + strings.Join(texts, " "))
	}
}

type mdWriter struct {
	*layout
	part  *layoutPart
	lines []string
	boxes []mdBox // the open block quotes and list items
	lists []mdList

	row, delimiters string // of a table, as far as they are written

	addressOf func(*drawnTable) string // where the picture of a chart is
}

// mdBox is what stands before the lines of a block quote or list item.
type mdBox struct {
	first, rest string
	begun       bool // its first line is written
}

// mdList is an open list.
type mdList struct {
	*draft.Block
	items int // so far
}

// paragraph adds a block of its own.
func (w *mdWriter) paragraph(text string) { w.lines = append(w.lines, text, "") }

// mdText is a text of one line in which nothing is a mark.
func mdText(text string) string {
	l := mdLeaf{single: true}
	runes := []rune(text)
	for i, r := range runes {
		var next rune
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		l.glyph(draft.Glyph{Rune: r}, next, glyphIs{})
	}
	return l.out.String()
}

// maxBoxes is how deep block quotes and list items have marks: each line of text
// repeats those around it.
const maxBoxes = 100

func (w *mdWriter) open(b *draft.Block, first bool) {
	inTable := b.Kind == markdown.RowBlock || b.Kind == markdown.CellBlock
	if !first && !b.Tight && !inTable {
		w.line("")
	}
	switch b.Kind {
	case markdown.ParagraphBlock:
		for line := range strings.SplitSeq(w.leaf(b), "\n") {
			w.line(line)
		}
	case markdown.HeadingBlock:
		w.line(strings.TrimSpace(strings.Repeat("#", w.part.headingLevel(b)) + " " + w.leaf(b)))
	case markdown.ListBlock:
		w.lists = append(w.lists, mdList{Block: b})
	case markdown.ItemBlock:
		mark := w.lists[len(w.lists)-1].next()
		w.boxes = append(w.boxes, mdBox{first: mark, rest: strings.Repeat(" ", len(mark))})
	case markdown.QuoteBlock:
		w.boxes = append(w.boxes, mdBox{first: "> ", rest: "> "})
	case markdown.CodeBlock:
		w.fenced(b.Text, b.Info)
	case markdown.HTMLBlock:
		w.fenced(b.Text, "html")
	case markdown.RuleBlock:
		w.line("***")
	case markdown.RowBlock:
		w.row, w.delimiters = "|", ""
		if first {
			w.delimiters = "|"
		}
	case markdown.CellBlock:
		w.row += " " + w.leaf(b) + " |"
		if w.delimiters != "" {
			w.delimiters += map[string]string{"": " --- |", "left": " :-- |", "right": " --: |", "center": " :-: |"}[b.Align]
		}
	}
}

func (w *mdWriter) close(b *draft.Block) {
	switch b.Kind {
	case markdown.TableBlock:
		if d := w.part.charts[b]; d != nil {
			w.line("")
			if d.Chart == nil {
				w.line("*" + mdText(d.why) + "*")
			} else {
				w.line("![" + mdText(d.words.Title) + "](" + w.addressOf(d) + ")")
			}
		}
	case markdown.ListBlock:
		w.lists = w.lists[:len(w.lists)-1]
	case markdown.ItemBlock, markdown.QuoteBlock:
		last := len(w.boxes) - 1
		if !w.boxes[last].begun {
			w.line("")
		}
		w.boxes = w.boxes[:last]
	case markdown.RowBlock:
		w.line(w.row)
		if w.delimiters != "" {
			w.line(w.delimiters)
		}
	}
}

// next is the mark of the next item. Two lists side by side have different marks,
// or they would be one.
func (l *mdList) next() string {
	l.items++
	switch {
	case l.Ordered && l.Second:
		return strconv.Itoa(l.Start+l.items-1) + ") "
	case l.Ordered:
		return strconv.Itoa(l.Start+l.items-1) + ". "
	case l.Second:
		return "* "
	}
	return "- "
}

// line adds a line of a block, after the marks of the containers around it.
func (w *mdWriter) line(text string) {
	if len(w.boxes) == 0 {
		w.lines = append(w.lines, text)
		return
	}
	var b strings.Builder
	for i := range w.boxes[:min(len(w.boxes), maxBoxes)] {
		if box := &w.boxes[i]; box.begun {
			b.WriteString(box.rest)
		} else {
			b.WriteString(box.first)
		}
	}
	for i := len(w.boxes) - 1; i >= 0 && !w.boxes[i].begun; i-- {
		w.boxes[i].begun = true
	}
	b.WriteString(text)
	w.lines = append(w.lines, strings.TrimRight(b.String(), " "))
}

// fenced adds a text in a fence that nothing in the text closes.
func (w *mdWriter) fenced(text, info string) {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if strings.ContainsFunc(info, func(r rune) bool { return !unicode.IsUpper(r) && !unicode.IsLower(r) && r != '-' }) {
		info = ""
	}
	w.line(fence + info)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var b strings.Builder
		for _, r := range line {
			b.WriteString(shown(r))
		}
		w.line(b.String())
	}
	w.line(fence)
}

// references lists the cited sources under their numbers, and the others.
func (w *mdWriter) references() {
	w.paragraph("## " + w.say("References"))
	if len(w.cited) == 0 {
		w.paragraph(w.say("The report cites no source."))
	}
	for _, ref := range w.cited {
		number := strconv.Itoa(ref.number)
		w.lines = append(w.lines, number+`. <a id="source-`+number+`"></a>`+w.reference(ref, ref.places))
	}
	w.lines = append(w.lines, "")
	if len(w.others) > 0 {
		w.paragraph("### " + w.say("Sources that the report does not cite"))
		for _, s := range w.others {
			w.lines = append(w.lines, "- "+w.reference(&reference{Source: s}, nil))
		}
		w.lines = append(w.lines, "")
	}
}

func (w *mdWriter) reference(ref *reference, matches []claim.Match) string {
	v := w.sourceView(ref, matches)
	text := mdText(v.Name)
	if v.Link != "" {
		text = "[" + text + "](<" + v.Link + ">)"
	}
	if v.Authors == "" && v.Year != "" {
		text += " "
	}
	text = mdText(v.before()) + text + mdText(v.behind())
	return text + "*" + mdText(w.standing(v)) + "*"
}

// beginningOf is how a passage begins, by which a reader finds it.
func beginningOf(p *draft.Passage) string {
	const most = 80
	var text []rune
	for _, b := range p.Leaves {
		b.EachLeaf(func(b *draft.Block) {
			if len(text) <= most {
				text = append(append(text, draft.Runes(b.Glyphs[:min(len(b.Glyphs), 4*most)])...), ' ')
			}
		})
	}
	words := []rune(shownText(string(text)))
	if len(words) <= most {
		return string(words)
	}
	return strings.TrimSpace(string(words[:most])) + "…"
}

// section writes a part of the appendix.
func (w *mdWriter) section(s section) {
	w.paragraph("## " + s.Title)
	for _, e := range s.Entries {
		if e.Title != "" {
			w.paragraph("### " + e.Title)
		}
		if e.Text != "" {
			w.paragraph(mdText(e.Text))
		}
		for _, i := range e.Items {
			w.lines = append(w.lines, "- "+mdText(i.plain()))
		}
		if e.Table != nil {
			w.table(e.Table)
		}
		if e.Text == "" {
			w.lines = append(w.lines, "")
		}
	}
}

func (w *mdWriter) table(t *table) {
	head, below := "|", "|"
	for _, c := range t.Columns {
		head += " " + c.Name + " |"
		below += map[bool]string{false: "---|", true: "--:|"}[c.Right]
	}
	w.lines = append(w.lines, head, below)
	for _, row := range t.Rows {
		line := "|"
		for _, c := range row {
			line += " " + mdText(c.plain()) + " |"
		}
		w.lines = append(w.lines, line)
	}
}
