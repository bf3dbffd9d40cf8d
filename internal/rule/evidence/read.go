package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// Facts are what the reading of a draft needs to know besides its bytes.
type Facts struct {
	Template Template
	Language string // of the report, in two letters; "" where it is not known
	Question string
	Sources  []Source // those that may be cited
	// Whole says that the draft is a whole report, and not one section or the answer
	// to a further question: it must have substance, and nothing outside its sections.
	Whole bool
	Brief bool // a brief report needs less substance
	// InParts says that several agents write it, each a section of a given length.
	InParts bool
	// Least and Most are how many words a whole report must and may have, 0 for any.
	Least, Most int
	// MaxRun is how many sentences may name @run, 0 for [MaxRun].
	MaxRun int
	// SecondReader says that somebody else reads the sentences against their windows.
	SecondReader bool
	// Unsourced says that a person let the run go on without a single checked source:
	// sentences need no form.
	Unsourced bool
}

// Source is a source that may be cited.
type Source struct {
	CID          string
	ID           string   // short, as prompts name it
	SameAs       string   // the cid of the same page under another address, "" for the first
	Perspectives []string // those whose outputs name it
	Silent       bool     // nothing can be read from its page, so that no report needs it
}

// Report is a draft as sentences, with what is wrong with them.
type Report struct {
	Sentences []Sentence
	Faults    []Fault // in the order of the lines

	draft    []byte
	headings []title // those of the template
	reader   bool    // a second reader is asked
	question string
	sources  []Source
	known    map[string]bool // what may be cited
	citable  []string        // each page once
}

// title is a heading of the template in a draft.
type title struct {
	text  string
	block span
}

// Read takes a draft apart. The faults that it finds are
//
//   - UNCITED_SENTENCE for each sentence without a form, and for each block of code;
//   - FORM_MIXED for a sentence that is inferred and cited, and for what begins like a
//     mark and does not follow the [Grammar];
//   - UNKNOWN_CID for each inference from what is not a source, or from @run where it
//     may not be named;
//   - TOO_MANY_CITATIONS and TOO_LONG;
//   - HEADING_CLAIMS for each heading that claims something, is long, or is of the
//     first two levels and none of the template;
//   - LINK_NOT_ALLOWED for each footnote;
//   - MISSING_REQUIRED_SECTION for text outside the sections of a whole report;
//   - TOO_MUCH_INFERRED and, in a whole report, TOO_LITTLE, TOO_MANY_WORDS, and TOO_LONG
//     for an answer of more than five sentences.
//
// Links, images and HTML, and citations of what is not a source, are package
// synthesis's to find. The cost grows with the bytes of the draft.
func Read(text *markdown.Text, facts Facts) Report {
	w := walker{facts: facts, doc: text.GitHub(), claims: claimsOf(facts)}
	w.report.draft, w.report.reader, w.report.question, w.report.sources, w.report.known = text.Source, facts.SecondReader, facts.Question, facts.Sources, map[string]bool{RunCID: true}
	for _, s := range facts.Sources {
		w.report.known[s.CID] = true
		if s.SameAs == "" {
			w.report.citable = append(w.report.citable, s.CID)
		}
	}
	if !facts.Whole && len(facts.Template.Sections) == 1 {
		w.section = &facts.Template.Sections[0]
	}
	w.walk(w.doc.Tree(), "", false)
	w.finish()
	if facts.Unsourced {
		w.report.Faults = nil
	}
	slices.SortStableFunc(w.report.Faults, func(a, b Fault) int { return a.Line - b.Line })
	return w.report
}

type walker struct {
	facts     Facts
	doc       *markdown.Document
	claims    claims
	report    Report
	section   *Section
	heading   string // the nearest
	behind    bool   // the last section has ended
	outside   bool   // a fault says that text stands outside the sections
	paragraph int
	named     int    // sentences that name @run
	quotes    int    // block quotes around the walk
	marker    string // of the list item under way, where a reader takes it for a number
	counted   int    // the number behind the last numbered list under the heading
}

// named is a text with the sources as prompts name them.
func (r *Report) named(text string) string {
	for _, s := range r.sources {
		if s.ID != "" {
			text = strings.ReplaceAll(text, s.CID, s.ID)
		}
	}
	return text
}

func (w *walker) fault(code tidegate.Code, line int, note, format string, args ...any) {
	w.report.Faults = append(w.report.Faults, NewFault(code, line, note, format, args...))
}

// walk reads blocks. LeadIn is the sentence that introduces them.
func (w *walker) walk(nodes []*markdown.Node, leadIn string, inItem bool) {
	intro := -1 // the sentence that stands before a list or table
	for i, n := range nodes {
		from := len(w.report.Sentences)
		lead := leadIn
		if intro >= 0 {
			lead = w.report.Sentences[intro].Text
		}
		switch n.Kind {
		case markdown.HeadingBlock:
			w.headingBlock(n.Block)
		case markdown.RuleBlock:
			w.behind = w.behind || w.inLastSection()
		case markdown.CodeBlock:
			w.fault(tidegate.UncitedSentence, n.Line, "Write it as sentences, or take it out.",
				"line %d begins a block of code, in which nothing can be cited", n.Line)
		case markdown.QuoteBlock:
			w.quotes++
			w.walk(n.Children, lead, false)
			w.quotes--
		case markdown.ListBlock:
			w.list(n, lead)
		case markdown.TableBlock:
			w.table(n, lead)
			w.drawn(nodes[i:])
		case markdown.ParagraphBlock:
			p := proseBlock{Block: n.Block, leadIn: lead, item: inItem && i == 0}
			if p.item {
				p.marker = w.marker
			}
			p.draws = i > 0 && nodes[i-1].Kind == markdown.TableBlock
			if i+1 < len(nodes) {
				p.introduces = nodes[i+1].Kind == markdown.ListBlock || nodes[i+1].Kind == markdown.TableBlock
				p.nests = p.item && nodes[i+1].Kind == markdown.ListBlock
			}
			if w.prose(p); p.introduces && len(w.report.Sentences) > from {
				intro = len(w.report.Sentences) - 1
				continue
			}
		}
		if intro >= 0 {
			w.report.Sentences[intro].covers = span{from, len(w.report.Sentences)}
		}
		intro = -1
	}
}

// list reads a list. The number of an item is read with it where it does more than to
// count: where the list neither begins with 1 nor goes on with the one before.
func (w *walker) list(n *markdown.Node, leadIn string) {
	counts := n.Start <= 1 || n.Start == w.counted
	for k, item := range n.Children {
		w.marker = ""
		if n.Ordered && !counts {
			w.marker = fmt.Sprintf("%d. ", n.Start+k)
		}
		w.walk(item.Children, leadIn, true)
	}
	if w.marker = ""; n.Ordered {
		w.counted = n.Start + len(n.Children)
	}
}

func (w *walker) inLastSection() bool {
	all := w.facts.Template.Sections
	return w.section != nil && len(all) > 0 && w.section.Title == all[len(all)-1].Title
}

// placed reports whether text may stand where the walk is. What does not stand in a
// section of a whole report is refused, once for each such place.
func (w *walker) placed(line int) bool {
	if !w.facts.Whole || w.section != nil && !w.behind {
		return true
	}
	if !w.outside {
		where := "before the first section"
		if w.behind {
			where = "behind the last section"
		}
		w.fault(tidegate.MissingRequiredSection, line, "Take it out, or put it into a section.", "line %d has text %s", line, where)
	}
	w.outside = true
	return false
}

// headingBlock reads a heading: one of the template begins its section, another is a
// frame.
func (w *walker) headingBlock(b markdown.Block) {
	l := leafOf(w.doc, b)
	text := markdown.OneLine(string(l.text))
	w.counted = 0
	if section := w.facts.Template.section(text); section != nil && b.Level == 2 && b.Top && len(l.marks) == 0 {
		w.section, w.heading, w.behind, w.outside = section, text, false, false
		w.report.headings = append(w.report.headings, title{text, w.wholeLines(b)})
		return
	}
	if b.Level < 3 {
		w.fault(tidegate.HeadingClaims, b.Line, "Begin it with ###, or take it out: the title of the report is the question, and the template has its sections.",
			"line %d has the heading %q, which is none of the template and stands above the third level", b.Line, text)
	}
	if text == "" || !w.placed(b.Line) {
		return
	}
	if len(l.marks) > 0 || len(l.bad) > 0 {
		w.fault(tidegate.HeadingClaims, b.Line, "Put the mark behind a sentence below the heading.", "line %d has a heading with a mark", b.Line)
	}
	w.paragraph++
	s := w.sentence(text, b.Line, heading)
	s.Form, s.block = Frame, w.wholeLines(b)
	s.Start, s.End = w.inner(s.block)
	w.add(s)
	w.heading = text
}

// wholeLines is where the lines of a block begin and end, what stands before the block
// and the last line end included.
func (w *walker) wholeLines(b markdown.Block) span {
	start, end := w.doc.Range(b)
	draft := w.report.draft
	from := bytes.LastIndexAny(draft[:start], "\r\n") + 1
	if n := bytes.IndexByte(draft[end:], '\n'); n >= 0 {
		return span{from, end + n + 1}
	}
	return span{from, len(draft)}
}

// sentence makes a sentence of the present paragraph.
func (w *walker) sentence(text string, line int, kind kind) Sentence {
	s := Sentence{Line: line, Text: text, Paragraph: w.paragraph, kind: kind, words: words(text)}
	s.Context.Heading = w.heading
	if w.section != nil {
		s.Section, s.summary = w.section.Title, w.section.Summary
	}
	s.Firm = w.facts.Template.firm(s.Section)
	return s
}

// add takes a sentence into the report.
func (w *walker) add(s Sentence) {
	s.ID = fmt.Sprintf("c%d", len(w.report.Sentences)+1)
	w.report.Sentences = append(w.report.Sentences, s)
}

// proseBlock is a paragraph.
type proseBlock struct {
	markdown.Block
	leadIn     string
	item       bool   // it begins a list item
	introduces bool   // a list or table follows
	nests      bool   // it is a list item with further items in it
	marker     string // its number, where it is read with it
	draws      bool   // a table stands right above it
}

// prose reads a paragraph.
func (w *walker) prose(p proseBlock) {
	l := leafOf(w.doc, p.Block)
	if l.chart != "" {
		if !p.draws {
			w.fault(tidegate.FormMixed, p.Line, "Put it on a line of its own right below a table, or take it out.", "line %d asks for a chart, and no table stands above it", p.Line)
		}
		return
	}
	if !w.placed(p.Line) {
		return
	}
	lines := w.lineStarts(p.Block)
	w.badMarks(l, lines)
	absent := slices.DeleteFunc(slices.Clone(l.marks), func(m mark) bool { return m.absent == "" })
	var cited []int
	for _, m := range l.marks {
		cited = append(cited, m.at)
	}
	spans := l.labelled(sentence.Split(string(l.text), w.facts.Language, cited...))
	if len(spans) == 0 && len(absent) == 0 {
		if len(l.marks) > 0 {
			w.fault(tidegate.FormMixed, p.Line, "Put it behind the sentence that it belongs to, in the same paragraph.", "line %d has a mark without a sentence before it", p.Line)
		}
		return
	}
	marks := make([][]mark, len(spans))
	for _, m := range l.marks { // a mark belongs to the text before it
		if m.absent != "" {
			continue
		}
		if len(spans) == 0 {
			w.fault(tidegate.FormMixed, p.Line, "Take it out.", "line %d has a mark behind one that is a sentence of its own", p.Line)
			continue
		}
		k, _ := slices.BinarySearchFunc(spans, m.at, func(s sentence.Span, at int) int { return s.Start - at })
		k = max(0, k-1)
		marks[k] = append(marks[k], m)
	}
	w.paragraph++
	var all []Sentence
	whole := w.wholeLines(p.Block)
	var own [][]mark // by sentence
	add := func(s Sentence, marks []mark) {
		s.Context.LeadIn, s.item, s.block, s.quoted = p.leadIn, p.item, whole, w.quotes > 0
		if len(all) > 0 {
			s.Context.Before, s.back = all[len(all)-1].Text, PointsBack(s.Text, w.facts.Language)
		} else {
			s.Text = p.marker + s.Text
		}
		all, own = append(all, s), append(own, marks)
	}
	absences := func(before int) {
		for len(absent) > 0 && absent[0].at < before {
			m := absent[0]
			line := lines.of(m.start)
			if !l.endsAt(m.at) || slices.ContainsFunc(spans, func(s sentence.Span) bool { return s.Start < m.at && m.at < s.End }) {
				w.fault(tidegate.FormMixed, line, "Put a full stop before it, so that it is a sentence of its own.", "line %d says within a sentence what is not on the archived pages", line)
			}
			add(w.absentAt(m, line), nil)
			absent = absent[1:]
		}
	}
	for i, at := range spans {
		absences(at.Start + 1)
		s := w.sentence(markdown.OneLine(string(l.text[at.Start:at.End])), lines.of(int(l.places[at.Start].from)), prose)
		s.Start, s.End = int(l.places[at.Start].from), int(l.places[at.End-1].to)
		s.italics = l.italics(at)
		s.refused = slices.ContainsFunc(l.bad, func(bad int) bool { return s.Start <= bad && bad < s.End })
		for _, m := range marks[i] {
			s.Start, s.End = min(s.Start, m.start), max(s.End, m.end)
		}
		add(s, marks[i])
	}
	absences(len(l.text) + 1)
	w.widen(all, p.Block)
	for i := range all {
		w.form(&all[i], own[i])
		w.limits(&all[i], maxWords, 3)
	}
	w.frames(all, p)
	w.carry(all)
	for _, s := range all {
		w.add(s)
	}
}

// endsAt reports whether a sentence has ended before a place of the text.
func (l leaf) endsAt(at int) bool {
	r, _ := utf8.DecodeLastRune(l.text[:at])
	return at == 0 || r == '\n' || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(",;:", r)
}

// widen makes the places of sentences touch no mark of emphasis: what stands beside a
// sentence without a blank belongs to it.
func (w *walker) widen(all []Sentence, b markdown.Block) {
	draft := w.report.draft
	from, to := w.doc.Range(b)
	for i := range all {
		next := to
		if i+1 < len(all) {
			next = all[i+1].Start
		}
		for all[i].Start > from && !isBlank(draft[all[i].Start-1]) {
			all[i].Start--
		}
		for all[i].End < next && !isBlank(draft[all[i].End]) {
			all[i].End++
		}
		from = all[i].End
	}
}

// lineStarts says in which lines the places of a block are.
type lineStarts []struct{ number, start int }

func (w *walker) lineStarts(b markdown.Block) (lines lineStarts) {
	w.doc.Lines(b, func(number, start int, _ []byte) { lines = append(lines, struct{ number, start int }{number, start}) })
	return lines
}

func (l lineStarts) of(at int) int {
	i, _ := slices.BinarySearchFunc(l, at+1, func(line struct{ number, start int }, at int) int { return line.start - at })
	return l[max(0, i-1)].number
}

// badMarks finds what is no mark and looks like one.
func (w *walker) badMarks(l leaf, lines lineStarts) {
	for _, at := range l.bad {
		bracket, _, _ := bytes.Cut(w.report.draft[at:], []byte("\n"))
		if end := bytes.IndexByte(bracket, ']'); end > 0 {
			bracket = bracket[:end+1]
		}
		w.fault(tidegate.FormMixed, lines.of(at), "Write exactly one of these: "+Grammar+".", "line %d has %q, which begins like a mark and is none", lines.of(at), w.report.named(string(bracket)))
	}
	for _, at := range l.notes {
		w.fault(tidegate.LinkNotAllowed, lines.of(at), "Put the text of the note into the paragraph, and cite with [@id].", "line %d has a footnote", lines.of(at))
	}
}

// table reads a table: each row is a sentence, read with its header cells.
func (w *walker) table(n *markdown.Node, leadIn string) {
	if len(n.Children) == 0 || !w.placed(n.Line) {
		return
	}
	head := w.cells(n.Children[0])
	filled := make([]bool, len(head))
	for _, r := range n.Children[1:] {
		for i, cell := range r.Children {
			filled[i] = filled[i] || len(bytes.TrimSpace(leafOf(w.doc, cell.Block).text)) > 0
		}
	}
	at := -1
	if s, ok := w.header(n.Children[0], head, filled); ok {
		at = len(w.report.Sentences)
		s.Context.LeadIn = leadIn
		w.add(s)
	}
	rows := n.Children[1:]
	if last := len(rows) - 1; last >= 0 && chartIn(w.doc, rows[last]) != "" {
		rows = rows[:last]
	}
	for _, r := range rows {
		w.row(r, head, leadIn)
	}
	if at >= 0 {
		w.report.Sentences[at].covers = span{at + 1, len(w.report.Sentences)}
	}
}

func (w *walker) cells(row *markdown.Node) []leaf {
	cells := make([]leaf, len(row.Children))
	for i, cell := range row.Children {
		cells[i] = leafOf(w.doc, cell.Block)
		w.badMarks(cells[i], w.lineStarts(cell.Block))
	}
	return cells
}

// header reads the header row. The numbers of a column that a row fills are looked for
// with that row.
func (w *walker) header(n *markdown.Node, head []leaf, filled []bool) (s Sentence, ok bool) {
	var texts, empty []string
	var cites []mark
	for i, cell := range head {
		text := markdown.OneLine(string(cell.text))
		texts, cites = append(texts, text), append(cites, cell.marks...)
		if slices.ContainsFunc(cell.marks, func(m mark) bool { return m.cited == "" }) {
			w.fault(tidegate.FormMixed, n.Line, "Put it into the rows that it belongs to.", "line %d has a header cell with a mark that is no citation", n.Line)
		}
		if !filled[i] {
			empty = append(empty, text)
		}
	}
	w.paragraph++
	s = w.sentence(strings.Trim(strings.Join(texts, " | "), " |"), n.Line, header)
	if s.Text == "" {
		return s, false
	}
	w.rowPlace(&s, n)
	if below := w.report.draft[s.block.to:]; len(below) > 0 { // the line of dashes goes where the header goes
		s.block.to += cmp.Or(bytes.IndexByte(below, '\n')+1, len(below))
	}
	if what := w.claims.in(strings.Join(empty, " | ")); what == "" && words(s.Text) <= maxFrame {
		s.Form = Frame
		return s, true
	}
	if w.form(&s, cites); s.Form == "" {
		w.uncited(&s, "Shorten the header to fifteen words, without numbers and quotations above empty columns, or cite its page in it.")
	}
	return s, true
}

// row reads a row, which is cited by its cells or by the header cells of the columns
// that it fills.
func (w *walker) row(n *markdown.Node, head []leaf, leadIn string) {
	var texts, bare []string
	var own, above []mark
	refused := false
	for i, cell := range w.cells(n) {
		text := markdown.OneLine(string(cell.text))
		if cell.chart != "" {
			w.fault(tidegate.FormMixed, n.Line, "Put it on a line of its own right below the table.", "line %d asks for a chart inside a table", n.Line)
		}
		own, refused = append(own, cell.marks...), refused || len(cell.bad) > 0
		if text == "" {
			continue
		}
		bare = append(bare, text)
		if i < len(head) {
			above = append(above, head[i].marks...)
			if title := markdown.OneLine(string(head[i].text)); title != "" {
				text = title + ": " + text
			}
		}
		texts = append(texts, text)
	}
	w.paragraph++
	s := w.sentence(strings.Join(texts, "; "), n.Line, row)
	s.refused = refused
	if s.Text == "" {
		return
	}
	s.Context.LeadIn = leadIn
	w.rowPlace(&s, n)
	if !slices.ContainsFunc(own, func(m mark) bool { return m.inferred != nil }) {
		own = append(own, above...)
	}
	w.form(&s, own)
	if s.Form == "" {
		w.uncited(&s, "Cite the pages in the cells, or in the header cells of the columns that the row fills: [@id].")
	}
	w.limits(&s, maxRow, 6)
	if s.words = words(strings.Join(bare, " ")); s.words > maxRow {
		w.tooLong(&s, s.words, maxRow)
	}
	w.add(s)
}

// rowPlace says where a row stands.
func (w *walker) rowPlace(s *Sentence, n *markdown.Node) {
	s.block = w.wholeLines(n.Children[0].Block)
	s.Start, s.End = w.inner(s.block)
}

// inner is what stands in a block of one line, without marks of quotes before it and the
// line end behind it.
func (w *walker) inner(block span) (start, end int) {
	line := w.report.draft[block.from:block.to]
	return block.to - len(bytes.TrimLeft(line, " \t>")), block.from + len(bytes.TrimRight(line, "\r\n"))
}
