package claim

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// statement is a claim as its document has it.
type statement struct {
	line       int
	text       string   // without citations, cut
	cids       []string // in order of appearance, each once
	quotations []quotation.Quotation
	figures    []figure.Figure // those that its sources must have
	numbers    string          // the text in which they stand
}

// statements lists the claims of a document: its passages with a citation. Text
// between tags counts as what a reader sees, because HTML must not excuse a claim.
// A passage of nothing but citations claims nothing. Readable is false for a
// document with text in a block of HTML, which belongs to no claim.
func statements(text *markdown.Text) (found []statement, readable bool) {
	document := text.Source
	in := inspector{text: document, doc: text.GitHub(), showing: true}
	languages := page.Languages(string(document[:min(len(document), page.LanguageSample)]))
	passages := in.inspect().Passages
	shown, numbers := make([]string, len(passages)), make([]string, len(passages))
	cited, torn := map[int]bool{}, tornCode(in.doc)
	for i, p := range passages {
		if torn[in.numbers[i]] {
			p.Text = strings.ReplaceAll(p.Text, "`", " ")
		}
		shown[i], numbers[i] = shownText([]byte(p.Text))
		cited[in.numbers[i]] = len(p.CIDs) > 0
	}
	quoted, blocks := quotation.Of(shown), quotation.InBlocks(in.quotes, cited)
	for i, p := range passages {
		if p.Text == "" || len(p.CIDs) == 0 {
			continue
		}
		s := statement{line: p.Line, text: tidegate.Cut(p.Text), cids: p.CIDs, quotations: quoted[i]}
		if q, ok := quotation.New(blocks[in.numbers[i]]); ok {
			s.quotations = append(s.quotations, q)
		}
		s.numbers, s.figures = figure.Claimed(numbers[i], languages)
		found = append(found, s)
	}
	return found, !in.unread && !slices.Contains(in.open.names, "")
}

// tornCode are the passages with a table across whose cells back-ticks pair up: a
// reader of the page sees no code there, but the text of the cells.
func tornCode(doc *markdown.Document) map[int]bool {
	eachCode := func(b markdown.Block, visit func(start int)) {
		for _, piece := range doc.Inlines(b) {
			if piece.Kind == markdown.CodeInline {
				visit(piece.Start)
			}
		}
	}
	shown := map[int]bool{} // where code begins, by its cell
	tables := map[int]bool{}
	var visit func(nodes []*markdown.Node)
	visit = func(nodes []*markdown.Node) {
		for _, n := range nodes {
			tables[n.Passage] = tables[n.Passage] || n.Kind == markdown.TableBlock
			if n.Kind == markdown.ParagraphBlock || n.Kind == markdown.CellBlock {
				eachCode(n.Block, func(start int) { shown[start] = true })
			}
			visit(n.Children)
		}
	}
	visit(doc.Tree())
	torn := map[int]bool{}
	for _, b := range doc.Blocks {
		if b.Kind == markdown.ParagraphBlock && tables[b.Passage] {
			eachCode(b, func(start int) { torn[b.Passage] = torn[b.Passage] || !shown[start] })
		}
	}
	return torn
}

// shownText is a passage as a reader sees it, and the same passage with a
// separator in place of code, links and URLs, in which no number is a claim. Code
// that touches a word is part of it, and code after a number is its unit.
func shownText(passage []byte) (all, claimed string) {
	const apart = " · "
	var seen, numbers strings.Builder
	doc := markdown.Parse(passage)
	for _, b := range doc.Blocks {
		pieces := doc.Inlines(b)
		for i, piece := range pieces {
			switch {
			case piece.Kind == markdown.CodeInline && touchesWord(pieces, i):
				seen.Write(piece.Text)
				numbers.Write(piece.Text)
			case piece.Kind == markdown.CodeInline && endsInDigit(numbers.String()) && !bytes.ContainsFunc(piece.Text, unicode.IsNumber):
				seen.WriteString(quotation.WithoutMarks(string(piece.Text)))
				numbers.Write(piece.Text)
			case piece.Kind == markdown.CodeInline:
				seen.WriteString(quotation.WithoutMarks(string(piece.Text)))
				numbers.WriteString(apart)
			case piece.Kind == markdown.TextInline && piece.InLink:
				seen.Write(piece.Text)
				numbers.WriteString(apart)
			case piece.Kind == markdown.TextInline:
				seen.Write(piece.Text)
				numbers.Write(piece.Text)
			case piece.Kind == markdown.BreakInline:
				seen.WriteByte(' ')
				numbers.WriteByte(' ')
			}
		}
	}
	return quotation.WithoutHidden(seen.String()), withoutURLs(quotation.WithoutHidden(numbers.String()), apart)
}

// touchesWord holds for a piece with a letter or digit right before or after it.
func touchesWord(pieces []markdown.Inline, i int) bool {
	var before, after rune
	if i > 0 && pieces[i-1].Kind == markdown.TextInline {
		before, _ = utf8.DecodeLastRune(pieces[i-1].Text)
	}
	if i+1 < len(pieces) && pieces[i+1].Kind == markdown.TextInline {
		after, _ = utf8.DecodeRune(pieces[i+1].Text)
	}
	return isWordPart(before) || isWordPart(after)
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func endsInDigit(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, unicode.IsSpace))
	return unicode.IsNumber(last)
}

// withoutURLs puts something else in the place of every URL.
func withoutURLs(text, apart string) string {
	var b strings.Builder
	at := 0
	eachURL([]byte(text), func(url link.Span) {
		b.WriteString(text[at:url.Start])
		b.WriteString(apart)
		at = url.End
	})
	b.WriteString(text[at:])
	return b.String()
}
