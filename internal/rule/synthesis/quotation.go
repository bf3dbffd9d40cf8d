package synthesis

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// quotations finds the passages and block quotes that quote without a source, and
// the headings that quote.
func (j *judge) quotations() {
	if j.facts.Unsourced {
		return
	}
	texts := make([]string, len(j.passages))
	for i, p := range j.passages {
		for _, b := range p.leaves {
			texts[i] += j.textIn(b)
		}
	}
	for i, found := range quotation.In(texts) {
		if p := j.passages[i]; !j.cited(p) {
			j.uncitedQuotation(p.line, p.name(), found)
		}
	}
	for _, b := range j.blocks {
		b.each(func(b *block) {
			switch {
			case b.Kind == markdown.HeadingBlock:
				j.uncitedQuotation(b.Line, "heading", quotation.In([]string{j.textOf(b)})[0])
			case b.Kind == markdown.QuoteBlock && !b.Quoted && !j.cites(b) && !(b.item != nil && j.cited(b.item)):
				if text := strings.TrimSpace(j.textIn(b)); quotation.Is(text) {
					j.uncitedQuotation(b.Line, "block quote", []string{text})
				}
			}
		})
	}
}

func (j *judge) uncitedQuotation(line int, what string, quoted []string) {
	if len(quoted) > 0 {
		j.fault(tidegate.UncitedQuotation, line,
			"Put the citation of the page that has the words into the same paragraph or list item, or take the quotation out.",
			"the %s that begins in line %d quotes %q without a citation", what, line, tidegate.Cut(quoted[0]))
	}
}

// textIn is what a reader sees of a block and all that it holds.
func (j *judge) textIn(b *block) string {
	var text strings.Builder
	b.each(func(b *block) {
		text.WriteString(j.textOf(b) + quotation.WithoutMarks(b.text) + "\n")
	})
	return text.String()
}

// textOf is what a reader sees of a leaf. In code quotation marks mean nothing.
func (j *judge) textOf(b *block) string {
	var text strings.Builder
	for _, g := range b.glyphs {
		switch {
		case g.in&inTag != 0:
		case g.isCode():
			text.WriteString(quotation.WithoutMarks(string(g.r)))
		default:
			text.WriteRune(g.r)
		}
	}
	return text.String()
}
