package synthesis

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// htmlWriter writes the documents of a report as HTML. It knows only the elements
// that it writes; all text goes through [htmlWriter.text].
type htmlWriter struct {
	strings.Builder
	*layout
	part     *layoutPart
	contents []content
	cards    []card
	cardOf   map[cardKey]string  // the id of the card that a citation opens
	inHeader bool                // of a table
	last     *block              // the last leaf of the passage that is being written
	unmarked []string            // what is missing and was not found in the passage so far
	linked   map[*reference]bool // the sources whose first citation has an id
	quoting  bool                // quotation marks around a sentence are open
	print    bool                // on paper nothing opens: numbers lead to their sources
}

// content is an entry of the table of contents.
type content struct {
	ID, Title string
	Level     int
}

// card is what a citation opens: the source, and what the cited statement rests
// on. That of a sentence without a citation of its own has no source.
type card struct {
	ID       string
	Sentence *sentenceView // nil where sentences were not checked
	sourceView
}

type cardKey struct {
	passage  *passage
	sentence *ShownSentence
	ref      *reference
}

func (w *htmlWriter) write(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

// text writes text so that it can become no part of the page's markup.
func (w *htmlWriter) text(s string) { w.WriteString(template.HTMLEscapeString(s)) }

func (w *htmlWriter) document(part *layoutPart) {
	w.part = part
	if part.title != "" {
		w.heading(2, part.title, func() { w.text(part.title) })
	}
	walk(part.doc.blocks, w)
}

func (w *htmlWriter) heading(level int, title string, inside func()) {
	id := "part-" + strconv.Itoa(len(w.contents)+1)
	w.contents = append(w.contents, content{id, title, level})
	tag := "h" + strconv.Itoa(level)
	w.write("<", tag, ` id="`, id, `" dir="auto">`)
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
func (w *htmlWriter) tags(b *block) (open, close string) {
	switch {
	case b.Kind == markdown.ParagraphBlock && b.tight:
		return "", ""
	case b.Kind == markdown.ListBlock && !b.Ordered:
		return "<ul>\n", "</ul>\n"
	case b.Kind == markdown.ListBlock && b.Start == 1:
		return "<ol>\n", "</ol>\n"
	case b.Kind == markdown.ListBlock:
		return `<ol start="` + strconv.Itoa(b.Start) + "\">\n", "</ol>\n"
	case b.Kind == markdown.TableBlock:
		return `<div class="scroll" role="region" aria-label="` + w.say("Table") + `" tabindex="0"><table>` + "\n", "</tbody></table></div>\n"
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

func (w *htmlWriter) open(b *block, first bool) {
	if b.Kind == markdown.RowBlock {
		w.inHeader = first
	}
	tag, _ := w.tags(b)
	w.write(tag)
	switch b.Kind {
	case markdown.ParagraphBlock, markdown.CellBlock:
		w.leaf(b)
	case markdown.HeadingBlock:
		w.heading(w.part.headingLevel(b), shownText(string(runes(b.glyphs))), func() { w.leaf(b) })
	}
	for _, r := range b.text {
		w.glyph(r)
	}
}

func (w *htmlWriter) close(b *block) {
	_, tag := w.tags(b)
	w.write(tag)
	switch d := b.drawn; {
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
func (w *htmlWriter) leaf(b *block) {
	passage := w.part.of[b]
	c := w.part.claims[passage]
	run := &htmlRun{w: w, passage: passage, claim: c}
	texts, found := w.layout.text(b, c, w.part.on[b], run)
	run.end()
	w.endLeaf(b, passage, c, texts, found)
}

// endLeaf says, at the end of a passage, what could not be marked in it.
func (w *htmlWriter) endLeaf(b *block, p *passage, c *claim.Claim, texts []string, found map[string]bool) {
	if c == nil {
		return
	}
	if w.last == nil || w.part.of[w.last] != p {
		w.unmarked = texts
	}
	w.last = b
	var rest []string
	for _, text := range w.unmarked {
		if !found[text] {
			rest = append(rest, text)
		}
	}
	w.unmarked = rest
	if lastLeaf(p) != b {
		return
	}
	for _, text := range rest {
		w.write(` <span class="flag wraps">`)
		w.text(w.say("not on the page") + ": “" + tidegate.Cut(shownText(text)) + "”")
		w.write("</span>")
	}
	if c.Verdict == claim.Unchecked {
		w.flag(w.say("not checked"))
	}
}

func lastLeaf(p *passage) (last *block) {
	for _, b := range p.leaves {
		b.eachLeaf(func(b *block) { last = b })
	}
	return last
}

// flag writes a label that a reader sees and hears, on the line of what it is about.
func (w *htmlWriter) flag(label string) {
	w.write("\u00a0", `<span class="flag">`)
	w.text(label)
	w.write("</span>")
}

func (w *htmlWriter) mark(m mark) {
	switch m.kind {
	case markdown.EmphasisSpan, markdown.StrongSpan, markdown.CodeSpan:
		tag := map[markdown.SpanKind]string{markdown.EmphasisSpan: "em", markdown.StrongSpan: "strong", markdown.CodeSpan: "code"}[m.kind]
		if !m.open {
			tag = "/" + tag
		}
		w.write("<", tag, ">")
	case markdown.ImageSpan:
		if m.open {
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
func (w *htmlWriter) link(m mark) {
	switch {
	case isWeb(m.dest) && m.open:
		w.write(`<a rel="nofollow noopener noreferrer" href="`)
		w.text(m.dest)
		w.write(`">`)
	case isWeb(m.dest):
		w.write("</a>")
		if to, err := url.Parse(m.dest); err == nil {
			w.write(` <span class="host">(`)
			w.text(shownText(to.Hostname()))
			w.write(")</span>")
		}
	case !m.open && m.dest != "" && m.dest[0] != '#':
		w.write(` <code class="tag">`)
		w.text(shownText(m.dest))
		w.write("</code>")
	}
}

// rests writes what a sentence rests on as buttons.
func (w *htmlWriter) rests(place citationPlace, p *passage, c *claim.Claim, s *ShownSentence, inLink bool) {
	switch {
	case place.calculated != "" && (s == nil || inLink):
		w.write(`<sup class="cite">`, w.say("calculated"), `</sup>`)
		return
	case place.calculated != "":
		w.button(w.card(cardKey{sentence: s}, nil), w.say("calculated"), w.say("How it was calculated: %s", shownText(place.calculated)), "")
		return
	case place.inferred != nil:
		w.write(`<sup class="cite form">`, w.say("inferred"), `</sup>`)
	}
	for _, ref := range place.refs {
		w.cite(ref, p, c, s, inLink)
	}
}

// cite writes the number of a source as a button that opens its card.
func (w *htmlWriter) cite(ref *reference, p *passage, c *claim.Claim, s *ShownSentence, inLink bool) {
	number := strconv.Itoa(ref.number)
	if inLink { // a button cannot stand in a link
		w.write(`<sup class="cite">`, number, "</sup>")
		return
	}
	key := cardKey{passage: p, ref: ref}
	if s != nil {
		key = cardKey{sentence: s, ref: ref}
	}
	// A passage may cite a source a thousand times, and has one card for it.
	matches := func() []claim.Match {
		switch {
		case s != nil:
			return w.restsOn(ref, s)
		case c != nil:
			return w.found(ref, *c)
		}
		return nil
	}
	id := ""
	if !w.linked[ref] {
		w.linked[ref] = true
		id = "cite-" + number
	}
	w.button(w.card(key, matches), number, fmt.Sprintf("%s %d: %s", w.say("Source"), ref.number, ref.name()), id)
}

// card is the id of a card, which is made when it is first asked for.
func (w *htmlWriter) card(key cardKey, matches func() []claim.Match) string {
	if id, made := w.cardOf[key]; made {
		return id
	}
	c := card{ID: "card-" + strconv.Itoa(len(w.cards)+1)}
	var found []claim.Match
	if key.ref != nil {
		found = matches()
		c.sourceView = w.sourceView(key.ref, found)
	}
	if key.sentence != nil {
		c.Sentence = w.layout.sentenceView(key.sentence, key.ref)
	} else {
		c.Excerpts = viewExcerpts(excerpts(key.ref.Text, found))
	}
	w.cardOf[key] = c.ID
	w.cards = append(w.cards, c)
	return c.ID
}

// endQuotation closes the quotation marks around a sentence that is nearly a page's words,
// before what follows it.
func (w *htmlWriter) endQuotation() {
	if w.quoting {
		w.write(`<span class="near">”</span>`)
	}
	w.quoting = false
}

// button writes a button that opens a card.
func (w *htmlWriter) button(card, label, about, id string) {
	w.endQuotation()
	if w.print {
		if _, err := strconv.Atoi(label); err == nil {
			w.write(`<sup class="cite"><a href="#source-`, label, `">`, label, "</a></sup>")
		} else if label != "°" {
			w.write(`<sup class="cite">`, label, "</sup>")
		}
		return
	}
	w.write(`<sup class="cite"><button type="button" popovertarget="`, card, `"`)
	if id != "" {
		w.write(` id="`, id, `"`)
	}
	w.write(` aria-label="`)
	w.text(about)
	w.write(`">`, label, "</button></sup>")
}

// endSentence writes what a reader must know of a sentence, and a button for one that has
// no other.
func (w *htmlWriter) endSentence(s *ShownSentence) {
	w.endQuotation()
	if s.Form == evidence.Frame || s.Form == evidence.Carried || len(s.CIDs) == 1 && s.CIDs[0] == evidence.RunCID {
		w.button(w.card(cardKey{sentence: s}, nil), "°", w.say("How this sentence stands"), "")
	}
	switch label := w.label(s); {
	case s.Accepted != nil:
		w.write("\u00a0", `<span class="status fair">`)
		w.text(label)
		w.write("</span>")
	case label != "":
		w.flag(label)
	}
}

// htmlRun writes the text of a leaf. It keeps the text under way that is shown in
// one way.
type htmlRun struct {
	w       *htmlWriter
	passage *passage
	claim   *claim.Claim
	runClass
}

// runClass is how a run of text is shown.
type runClass struct {
	kind     runKind
	sentence *ShownSentence
}

type runKind uint8

const (
	plainRun runKind = iota
	missingRun
	tagRun
)

func (r *htmlRun) mark(m mark) {
	r.end()
	r.w.mark(m)
}

func (r *htmlRun) keep(open bool) {
	if !open {
		r.w.write("</span>")
		return
	}
	r.end()
	r.w.write(`<span class="keep">`)
}

func (r *htmlRun) cite(place citationPlace, in *ShownSentence, inLink bool) {
	r.end()
	r.w.rests(place, r.passage, r.claim, in, inLink)
}

func (r *htmlRun) endSentence(s *ShownSentence) {
	r.end()
	r.w.endSentence(s)
}

func (r *htmlRun) glyph(g glyph, _ rune, is glyphIs) {
	if is.beforeRef { // the citation stands next to what it is about
		return
	}
	class := runClass{sentence: is.sentence}
	switch {
	case g.in&inTag != 0:
		class.kind = tagRun
	case is.missing:
		class.kind = missingRun
	}
	if class != r.runClass {
		r.end()
		r.begin(class)
	}
	if g.in&hardBreak != 0 {
		r.w.write("<br>\n")
	} else {
		r.w.glyph(g.r)
	}
}

func (r *htmlRun) endMissing() { r.end() }

// begin opens a run.
func (r *htmlRun) begin(class runClass) {
	r.runClass = class
	if s := class.sentence; s != nil {
		if !r.w.quoting && s.NearlyQuoted() {
			r.w.write(`<span class="near">“</span>`)
			r.w.quoting = true
		}
		r.w.write(`<span class="s `, string(s.Form))
		if s.Doubted {
			r.w.write(" doubted")
		}
		r.w.write(`">`)
	}
	r.w.write([...]string{"", `<span class="missing">`, `<code class="tag">`}[class.kind])
}

// end closes what the run opened.
func (r *htmlRun) end() {
	switch r.kind {
	case missingRun:
		r.w.write("</span>")
		r.w.flag(r.w.say("not on the page"))
	case tagRun:
		r.w.write("</code>")
	}
	if r.sentence != nil {
		r.w.write("</span>")
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
