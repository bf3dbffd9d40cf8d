package citation

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/pattern"
	"golang.org/x/text/unicode/norm"
)

// statement is a claim as its document has it.
type statement struct {
	line       int
	text       string   // without citations, cut
	cids       []string // in order of appearance, each once
	quotations []quotation
	figures    []figure // those that its sources must have
	numbers    string   // the text in which they stand
}

// statements lists the claims of a document: its passages with a citation. Text
// between tags counts as what a reader sees, because HTML must not excuse a claim.
// A passage of nothing but citations claims nothing. Readable is false for a
// document with text in a block of HTML, which belongs to no claim.
func statements(document []byte) (found []statement, readable bool) {
	in := inspector{text: document, doc: markdown.Parse(document), showing: true}
	languages := guessLanguages(string(document[:min(len(document), languageSample)]))
	passages := in.inspect().Passages
	shown, numbers := make([]string, len(passages)), make([]string, len(passages))
	cited := map[int]bool{}
	for i, p := range passages {
		shown[i], numbers[i] = shownText([]byte(p.Text))
		cited[in.numbers[i]] = len(p.CIDs) > 0
	}
	quoted, blocks := quotationsOf(shown), blockQuotes(in.quotes, cited)
	for i, p := range passages {
		if p.Text == "" || len(p.CIDs) == 0 {
			continue
		}
		s := statement{line: p.Line, text: tidegate.Cut(p.Text), cids: p.CIDs, quotations: quoted[i], numbers: numbers[i]}
		if q, ok := newQuotation(blocks[in.numbers[i]]); ok {
			s.quotations = append(s.quotations, q)
		}
		s.numbers = plainNumerals(s.numbers)
		s.figures = claimed(s.numbers, figures(s.numbers, !inEnglish(s.numbers), languages))
		found = append(found, s)
	}
	return found, !in.unread && !slices.Contains(in.open.names, "")
}

// nearFigures is how many figures before a number may cover it.
const nearFigures = 8

// claimed are the figures that the sources of a claim must have: one for each of its
// [Numerals] of two digits or more, percentages and amounts. One that cannot be read
// as a number must be on the page as it is written.
func claimed(text string, read []figure) []figure {
	runes := []rune(text)
	at := make([]int, 0, len(runes)+1) // of each character in the text
	for i := range text {
		at = append(at, i)
	}
	at = append(at, len(text))
	eachShare(text, func(f figure) {
		f.counts = true
		read = append(read, f)
	})
	slices.SortStableFunc(read, func(a, b figure) int { return a.start - b.start })
	var out []figure
	for _, n := range Numerals(runes) {
		start, end := at[n.From], at[n.To]
		digits := end // where the digits end that the figure must cover
		for i := n.To; unicode.IsNumber(runes[n.From]) && !unicode.IsNumber(runes[i-1]); i-- {
			digits = at[i-1]
		}
		found, after := -1, sort.Search(len(read), func(i int) bool { return read[i].start > start })
		for i := after - 1; i >= max(0, after-nearFigures); i-- { // the one that begins nearest to it
			if read[i].end >= digits && (found < 0 || read[i].start == read[found].start) {
				found = i
			}
		}
		switch {
		case found < 0:
			if isLarge(runes[n.From:n.To]) {
				out = append(out, figure{start: start, end: end, written: true})
			}
		case read[found].counts:
			out = append(out, read[found])
			read[found].counts = false // once
		}
	}
	for _, m := range digitByDigit().FindAllStringIndex(text, -1) {
		out = append(out, figure{start: m[0], end: m[1], written: true})
	}
	return out
}

// digitByDigit finds numbers that are written with a sign between their digits.
var digitByDigit = pattern.New(`\b[0-9](?:[ |/·-][0-9]){2,}\b`)

// isLarge holds for a number of two digits or more, and for one in words or in
// characters that are numbers by themselves, which counts whatever its value.
func isLarge(number []rune) bool {
	digits := 0
	for _, r := range number {
		switch {
		case unicode.IsDigit(r), digits > 0 && strings.ContainsRune("OoIl", r): // 7OO
			digits++
		case unicode.IsNumber(r) || isPercentSign(r):
			return true
		}
	}
	return digits != 1
}

// plainNumerals writes digits that are raised, lowered or in a circle as plain
// ones where they are a number by themselves: not in 10⁶ and m². Blanks of unusual
// width, and signs that look like thousands separators, become real separators.
func plainNumerals(text string) string {
	var b strings.Builder
	before := rune(0)
	for _, r := range text {
		if unicode.Is(unicode.No, r) && !unicode.IsLetter(before) && !unicode.IsNumber(before) {
			if plain := norm.NFKD.String(string(r)); isDigits(plain) {
				b.WriteString(plain)
				continue // the digits after it are part of the number
			}
		}
		if isRareBlank(r) {
			r = thinBlank
		}
		b.WriteRune(r)
		before = r
	}
	return thousandsMark().ReplaceAllString(b.String(), "$1’$2")
}

// thousandsMark finds signs that look like thousands separators but are not.
var thousandsMark = pattern.New(`([0-9])[′_˙ʼ˒‚،⸴ꓹ¸·ʹ´` + "`" + `]([0-9]{3})\b`)

// inEnglish reports whether a claim seems to be in English, in which 1.234 is never
// 1234.
func inEnglish(text string) bool {
	guess := guessLanguages(text)
	return len(guess) == 0 || slices.Contains(guess, "en")
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
				seen.WriteString(WithoutMarks(string(piece.Text)))
				numbers.Write(piece.Text)
			case piece.Kind == markdown.CodeInline:
				seen.WriteString(WithoutMarks(string(piece.Text)))
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
	return withoutHidden(seen.String()), withoutURLs(withoutHidden(numbers.String()), apart)
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

func endsInDigit(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, unicode.IsSpace))
	return unicode.IsNumber(last)
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
