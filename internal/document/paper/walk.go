package paper

import (
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/draft"
)

// The formats of the report share the two walks below. Each is a [blockSink] for
// the blocks of a document and a [textSink] for the text of its leaves.

// blockSink takes the blocks of a document, each before and after what it holds.
type blockSink interface {
	open(b *draft.Block, first bool) // first: no block stands before it in the same container
	close(b *draft.Block)
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
	keep(open bool)                                           // what stays on one line with a citation begins, or ends
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

// text walks over a leaf. It returns the texts of its claim that no cited page has,
// and which of them stand in the leaf.
func (l *layout) text(b *draft.Block, c *claim.Claim, on []sentenceRun, to textSink) (texts []string, found map[string]bool) {
	texts, found = append(notFound(c), notOnPages(on)...), map[string]bool{}
	missing, cited, marks := missingIn(b.Leaf, texts, found), l.citations(b.Leaf), b.Marks
	for i := 0; i <= len(b.Glyphs); i++ {
		if len(missing) > 0 && missing[0].to == i {
			to.endMissing()
			missing = missing[1:]
		}
		if len(cited) > 0 && cited[0].to == i {
			if cited[0].kept && !cited[0].more {
				to.keep(false)
			}
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
		if len(cited) > 0 && cited[0].word == i {
			to.keep(true)
		}
		if len(cited) > 0 && cited[0].from == i {
			to.cite(cited[0], in, b.Glyphs[i].In&draft.InLink != 0)
		}
		if i < len(b.Glyphs) && (len(cited) == 0 || i < cited[0].from) {
			is := glyphIs{missing: len(missing) > 0 && missing[0].from <= i, beforeRef: len(cited) > 0 && cited[0].blank <= i, sentence: in}
			to.glyph(b.Glyphs[i], next(b.Glyphs, i), is)
		}
	}
	return texts, found
}

func next(glyphs []draft.Glyph, i int) rune {
	if i+1 < len(glyphs) {
		return glyphs[i+1].Rune
	}
	return 0
}
