package citation

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
)

// claim is a list item or paragraph that cites something.
type claim struct {
	line       int
	text       string   // without citations, cut
	cids       []string // in order of appearance, each once
	quotations []quotation
	figures    []figure
	numbers    string // the text in which the figures stand
}

// counted are the numbers that the claim's sources must have.
func (c *claim) counted() []figure {
	return slices.DeleteFunc(slices.Clone(c.figures), func(f figure) bool { return !f.counts })
}

// claims lists the claims of a document, in order. What is nothing but citations
// claims nothing; a citation in code or HTML supports no claim.
func claims(document []byte) []claim {
	var found []claim
	var scanner markdown.Scanner
	// A bytes.Reader does not fail.
	_, _ = scanner.Scan(bytes.NewReader(document), markdown.Events{Passage: func(p markdown.Passage) {
		if !bytes.Contains(p.Text, []byte("[@")) {
			return
		}
		pieces := parseInline(p.Text)
		c := claim{line: p.Line, text: claimText(pieces)}
		seen := map[string]bool{}
		for _, piece := range pieces {
			if piece.kind == citePiece && !seen[piece.text] {
				seen[piece.text] = true
				c.cids = append(c.cids, piece.text)
			}
		}
		if len(c.cids) == 0 || c.text == "" {
			return
		}
		c.quotations = quotations(quotedText(pieces))
		c.numbers = numberText(pieces)
		c.figures = figures(c.numbers, false)
		found = append(found, c)
	}})
	return found
}

// claimText is a claim as a reader sees it, without its citations and the blanks
// before them.
func claimText(pieces []piece) string {
	var b []byte
	for _, p := range pieces {
		switch p.kind {
		case citePiece:
			b = bytes.TrimRightFunc(b, unicode.IsSpace)
		case textPiece, codePiece, urlPiece, autolinkPiece:
			b = append(b, p.text...)
		}
	}
	return tidegate.Cut(tidySpace(string(b)))
}

// quotedText is the text in which quotations are looked for.
func quotedText(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.kind {
		case textPiece, codePiece:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// numberText is the text in which numbers are looked for: not in code, links or
// URLs, whose places are kept apart.
func numberText(pieces []piece) string {
	var b strings.Builder
	for i := 0; i < len(pieces); i++ {
		switch p := pieces[i]; p.kind {
		case textPiece:
			b.WriteString(p.text)
		case linkPiece:
			i = p.mate
			b.WriteString(" · ")
		case codePiece, urlPiece, autolinkPiece:
			b.WriteString(" · ")
		case citePiece:
			b.WriteString(" ")
		}
	}
	return b.String()
}
