package synthesis

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
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
	shift    int                 // how many levels the headings of the part go down
	last     *block              // the last leaf of the passage that is being written
	unmarked []string            // what is missing and was not found in the passage so far
	linked   map[*reference]bool // the sources whose first citation has an id
}

// content is an entry of the table of contents.
type content struct {
	ID, Title string
	Level     int
}

// card is what a citation opens: the source, and what the cited statement rests
// on.
type card struct {
	ID string
	sourceView
}

type cardKey struct {
	passage *passage
	ref     *reference
}

func (w *htmlWriter) write(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

// text writes text so that it can become no part of the page's markup.
func (w *htmlWriter) text(s string) { w.WriteString(template.HTMLEscapeString(s)) }

func (w *htmlWriter) document(part *layoutPart) {
	w.part, w.shift = part, 0
	if part.title != "" {
		w.shift = 1
		w.heading(2, part.title, func() { w.text(part.title) })
	}
	w.blocks(part.doc.blocks)
}

func (w *htmlWriter) heading(level int, title string, inside func()) {
	id := "part-" + strconv.Itoa(len(w.contents)+1)
	w.contents = append(w.contents, content{id, title, level})
	tag := "h" + strconv.Itoa(level)
	w.write("<", tag, ` id="`, id, `" dir="auto">`)
	inside()
	w.write("</", tag, ">\n")
}

func (w *htmlWriter) blocks(blocks []*block) {
	for _, b := range blocks {
		w.block(b)
	}
}

func (w *htmlWriter) block(b *block) {
	switch b.kind {
	case paragraph:
		w.write(`<p dir="auto">`)
		w.leaf(b)
		w.write("</p>\n")
	case heading:
		level := min(max(b.level+w.shift, 2), 6)
		w.heading(level, shownText(string(runes(b.glyphs))), func() { w.leaf(b) })
	case list:
		w.list(b)
	case quote:
		w.write("<blockquote>\n")
		w.blocks(b.children)
		w.write("</blockquote>\n")
	case code:
		w.write(`<pre tabindex="0"><code>`)
		w.shownLines(b.text)
		w.write("</code></pre>\n")
	case html:
		w.write(`<pre tabindex="0" class="html">`)
		w.shownLines(b.text)
		w.write("</pre>\n")
	case rule:
		w.write("<hr>\n")
	case table:
		w.table(b)
	}
}

func (w *htmlWriter) shownLines(text string) {
	for _, r := range text {
		w.glyph(r)
	}
}

func (w *htmlWriter) list(b *block) {
	tag, open := "ul", "<ul"
	if b.ordered {
		tag, open = "ol", "<ol"
		if b.start != 1 {
			open += ` start="` + strconv.Itoa(b.start) + `"`
		}
	}
	w.write(open, ">\n")
	for _, item := range b.children {
		w.write(`<li dir="auto">`)
		for _, child := range item.children {
			if child.kind == paragraph && !b.loose {
				w.leaf(child)
				continue
			}
			w.block(child)
		}
		w.write("</li>\n")
	}
	w.write("</", tag, ">\n")
}

func (w *htmlWriter) table(b *block) {
	w.write(`<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>`, "\n")
	for i, row := range b.children {
		tag, open := "td", "<td"
		if i == 0 {
			tag, open = "th", `<th scope="col"`
			w.write("<thead>")
		}
		w.write("<tr>")
		for _, cell := range row.children {
			w.write(open)
			if cell.align != "" {
				w.write(` class="`, cell.align, `"`)
			}
			w.write(` dir="auto">`)
			w.leaf(cell)
			w.write("</", tag, ">")
		}
		w.write("</tr>")
		switch {
		case i == 0:
			w.write("</thead>\n<tbody>\n")
		default:
			w.write("\n")
		}
	}
	w.write("</tbody></table></div>\n")
}

// leaf writes the text of a block, its citations as buttons, and marks what no
// cited page has.
func (w *htmlWriter) leaf(b *block) {
	passage := w.part.of[b]
	c := w.part.claims[passage]
	texts, found := notFound(c), map[string]bool{}
	run := htmlRun{w: w, missing: b.leaf.missing(texts, found)}
	cited, marks := w.citations(b.leaf), b.marks
	for i := 0; i <= len(b.glyphs); i++ {
		if len(cited) > 0 && cited[0].to == i {
			if cited[0].kept && !cited[0].more {
				w.write("</span>")
			}
			cited = cited[1:]
		}
		for len(marks) > 0 && marks[0].at == i {
			run.end()
			w.mark(marks[0])
			marks = marks[1:]
		}
		if len(cited) > 0 && cited[0].word == i {
			run.end()
			w.write(`<span class="keep">`)
		}
		if len(cited) > 0 && cited[0].from == i {
			run.end()
			w.cite(cited[0].ref, passage, c, b.glyphs[i].in&inLink != 0)
		}
		if i < len(b.glyphs) && (len(cited) == 0 || i < cited[0].blank) {
			run.glyph(i, b.glyphs[i])
		}
	}
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
		w.text("not on the page: “" + tidegate.Cut(shownText(text)) + "”")
		w.write("</span>")
	}
	if c.Verdict == claim.Unchecked {
		w.flag("not checked")
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
	case emphasis, strong, codeSpan:
		tag := map[markKind]string{emphasis: "em", strong: "strong", codeSpan: "code"}[m.kind]
		if !m.open {
			tag = "/" + tag
		}
		w.write("<", tag, ">")
	case image:
		if m.open {
			w.write(`<span class="image">Image: `)
		} else {
			w.write("</span>")
		}
	case link:
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

// cite writes the number of a source as a button that opens its card.
func (w *htmlWriter) cite(ref *reference, p *passage, c *claim.Claim, inLink bool) {
	number := strconv.Itoa(ref.number)
	if inLink { // a button cannot stand in a link
		w.write(`<sup class="cite">`, number, "</sup>")
		return
	}
	key := cardKey{p, ref}
	id, made := w.cardOf[key]
	if !made {
		id = "card-" + strconv.Itoa(len(w.cards)+1)
		w.cardOf[key] = id
		var matches []claim.Match
		if c != nil {
			matches = w.found(ref, *c)
		}
		view := w.sourceView(ref, matches)
		view.Excerpts = viewExcerpts(excerpts(ref.Text, matches))
		w.cards = append(w.cards, card{id, view})
	}
	w.write(`<sup class="cite"><button type="button" popovertarget="`, id, `"`)
	if !w.linked[ref] {
		w.linked[ref] = true
		w.write(` id="cite-`, number, `"`)
	}
	w.write(` aria-label="`)
	w.text(fmt.Sprintf("Source %d: %s", ref.number, ref.name()))
	w.write(`">`, number, "</button></sup>")
}

// htmlRun is text under way that is shown in one way.
type htmlRun struct {
	w       *htmlWriter
	missing []span
	class   runClass
}

type runClass uint8

const (
	plainRun runClass = iota
	missingRun
	tagRun
)

func (r *htmlRun) glyph(i int, g glyph) {
	for len(r.missing) > 0 && r.missing[0].to <= i {
		r.end()
		r.missing = r.missing[1:]
	}
	class := plainRun
	switch {
	case g.in&inTag != 0:
		class = tagRun
	case len(r.missing) > 0 && r.missing[0].from <= i:
		class = missingRun
	}
	if class != r.class {
		r.end()
		r.class = class
		r.w.write([...]string{"", `<span class="missing">`, `<code class="tag">`}[class])
	}
	switch {
	case g.in&hardBreak != 0:
		r.w.write("<br>\n")
	default:
		r.w.glyph(g.r)
	}
}

// end closes what the run opened.
func (r *htmlRun) end() {
	switch r.class {
	case missingRun:
		r.w.write("</span>")
		r.w.flag("not on the page")
	case tagRun:
		r.w.write("</code>")
	}
	r.class = plainRun
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
