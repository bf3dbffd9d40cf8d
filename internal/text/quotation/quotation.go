package quotation

import (
	"cmp"
	"embed"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// The measures of a quotation. Shorter ones are names and terms.
const (
	quotedWords  = 4  // the fewest words of a quotation that is looked for
	compound     = 4  // the most parts of a word with hyphens that is one word: state-of-the-art
	mostParts    = 16 // the most parts that … joins
	wordsPerPart = 2  // the fewest words of a part, on average
)

// Quotation is a text between quotation marks, as parts that must follow one
// another on the page.
type Quotation struct {
	Text  string   // as the document has it, without the marks
	parts [][]byte // folded; none where … joins too many parts of too few words, which no page has
}

// In lists the quotations of four words or more in each of the passages of a
// document, as a reader sees them, without their marks. What counts is listed in
// docs/rules.md.
func In(passages []string) [][]string {
	out := make([][]string, len(passages))
	for i, found := range Of(passages) {
		for _, q := range found {
			out[i] = append(out[i], q.Text)
		}
	}
	return out
}

// WithoutMarks is a text without quotation marks, such as code, in which they begin
// and end nothing.
func WithoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if IsMark(r) {
			return -1
		}
		return r
	}, text)
}

// Of finds the quotations of the passages of a document. One that is open
// at the end of a passage goes on in those after it, if one of them ends it: then
// each of its pieces counts, whatever its length.
func Of(passages []string) [][]Quotation {
	found := make([][]Quotation, len(passages))
	open, words := -1, 0 // the passage with the mark that is not closed, and the words since
	texts, marks := make([]string, len(passages)), make([]quoteMarks, len(passages))
	add := func(i int, piece string, least int) {
		if q, ok := newOf(piece, least); ok {
			found[i] = append(found[i], q)
		}
	}
	for i, text := range passages {
		texts[i] = withPlainMarks(WithoutHidden(text))
		m := readMarks(texts[i])
		marks[i] = m
		least := quotedWords
		switch {
		case open >= 0 && m.ended:
			if words+countQuoted(m.before) >= quotedWords {
				least = 1
				add(open, marks[open].rest, 1)
				for k := open + 1; k < i; k++ {
					add(k, texts[k], 1)
				}
			}
			open = -1
		case open >= 0 && !m.any:
			words += countQuoted(texts[i])
		default:
			open = -1
		}
		if m.ended {
			add(i, m.before, least)
		}
		for _, piece := range m.pieces {
			add(i, piece, quotedWords)
		}
		for _, piece := range m.joined {
			add(i, piece, 1)
		}
		if m.open {
			add(i, m.rest, quotedWords)
			open, words = i, countQuoted(m.rest)
		}
	}
	return found
}

// OfSentences finds the quotations of the sentences of one passage. One that goes over
// several of them also counts as a whole, with the sentence that ends it: its pieces
// follow one another on the page.
func OfSentences(sentences []string) [][]Quotation {
	found := Of(sentences)
	if len(sentences) == 1 {
		return found
	}
	var passage strings.Builder
	ends, known := make([]int, len(sentences)), map[string]bool{}
	for i, text := range sentences {
		for _, q := range found[i] {
			known[q.Text] = true
		}
		passage.WriteString(withPlainMarks(WithoutHidden(text)) + " ")
		ends[i] = passage.Len()
	}
	for _, q := range Of([]string{passage.String()})[0] {
		if !known[q.Text] {
			end := strings.Index(passage.String(), q.Text) + len(q.Text)
			i := min(sort.SearchInts(ends, end), len(sentences)-1)
			found[i] = append(found[i], q)
		}
	}
	return found
}

// quoteMarks are what the marks of a passage quote.
type quoteMarks struct {
	any    bool     // it has a double mark
	pieces []string // between marks
	joined []string // short ones between marks that a word joins to a quotation
	ended  bool     // its first double mark ends a quotation
	before string   // what that mark quotes
	open   bool     // a double mark is never closed
	rest   string   // what that mark quotes
}

// readMarks reads the marks of a passage. Double marks may stand inside one another,
// and the outermost ones count.
func readMarks(text string) (m quoteMarks) {
	var open []int         // where the open quotations begin, after their marks
	var quoted []textRange // the quotations
	last := 0              // where the last one ended
	for at, r := range text {
		if !strings.ContainsRune(doubleMarks, r) {
			continue
		}
		end := at + utf8.RuneLen(r)
		does := sideOf(text, at, end)
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); r == '"' && unicode.IsNumber(before) && does != opening {
			if after, _ := utf8.DecodeRuneInString(text[end:]); len(open) == 0 && !unicode.IsLetter(after) {
				continue // inches, or seconds
			}
		}
		if does == either {
			does = byNature(r, len(open) > 0)
		}
		switch {
		case does == opening:
			open = append(open, end)
		case len(open) > 1:
			open = open[:len(open)-1]
		case len(open) == 1:
			quoted = append(quoted, textRange{open[0], at})
			open, last = open[:0], end
		case !m.any:
			m.ended, m.before, last = true, text[:at], end
		default:
			quoted = append(quoted, textRange{last, at})
			last = end
		}
		m.any = true
	}
	if len(open) > 0 {
		m.open, m.rest = true, text[open[0]:]
	}
	quoted = append(quoted, singleQuoted(text)...)
	slices.SortFunc(quoted, func(a, b textRange) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	outer := quoted[:0] // those that stand in no other
	for _, q := range quoted {
		if n := len(outer); n == 0 || q.start >= outer[n-1].end {
			outer = append(outer, q)
			m.pieces = append(m.pieces, text[q.start:q.end])
		}
	}
	m.pieces = append(m.pieces, shortRuns(text, outer)...)
	m.joined = joinedByWord(text, outer)
	return m
}

// byNature is what a mark does where its neighbours do not decide it.
func byNature(r rune, open bool) side {
	switch {
	case strings.ContainsRune("“„‟«「『《", r):
		return opening
	case strings.ContainsRune("”»」』》", r) || open:
		return closing
	}
	return opening
}

// shortRuns joins short quotations that stand one after another with nothing but
// blanks and signs between them: together they quote.
func shortRuns(text string, quoted []textRange) []string {
	var out []string
	for i := 0; i < len(quoted); {
		pieces, n := []string{text[quoted[i].start:quoted[i].end]}, i+1
		for ; n < len(quoted) && isJoint(text, quoted[n-1], quoted[n]); n++ {
			pieces = append(pieces, text[quoted[n].start:quoted[n].end])
		}
		if n > i+1 {
			out = append(out, strings.Join(pieces, " "))
		}
		i = n
	}
	return out
}

// isJoint holds for two short quotations with no word, comma or semicolon between.
func isJoint(text string, a, b textRange) bool {
	return b.start > a.end && countQuoted(text[a.start:a.end]) < quotedWords && countQuoted(text[b.start:b.end]) < quotedWords &&
		!strings.ContainsFunc(text[a.end:b.start], func(r rune) bool { return isWordPart(r) || r == ',' || r == ';' || r == '、' })
}

// joinedByWord lists short quotations with nothing but a word such as and between them,
// where together they have the words of a quotation. Each must be on the page.
func joinedByWord(text string, quoted []textRange) []string {
	var out []string
	for i := 0; i < len(quoted); {
		n, words := i+1, countQuoted(text[quoted[i].start:quoted[i].end])
		for ; n < len(quoted) && isShort(text, quoted[n-1]) && isShort(text, quoted[n]) && isJoiningWord(text[quoted[n-1].end:quoted[n].start]); n++ {
			words += countQuoted(text[quoted[n].start:quoted[n].end])
		}
		if n > i+1 && words >= quotedWords {
			for _, q := range quoted[i:n] {
				out = append(out, text[q.start:q.end])
			}
		}
		i = n
	}
	return out
}

func isShort(text string, q textRange) bool { return countQuoted(text[q.start:q.end]) < quotedWords }

// isJoiningWord holds for what stands between two quotations that are joined by and.
func isJoiningWord(between string) bool {
	return joiningWords()[strings.ToLower(strings.TrimSpace(WithoutMarks(between)))]
}

//go:embed lists
var lists embed.FS

// joiningWords are the words for and.
var joiningWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, e := range page.List(lists, "lists/joining.txt") {
		words[e.Text] = true
	}
	return words
})

// singleQuoted finds the quotations between single marks, which are apostrophes as
// well. One after an s may be a possessive: it ends a quotation that nothing else
// ends.
func singleQuoted(text string) []textRange {
	var out []textRange
	from, maybe := -1, -1 // where the quotation under way begins, and may end
	end := func(at int) {
		out = append(out, textRange{from, at})
		from, maybe = -1, -1
	}
	for at, r := range text {
		if !strings.ContainsRune(singleMarks, r) {
			continue
		}
		next := at + utf8.RuneLen(r)
		does := sideOf(text, at, next)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[next:])
		switch {
		case does == opening && (unicode.IsNumber(before) || isDecade(text[next:])), does == either && !(r == '‘' && from < 0):
		case does != closing && (from < 0 || maybe >= 0):
			if maybe >= 0 {
				end(maybe)
			}
			from = next
		case does != closing || from < 0 || at == from || unicode.IsLetter(after):
		case before == 's':
			maybe = at
		default:
			end(at)
		}
	}
	if maybe >= 0 {
		end(maybe)
	}
	return out
}

// isDecade holds for a text that begins as '90s does after its mark.
func isDecade(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
	return end == 2 && text[end] == 's'
}

// New is the quotation of a text, if it has four words or more.
func New(text string) (Quotation, bool) { return newOf(text, quotedWords) }

// newOf splits a quotation of so many words or more at the marks that
// join its parts: … and ..., also in brackets. A letter in brackets, as in [T]he,
// is that letter.
func newOf(text string, least int) (Quotation, bool) {
	text = strings.TrimSpace(text)
	q := Quotation{Text: text}
	words := 0
	for _, part := range strings.Split(joints.Replace(text), "\x00") {
		part = bracketedLetters(strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?。、，；：！？", r) }))
		if n := countQuoted(part); n > 0 {
			words += n
			if f := fold(part); len(f.text) > 0 {
				q.parts = append(q.parts, f.text)
			}
		}
	}
	there := len(q.parts) > 0
	if n := len(q.parts); n > mostParts || n > 1 && words < n*wordsPerPart {
		q.parts = nil
	}
	return q, words >= least && there
}

// countQuoted counts the words of a quotation. A word of many parts, such as
// we-have-no-tugs-at-all, is as many words.
func countQuoted(text string) int {
	words := page.CountWords(text)
	for word := range strings.FieldsSeq(text) {
		parts := 0
		for range strings.FieldsFuncSeq(word, func(r rune) bool { return !isWordPart(r) }) {
			parts++
		}
		if n := page.CountWords(word); n == 1 && parts > compound {
			words += parts - 1
		}
	}
	return words
}

// AsWritten is a number that is looked for as it is written.
func AsWritten(number string) Quotation {
	return Quotation{Text: number, parts: [][]byte{fold(number).text}}
}

var joints = strings.NewReplacer("[…]", "\x00", "[...]", "\x00", "[ … ]", "\x00", "[ ... ]", "\x00", "(…)", "\x00", "(...)", "\x00", "[. . .]", "\x00",
	"…", "\x00", "....", "\x00", "...", "\x00", ". . .", "\x00", "\x00", "\x00")

// bracketedLetters takes off the brackets around single letters.
func bracketedLetters(s string) string {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return s
	}
	var b strings.Builder
	for open >= 0 {
		r, size := utf8.DecodeRuneInString(s[open+1:])
		if unicode.IsLetter(r) && strings.HasPrefix(s[open+1+size:], "]") {
			b.WriteString(s[:open] + s[open+1:open+1+size])
			s = s[open+2+size:]
		} else {
			b.WriteString(s[:open+1])
			s = s[open+1:]
		}
		open = strings.IndexByte(s, '[')
	}
	b.WriteString(s)
	return b.String()
}

// WithoutHidden leaves out what a reader cannot see: hidden characters, except
// the joiners between letters, and the marks that are drawn onto a digit.
func WithoutHidden(text string) string {
	if isVisibleASCII(text) {
		return text
	}
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

func isVisibleASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7F || markdown.Hidden(rune(c)) {
			return false
		}
	}
	return true
}

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
// begins a quotation, and one right after a word ends it. Where blanks stand inside the
// marks, what follows « mot », or precedes (« mot, decides.
func sideOf(text string, at, end int) side {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[end:])
	blankBefore := at == 0 || unicode.IsSpace(before)
	blankAfter := end == len(text) || unicode.IsSpace(after)
	switch {
	case blankBefore && (strings.ContainsRune(",;:!?)]", after) || strings.HasPrefix(text[end:], ". ") || text[end:] == "."):
		return closing
	case blankBefore && !blankAfter, blankAfter && text[at:end] == "«" && strings.ContainsRune("(['’", before), isWordPart(after) && !isWordPart(before) && !blankBefore && !blankAfter:
		return opening
	case blankAfter && !blankBefore, isWordPart(before) && !isWordPart(after) && !blankBefore && !blankAfter:
		return closing
	}
	return either
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
