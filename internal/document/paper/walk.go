package paper

import (
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// blockSink takes the blocks of a document, each before and after what it holds.
type blockSink interface {
	open(b *draft.Block, first bool) // first: no block stands before it in the same container
	close(b *draft.Block)
}

// writer draws a whole report in one format, in the order of [layout.draw].
type writer interface {
	blockSink
	begin(part *layoutPart) // the blocks that follow are of this part
	own(kind own, text string)
	heading(level int, text string)
	reference(ref *reference) // without a number where the report does not cite it
}

// own is what a paragraph of the report's own words is.
type own uint8

const (
	ownBanner own = iota // what must be known first: titles, and below them what they mean
	ownTitle
	ownLine // what a reader asks first: when, against how much, at what cost
	ownTrust
	ownAnswer
	ownText
	ownFoot
)

// draw takes the report to a writer, from what must be known before the first line to the
// program that made it.
func (l *layout) draw(w writer) {
	var titles, texts []string
	for _, b := range l.banners() {
		titles, texts = append(titles, b.Title+"."), append(texts, b.Text)
	}
	if len(titles) > 0 {
		w.own(ownBanner, strings.Join(titles, " ")+"\n"+strings.Join(texts, " "))
	}
	w.own(ownTitle, l.Question)
	w.own(ownLine, l.kind()+" · "+l.Status().Words+" · "+l.line())
	leading := 0
	if n := l.leading(); n > 0 {
		leading = n
		w.begin(&l.parts[0])
		l.parts[0].walk(l.parts[0].doc.Blocks[:n], w)
	} else if answer := l.quoted(); len(answer) > 0 {
		w.own(ownAnswer, l.numbered(answer))
	}
	if l.Trust != "" {
		w.own(ownTrust, l.Trust)
	}
	for i := range l.parts {
		part := &l.parts[i]
		w.begin(part)
		if part.title != "" {
			w.heading(2, part.title)
		}
		part.walk(part.doc.Blocks[leading:], w)
		leading = 0
	}
	w.heading(2, l.say("References"))
	if len(l.cited) == 0 {
		w.own(ownText, l.say("The report cites no source."))
	}
	for _, ref := range l.cited {
		w.reference(ref)
	}
	if len(l.others) > 0 {
		w.heading(3, l.say("Sources that the report does not cite"))
		for _, s := range l.others {
			w.reference(&reference{Source: s})
		}
	}
	for _, s := range l.appendix() {
		w.begin(s.part())
		w.heading(2, s.Title)
		s.part().walk(s.part().doc.Blocks, w)
	}
	w.own(ownFoot, l.Program+", "+l.say("run %s", l.RunID))
}

// kind says what the report is.
func (r *Report) kind() string {
	if r.Partial != "" {
		return r.say("Partial research report")
	}
	return r.say("Research report")
}

// leading is how many blocks the section that answers has where the only document begins with
// it, 0 where it does not.
func (l *layout) leading() int {
	if l.Audit != nil || len(l.parts) != 1 {
		return 0
	}
	blocks := l.parts[0].doc.Blocks
	if len(blocks) < 2 || blocks[0].Kind != markdown.HeadingBlock || l.AnswerTitle != "" && titleOf(blocks[0]) != l.AnswerTitle {
		return 0
	}
	n := 1
	for n < len(blocks) && (blocks[n].Kind != markdown.HeadingBlock || blocks[n].Level > blocks[0].Level) {
		n++
	}
	return n
}

// titleOf is the text of a heading.
func titleOf(b *draft.Block) string { return shownText(string(draft.Runes(b.Glyphs))) }

// quoted are the sentences of the answer where its section does not begin the report.
func (l *layout) quoted() (out []*ShownSentence) {
	if l.Audit != nil || l.AnswerTitle == "" || len(l.Parts) == 0 {
		return nil
	}
	all := l.Parts[len(l.Parts)-1].Sentences
	for i := range all {
		if all[i].Section == l.AnswerTitle && len(out) < evidence.MostAnswer {
			out = append(out, &all[i])
		}
	}
	return out
}

// numbered are sentences as they stand, with the numbers of their sources.
func (l *layout) numbered(sentences []*ShownSentence) string {
	var out []string
	for _, s := range sentences {
		place := citationPlace{}
		for _, cid := range s.CIDs {
			if ref := l.byCID[cid]; ref != nil && ref.number > 0 {
				place.refs = append(place.refs, ref)
			}
		}
		text := shownText(s.Text)
		if s.Form == evidence.Inferred {
			place.Inferred = s.CIDs
			text += " [" + place.words(l.Report) + "]"
		} else {
			for _, ref := range place.refs {
				text += keptBlank + "[" + ref.mark() + "]"
			}
		}
		if label := l.label(s); label != "" {
			text += " (" + l.back(label) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// walk shows blocks of the part, without those that are left out.
func (p *layoutPart) walk(blocks []*draft.Block, to blockSink) {
	for i, b := range blocks {
		if p.left[b] {
			continue
		}
		to.open(b, i == 0)
		p.walk(b.Children, to)
		to.close(b)
	}
}

// headingLevel is that of a heading in the report, whose own title is the first:
// in a part with a title it stands one level deeper.
func (p *layoutPart) headingLevel(b *draft.Block) int {
	level := b.Level
	if p.title != "" {
		level++
	}
	return min(max(level, 2), 6)
}

// textSink takes the text of a leaf.
type textSink interface {
	mark(draft.Mark)
	cite(place citationPlace, in *ShownSentence, inLink bool) // in the place of the citation's own text
	endSentence(s *ShownSentence)                             // behind its marks
	glyph(g draft.Glyph, next rune, is glyphIs)               // next is 0 at the end
	endMissing()                                              // of a text that no cited page has
}

// glyphIs says what a character belongs to.
type glyphIs struct {
	missing   bool // a text that no cited page has
	beforeRef bool // the white space before a citation
	sentence  *ShownSentence
}

// notes are the report's own words behind what they are about, in formats in which nothing
// opens beside the text.
type notes struct {
	*Report
	note func(text string)
}

func (n notes) endMissing() { n.note(n.say("not on the page")) }

func (n notes) endSentence(s *ShownSentence) {
	if label := n.label(s); label != "" {
		n.note(n.back(label))
	}
}

// back is a label behind a sentence, which points back at it: else it seems to open the next.
func (r *Report) back(label string) string {
	if evidence.Direction(r.Language) == "rtl" {
		return "→ " + label
	}
	return "← " + label
}

// text walks over a leaf.
func (l *layout) text(p *layoutPart, b *draft.Block, to textSink) {
	on := p.on[b]
	missing, marks := missingIn(b.Leaf, notOnPages(on)), b.Marks
	var cited []citationPlace
	if !p.own {
		cited = l.citations(b.Leaf)
	}
	for i := 0; i <= len(b.Glyphs); i++ {
		if len(missing) > 0 && missing[0].to == i {
			to.endMissing()
			missing = missing[1:]
		}
		if len(cited) > 0 && cited[0].to == i {
			cited = cited[1:]
		}
		if len(on) > 0 && on[0].to == i {
			if on[0].last {
				to.endSentence(on[0].ShownSentence)
			}
			on = on[1:]
		}
		var in *ShownSentence
		if len(on) > 0 && on[0].from <= i {
			in = on[0].ShownSentence
		}
		for len(marks) > 0 && marks[0].At == i {
			to.mark(marks[0])
			marks = marks[1:]
		}
		if len(cited) > 0 && cited[0].from == i {
			to.cite(cited[0], in, b.Glyphs[i].In&draft.InLink != 0)
		}
		if i < len(b.Glyphs) && (len(cited) == 0 || i < cited[0].from) {
			is := glyphIs{missing: len(missing) > 0 && missing[0].from <= i, beforeRef: len(cited) > 0 && cited[0].blank <= i, sentence: in}
			to.glyph(b.Glyphs[i], next(b.Glyphs, i), is)
		}
	}
}

func next(glyphs []draft.Glyph, i int) rune {
	if i+1 < len(glyphs) {
		return glyphs[i+1].Rune
	}
	return 0
}
