package paper

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// htmlWriter writes the documents of a report as HTML. It knows only the elements
// that it writes; all text goes through [htmlWriter.text].
type htmlWriter struct {
	strings.Builder
	*layout
	part        *layoutPart
	frame       Frame
	contents    []content
	answer      string                  // what stands before the rest
	answered    int                     // how many blocks of the document do
	answerState State                   // the gravest of its sentences
	room        int                     // bytes that may still be written beside the text
	inHeader    bool                    // of a table
	title       string                  // of the last heading
	linked      map[*reference]bool     // the sources whose first citation has an id
	quoting     bool                    // quotation marks around a sentence are open
	lead        *ShownSentence          // stands beside the text until another is chosen, where there is room
	print       bool                    // on paper nothing opens: numbers lead to their sources
	begun       map[*ShownSentence]bool // its element with the id of the sentence is written
	asked       *ShownSentence          // whether it is nearly quoted
	nearly      bool
}

// content is an entry of the table of contents.
type content struct {
	ID, Title string
	Level     int
}

func (w *htmlWriter) write(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

// text writes text so that it can become no part of the page's markup.
func (w *htmlWriter) text(s string) { w.WriteString(template.HTMLEscapeString(s)) }

// leadingAnswer draws what stands before the rest: the section that answers, its sentences
// where it comes later, or the worst of an audit.
func (w *htmlWriter) leadingAnswer() {
	switch n := w.leading(); {
	case w.Audit != nil:
		w.answer = w.worst()
	case n > 0:
		w.part = &w.parts[0]
		w.part.walk(w.part.doc.Blocks[:n], w)
		var all []*ShownSentence
		(&draft.Document{Blocks: w.part.doc.Blocks[:n]}).EachLeaf(func(b *draft.Block) {
			for _, run := range w.part.on[b] {
				if run.last {
					all = append(all, run.ShownSentence)
				}
			}
		})
		w.answer = w.String() + w.answerNote(all)
		w.Reset()
		w.answered = n
	default:
		w.answer = w.quotedAnswer()
	}
}

// answerNote says in words which sentences of the answer do not simply stand.
func (w *htmlWriter) answerNote(all []*ShownSentence) string {
	counts, notes := map[State]int{}, []string(nil)
	for _, s := range all {
		counts[s.State()]++
	}
	for _, state := range States {
		n := counts[state]
		if n > 0 && !state.Firm() || n == len(all) {
			w.answerState = cmp.Or(w.answerState, state)
		}
		if n > 0 && (!state.Firm() || state == Inferred) {
			notes = append(notes, looks[state].sign+" "+w.amount(n, len(all))+" "+w.words(state))
		}
	}
	if notes == nil {
		return ""
	}
	return `<p class="aside">` + template.HTMLEscapeString(strings.Join(notes, " · ")) + "</p>\n"
}

func (w *htmlWriter) document(part *layoutPart) {
	w.part = part
	if part.title != "" {
		w.heading(2, part.title, func() { w.text(part.title) })
	}
	part.walk(part.doc.Blocks[w.answered:], w)
	w.answered = 0
}

// quotedAnswer are the sentences of the answer, each of which leads to where it stands.
func (w *htmlWriter) quotedAnswer() string {
	var b strings.Builder
	for _, s := range w.quoted() {
		b.WriteString(` <a class="s" data-state="` + string(s.State()) + `" href="#` + template.HTMLEscapeString(s.ID) + `">` + template.HTMLEscapeString(shownText(s.Text)) + "</a>")
	}
	if b.Len() == 0 {
		return ""
	}
	return `<h2>` + template.HTMLEscapeString(w.AnswerTitle) + `</h2><p dir="auto">` + b.String() + "</p>\n" + w.answerNote(w.quoted())
}

func (w *htmlWriter) heading(level int, title string, inside func()) {
	w.title = title
	tag := "h" + strconv.Itoa(level)
	w.write("<", tag)
	if !w.part.own {
		id := "part-" + strconv.Itoa(len(w.contents)+1)
		w.contents = append(w.contents, content{id, title, level})
		w.write(` id="`, id, `"`)
	}
	w.write(` dir="auto">`)
	inside()
	w.write("</", tag, ">\n")
}

// simpleTags are what stands before and after what a block holds.
var simpleTags = map[markdown.BlockKind][2]string{
	markdown.ParagraphBlock: {`<p dir="auto">`, "</p>\n"},
	markdown.ItemBlock:      {`<li dir="auto">`, "</li>\n"},
	markdown.QuoteBlock:     {"<blockquote>\n", "</blockquote>\n"},
	markdown.CodeBlock:      {`<pre tabindex="0"><code>`, "</code></pre>\n"},
	markdown.HTMLBlock:      {`<pre tabindex="0" class="html">`, "</pre>\n"},
	markdown.RuleBlock:      {"<hr>\n"},
	markdown.RowBlock:       {"<tr>", "</tr>\n"},
}

// tags are those of a block. A paragraph of a tight list has none.
func (w *htmlWriter) tags(b *draft.Block) (open, close string) {
	switch {
	case b.Kind == markdown.ParagraphBlock && b.Tight:
		return "", ""
	case b.Kind == markdown.ListBlock && !b.Ordered:
		return "<ul>\n", "</ul>\n"
	case b.Kind == markdown.ListBlock && b.Start == 1:
		return "<ol>\n", "</ol>\n"
	case b.Kind == markdown.ListBlock:
		return `<ol start="` + strconv.Itoa(b.Start) + "\">\n", "</ol>\n"
	case b.Kind == markdown.TableBlock:
		label := w.say("Table")
		if w.part.own {
			label = template.HTMLEscapeString(w.title) // there are several
		}
		return `<div class="scroll" role="region" aria-label="` + label + `" tabindex="0"><table>` + "\n", "</tbody></table></div>\n"
	case b.Kind == markdown.RowBlock && w.inHeader:
		return "<thead><tr>", "</tr></thead>\n<tbody>\n"
	case b.Kind == markdown.CellBlock:
		open, close = "<td", "</td>"
		if w.inHeader {
			open, close = `<th scope="col"`, "</th>"
		}
		if b.Align != "" {
			open += ` class="` + b.Align + `"`
		}
		return open + ` dir="auto">`, close
	}
	return simpleTags[b.Kind][0], simpleTags[b.Kind][1]
}

func (w *htmlWriter) open(b *draft.Block, first bool) {
	if b.Kind == markdown.RowBlock {
		w.inHeader = first
	}
	tag, _ := w.tags(b)
	w.write(tag)
	switch b.Kind {
	case markdown.ParagraphBlock, markdown.CellBlock:
		w.leaf(b)
	case markdown.HeadingBlock:
		w.heading(w.part.headingLevel(b), titleOf(b), func() { w.leaf(b) })
	}
	for _, r := range b.Text {
		w.glyph(r)
	}
}

func (w *htmlWriter) close(b *draft.Block) {
	_, tag := w.tags(b)
	w.write(tag)
	switch d := w.part.charts[b]; {
	case d == nil:
	case d.Chart == nil:
		w.write(`<p class="aside">`)
		w.text(d.why)
		w.write("</p>\n")
	default:
		w.write(`<figure class="drawn">`, string(d.SVG(d.words, d.id, false)), "</figure>\n")
	}
}

// leaf writes the text of a block, its citations as buttons, and marks what no
// cited page has.
func (w *htmlWriter) leaf(b *draft.Block) {
	run := &htmlRun{w: w}
	w.layout.text(w.part, b, run)
	run.end()
}

// flag writes a label that a reader sees and hears, on the line of what it is about.
func (w *htmlWriter) flag(label string) {
	w.write("\u00a0", `<span class="flag">`)
	w.text(label)
	w.write("</span>")
}

func (w *htmlWriter) mark(m draft.Mark) {
	switch m.Kind {
	case markdown.EmphasisSpan, markdown.StrongSpan, markdown.CodeSpan:
		tag := map[markdown.SpanKind]string{markdown.EmphasisSpan: "em", markdown.StrongSpan: "strong", markdown.CodeSpan: "code"}[m.Kind]
		if !m.Open {
			tag = "/" + tag
		}
		w.write("<", tag, ">")
	case markdown.ImageSpan:
		if m.Open {
			w.write(`<span class="image">Image: `)
		} else {
			w.write("</span>")
		}
	case markdown.LinkSpan:
		w.link(m)
	}
}

// link writes a link to a web page, and after it the host that it leads to: its
// text may name another one. Where a link to anything else leads is shown.
func (w *htmlWriter) link(m draft.Mark) {
	switch {
	case isWeb(m.Dest) && m.Open:
		w.write(`<a rel="nofollow noopener noreferrer" href="`)
		w.text(m.Dest)
		w.write(`">`)
	case isWeb(m.Dest):
		w.write("</a>")
		if to, err := url.Parse(m.Dest); err == nil {
			w.write(` <span class="host">(`)
			w.text(shownText(to.Hostname()))
			w.write(")</span>")
		}
	case !m.Open && m.Dest != "" && m.Dest[0] != '#':
		w.write(` <code class="tag">`)
		w.text(shownText(m.Dest))
		w.write("</code>")
	}
}

// rests writes what a sentence rests on as buttons.
func (w *htmlWriter) rests(place citationPlace, s *ShownSentence, inLink bool) {
	switch {
	case place.Absent != "":
		w.text(place.absence(s))
		return
	case place.Calculated != "":
		formula, _, _ := strings.Cut(place.Calculated, "=")
		w.cite("calc", w.opens(s), "ƒ "+strings.TrimSpace(shownText(formula)), "", "", inLink)
		return
	}
	for _, ref := range place.refs {
		id := ""
		if !w.linked[ref] && !inLink {
			w.linked[ref] = true
			id = "cite-" + ref.mark()
		}
		to := w.opens(s)
		if to == "" {
			to = "source-" + ref.mark()
		}
		w.cite("", to, ref.mark(), fmt.Sprintf("%s %d: %s", w.say("Source"), ref.number, ref.name()), id, inLink)
	}
}

// opens is the id of what a citation opens beside the text, "" where nothing does.
func (w *htmlWriter) opens(s *ShownSentence) string {
	if w.print || s == nil || !w.begun[s] {
		return ""
	}
	return s.ID
}

// cite writes a mark that leads to what it is about.
func (w *htmlWriter) cite(class, to, label, about, id string, inLink bool) {
	w.endQuotation()
	w.write(`<sup class="cite`)
	if class != "" {
		w.write(" ", class)
	}
	w.write(`">`)
	if to == "" || inLink { // a link cannot stand in another
		w.text(label)
		w.write("</sup>")
		return
	}
	w.write(`<a href="#`, to, `"`)
	if id != "" && !w.print {
		w.write(` id="`, id, `"`)
	}
	if !w.print && about != "" {
		w.write(` aria-label="`)
		w.text(about)
		w.write(`"`)
	}
	w.write(">")
	w.text(label)
	w.write("</a></sup>")
}

// roomFor reports whether something may still be written beside the text, about as much as
// a number of passages.
func (w *htmlWriter) roomFor(passages int) bool {
	const skeleton, passage = 300, 900
	w.room -= skeleton + passage*passages
	return w.room > 0
}

// aside writes what stands beside the text. Its own marks are none of the text's.
func (w *htmlWriter) aside(write func()) {
	quoting := w.quoting
	w.quoting = false
	write()
	w.quoting = quoting
}

// endQuotation closes the quotation marks around a sentence that is nearly a page's words,
// before what follows it.
func (w *htmlWriter) endQuotation() {
	if w.quoting {
		w.write(`<span class="near">”</span>`)
	}
	w.quoting = false
}

// endSentence writes what a reader must know of a sentence, and a mark for one that has
// no other.
func (w *htmlWriter) endSentence(s *ShownSentence) {
	w.endQuotation()
	if !w.begun[s] && !w.print && w.roomFor(len(s.Windows)) { // all of it stands in a link
		w.begun[s] = true
		w.write(`<span class="s at" id="`)
		w.text(s.ID)
		w.write(`"></span>`)
		w.aside(func() { w.beside(s) })
	}
	if w.begun[s] && (w.Audit != nil || s.Form == evidence.Frame || s.Form == evidence.Carried || s.Form == evidence.Absent || len(s.CIDs) == 1 && s.CIDs[0] == evidence.RunCID) {
		w.cite("", s.ID, "°", w.say("How this sentence stands"), "", false)
	}
	if label := w.label(s); label != "" {
		w.write("\u00a0", `<span class="flag" data-state="`, string(s.State()), `">`)
		for _, f := range s.wrong() {
			for _, part := range []string{f.has, f.page} { // in whatever script
				if before, after, found := strings.Cut(label, part); found && part != "" {
					w.text(before)
					w.elem("bdi", "", part)
					label = after
				}
			}
		}
		w.text(label)
		w.write("</span>")
	}
}

// htmlRun writes the text of a leaf. It keeps the text under way that is shown in
// one way.
type htmlRun struct {
	w     *htmlWriter
	first bool // what stands beside the sentence follows
	runClass
}

// runClass is how a run of text is shown.
type runClass struct {
	kind     runKind
	sentence *ShownSentence
	inLink   bool
}

type runKind uint8

const (
	plainRun runKind = iota
	missingRun
	tagRun
)

func (r *htmlRun) mark(m draft.Mark) {
	r.end()
	r.w.mark(m)
}

func (r *htmlRun) cite(place citationPlace, in *ShownSentence, inLink bool) {
	r.end()
	r.w.rests(place, in, inLink)
}

func (r *htmlRun) endSentence(s *ShownSentence) {
	r.end()
	r.w.endSentence(s)
}

func (r *htmlRun) glyph(g draft.Glyph, _ rune, is glyphIs) {
	if is.beforeRef { // the citation stands next to what it is about
		return
	}
	class := runClass{sentence: is.sentence, inLink: g.In&draft.InLink != 0}
	switch {
	case g.In&draft.InTag != 0:
		class.kind = tagRun
	case is.missing:
		class.kind = missingRun
	}
	if class != r.runClass {
		r.end()
		r.begin(class)
	}
	if g.In&draft.HardBreak != 0 {
		r.w.write("<br>\n")
	} else {
		r.w.glyph(g.Rune)
	}
}

func (r *htmlRun) endMissing() { r.end() }

// nearlyQuoted asks once for a sentence, which is shown in several pieces.
func (w *htmlWriter) nearlyQuoted(s *ShownSentence) bool {
	if w.asked != s {
		w.asked, w.nearly = s, w.Report.nearlyQuoted(s)
	}
	return w.nearly
}

// openSentence opens the element of a piece of a sentence. The first that can be led to has its
// id; those behind it are marked with it.
func (w *htmlWriter) openSentence(s *ShownSentence, inLink bool) (first bool) {
	w.write(`<span class="s`)
	if s.Form == foreign.Uncited {
		w.write(" uncited")
	}
	if w.begun[s] {
		w.write(" more")
	}
	w.write(`" data-state="`, string(s.State()), `"`)
	if first = !inLink && !w.print && !w.begun[s] && w.roomFor(len(s.Windows)); first {
		w.begun[s] = true
		w.write(` id="`)
		w.text(s.ID)
		w.write(`"`)
	}
	w.write(">")
	return first
}

// begin opens a run.
func (r *htmlRun) begin(class runClass) {
	r.runClass = class
	if s := class.sentence; s != nil {
		if !r.w.quoting && r.w.nearlyQuoted(s) {
			r.w.write(`<span class="near">“</span>`)
			r.w.quoting = true
		}
		r.first = r.w.openSentence(s, class.inLink)
	}
	r.w.write([...]string{"", `<span class="missing">`, `<code class="tag">`}[class.kind])
}

// end closes what the run opened.
func (r *htmlRun) end() {
	switch r.kind {
	case missingRun:
		r.w.write("</span>")
		if s := r.sentence; s == nil || !slices.ContainsFunc(s.wrong(), func(f wrong) bool { return f.page != "" }) {
			r.w.flag(r.w.say("not on the page"))
		}
	case tagRun:
		r.w.write("</code>")
	}
	if r.sentence != nil {
		r.w.write("</span>")
	}
	if s := r.sentence; r.first {
		r.first = false
		r.w.aside(func() { r.w.beside(s) })
	}
	r.runClass = runClass{}
}

// glyph writes one character.
func (w *htmlWriter) glyph(r rune) {
	switch {
	case concealed(r):
		w.write(`<span class="control">`, shown(r), "</span>")
	case strings.ContainsRune(`<>&"'`, r):
		w.text(string(r))
	default:
		w.WriteRune(r)
	}
}
