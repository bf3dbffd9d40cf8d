package citation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
)

// statement is a claim as its document has it.
type statement struct {
	line       int
	text       string   // without citations, cut
	cids       []string // in order of appearance, each once
	quotations []quotation
	figures    []figure
	numbers    string // the text in which the figures stand
}

// counted are the numbers that the claim's sources must have.
func (s *statement) counted() []figure {
	return slices.DeleteFunc(slices.Clone(s.figures), func(f figure) bool { return !f.counts })
}

// statements lists the claims of a document: its passages with a citation. Text
// between tags counts as what a reader sees, because HTML must not excuse a claim.
// What is nothing but citations claims nothing. Readable is false for a document
// with text in a block of HTML, which is part of no claim.
func statements(document []byte) (found []statement, readable bool) {
	in := inspector{text: document, doc: markdown.Parse(document), showing: true}
	languages := guessLanguages(string(document[:min(len(document), languageSample)]))
	for _, p := range in.inspect().Passages {
		if p.Text == "" {
			continue
		}
		s := statement{line: p.Line, text: tidegate.Cut(p.Text), cids: p.CIDs}
		var quoted string
		quoted, s.numbers = shownText([]byte(p.Text))
		s.quotations = quotations(quoted)
		s.figures = figures(s.numbers, !inEnglish(s.numbers), languages)
		found = append(found, s)
	}
	return found, !in.unread && !slices.Contains(in.open.names, "")
}

// inEnglish reports whether a claim seems to be in English, in which 1.234 is never
// 1234.
func inEnglish(text string) bool {
	guess := guessLanguages(text)
	return len(guess) == 0 || slices.Contains(guess, "en")
}

// shownText is a passage as a reader sees it, and once more without code, links
// and URLs, in which no number is a claim; their places are kept apart.
func shownText(passage []byte) (all, claimed string) {
	const apart = " · "
	var seen, numbers strings.Builder
	doc := markdown.Parse(passage)
	for _, b := range doc.Blocks {
		for _, piece := range doc.Inlines(b) {
			switch {
			case piece.Kind == markdown.CodeInline, piece.Kind == markdown.TextInline && piece.InLink:
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
	return withoutHidden(seen.String()), withoutURLs(withoutHidden(numbers.String()), apart)
}

// withoutHidden leaves out what a reader cannot see: hidden characters, except
// the joiners between letters, and the marks that are drawn onto a digit.
func withoutHidden(text string) string {
	var b strings.Builder
	last := utf8.RuneError // what was kept last
	for i, r := range text {
		if markdown.Joins(r) && unicode.IsLetter(last) {
			if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); unicode.IsLetter(next) {
				b.WriteRune(r)
			}
			continue
		}
		if markdown.Hidden(r) || unicode.IsNumber(last) && unicode.In(r, unicode.Mn, unicode.Me) {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// withoutURLs puts something else in the place of every URL.
func withoutURLs(text, apart string) string {
	var b strings.Builder
	at := 0
	eachURL([]byte(text), func(url Span) {
		b.WriteString(text[at:url.Start])
		b.WriteString(apart)
		at = url.End
	})
	b.WriteString(text[at:])
	return b.String()
}
