package citation

import (
	"slices"
	"strings"

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

// statements lists the claims of a document: its passages with a citation that a
// reader sees. What is nothing but citations claims nothing.
func statements(document []byte) []statement {
	var found []statement
	for _, p := range Inspect(document).Passages {
		if p.Text == "" {
			continue
		}
		s := statement{line: p.Line, text: tidegate.Cut(p.Text), cids: p.CIDs}
		var quoted string
		quoted, s.numbers = shownText([]byte(p.Text))
		s.quotations = quotations(quoted)
		s.figures = figures(s.numbers, !inEnglish(s.numbers))
		found = append(found, s)
	}
	return found
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
	return seen.String(), withoutURLs(numbers.String(), apart)
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
