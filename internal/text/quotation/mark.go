package quotation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The marks of quotations. All others are read as one of them ([plainMark]).
const (
	doubleMarks = "\"“”„‟«»「」『』《》"
	singleMarks = "'‘’‚‛‹›"
)

// plainMarks rewrites marks that are made of several, or that are variants of
// others, as plain ones.
var plainMarks = strings.NewReplacer("''", `"`, "``", `"`, "´´", `"`, "’’", `"`, "‘‘", `"`, ",,", "„", "‚‚", "„", "<<", "«", ">>", "»", "‹‹", "«", "››", "»",
	"″", `"`, "‶", `"`, "＂", `"`, "❝", "“", "❞", "”", "〝", "„", "〞", "”", "〟", "”", "＇", "'", "`", "‘", "´", "’")

// likeMarks are characters that people quote with and that have no property of a
// quotation mark: primes, marks of other scripts, signs that look like them.
const likeMarks = "′‴‵‷⁗׳״՚՛ʹʺʻʼʽˈˊˋˮߴߵꞋꞌᐦ〃≪≫"

// isLikeMark holds for characters that can stand for a quotation mark.
func isLikeMark(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case strings.ContainsRune(likeMarks, r) || unicode.In(r, unicode.So, unicode.Sk):
		return true
	}
	return unicode.In(r, unicode.Ps, unicode.Pe) && norm.NFKD.String(string(r)) == string(r) // not the wide form of a bracket
}

// plainMark is the mark that a character is read as: an unknown quotation mark is
// a double one, and a character that can stand for one is a single one.
func plainMark(r rune) rune {
	switch {
	case r < utf8.RuneSelf || strings.ContainsRune(doubleMarks+singleMarks, r):
		return r
	case isQuotationMark(r):
		return '"'
	case isLikeMark(r):
		return '\''
	}
	return r
}

// isQuotationMark holds for what Unicode calls a quotation mark.
func isQuotationMark(r rune) bool {
	return unicode.In(r, unicode.Quotation_Mark, unicode.Pi, unicode.Pf)
}

// withPlainMarks is a text with the marks that are known, each once where several of
// a kind stand side by side.
func withPlainMarks(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	last := rune(0)
	for _, r := range plainMarks.Replace(text) {
		if r = plainMark(r); r != last || !strings.ContainsRune(doubleMarks+singleMarks, r) {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// side says what a mark does by what stands beside it.
type side uint8

const (
	either side = iota
	opening
	closing
)

// sideOf is what the mark of a text from at to end does: one right before a word
// begins a quotation, and one right after a word ends it.
func sideOf(text string, at, end int) side {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[end:])
	blankBefore := at == 0 || unicode.IsSpace(before)
	blankAfter := end == len(text) || unicode.IsSpace(after)
	switch {
	case blankBefore && !blankAfter, isWordPart(after) && !isWordPart(before) && !blankBefore && !blankAfter:
		return opening
	case blankAfter && !blankBefore, isWordPart(before) && !isWordPart(after) && !blankBefore && !blankAfter:
		return closing
	}
	return either
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
