package citation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotedWords is how many words a quotation has that is looked for. Shorter ones
// are names and terms.
const quotedWords = 4

// quotation is a text between quotation marks, as parts that must follow one
// another on the page.
type quotation struct {
	text  string   // as the document has it, without the marks
	parts [][]byte // folded
}

// Quotations lists the quotations of four words or more in a text as a reader sees
// it, without their marks. What counts is listed in docs/quotations.md.
func Quotations(text string) []string {
	var out []string
	for _, q := range quotations(withoutHidden(text)) {
		out = append(out, q.text)
	}
	return out
}

// IsQuotation reports whether a text that is marked as a quotation in another way,
// as a block quote is, has four words or more.
func IsQuotation(text string) bool {
	_, ok := newQuotation(withoutHidden(text))
	return ok
}

// WithoutMarks is a text without quotation marks, such as code, in which they begin
// and end nothing.
func WithoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if isQuoteMark(r) {
			return -1
		}
		return r
	}, text)
}

// quotations finds the quotations of four words or more in a rendered text. A double
// mark without its other half quotes everything up to the end of the text, or, where
// it can only be an end, everything since the last quotation.
func quotations(text string) []quotation {
	text = plainMarks.Replace(text)
	var found []quotation
	add := func(part string) {
		if q, ok := newQuotation(part); ok {
			found = append(found, q)
		}
	}
	ends, mixed := map[rune]map[int]int{}, map[rune]map[int]int{} // by the mark that begins a quotation
	last, unclosed := 0, false
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		closers := closingMarks(r)
		if closers == "" || !opens(text, at, size) {
			at += size
			continue
		}
		if ends[r] == nil {
			ends[r] = closings(text, r, closers)
		}
		end, closed := ends[r][at]
		if other := mixedMark(r); !closed && other != "" {
			if mixed[r] == nil {
				mixed[r] = closings(text, r, other)
			}
			end, closed = mixed[r][at]
		}
		switch {
		case closed:
			add(text[at+size : end])
			_, width := utf8.DecodeRuneInString(text[end:])
			at = end + width
			last = at
			continue
		case isSingle(r):
		case onlyEnds(text, at, size, r):
			add(text[last:at])
			last = at + size
		case !unclosed:
			add(text[at+size:])
			unclosed = true
		}
		at += size
	}
	return found
}

// plainMarks writes marks that are made of others, or look like them, as those.
var plainMarks = strings.NewReplacer("''", `"`, "``", `"`, "´´", `"`, "’’", `"`, "‘‘", `"`, ",,", "„", "‚‚", "„", "<<", "«", ">>", "»", "‹‹", "«", "››", "»",
	"″", `"`, "‶", `"`, "＂", `"`, "❝", "“", "❞", "”", "〝", "„", "〞", "”", "〟", "”", "＇", "'", "`", "‘", "´", "’")

func isSingle(r rune) bool { return strings.ContainsRune("'‘’‚‛‹›", r) }

// onlyEnds reports whether a mark can only be the end of a quotation: it stands right
// after a word and not right before one.
func onlyEnds(text string, at, size int, r rune) bool {
	if strings.ContainsRune("“„‟«「『《", r) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+size:])
	return at > 0 && !unicode.IsSpace(before) && !unicode.IsLetter(after) && !unicode.IsNumber(after)
}

// closingMarks are the marks that end a quotation which begins with r, "" where
// r begins none.
func closingMarks(r rune) string {
	switch r {
	case '"':
		return string(r)
	case '“', '‟', '”':
		return "”"
	case '„':
		return "“”‟"
	case '«':
		return "»"
	case '»':
		return "«»"
	case '‹':
		return "›"
	case '›':
		return "‹"
	case '《':
		return "》"
	case '「':
		return "」"
	case '『':
		return "』"
	case '‘', '‛':
		return "’"
	case '‚':
		return "‘’"
	case '\'':
		return "'"
	}
	return ""
}

// mixedMark ends a quotation which begins with r and which no mark of its own kind
// ends, "" where there is no such mark.
func mixedMark(r rune) string {
	switch r {
	case '“', '‟', '„', '”':
		return "\""
	case '"':
		return "”“"
	case '‘', '‛', '‚':
		return "'"
	case '\'':
		return "’"
	}
	return ""
}

// opens reports whether the mark at a position can begin a quotation. A double mark
// right after a digit is one for inches or seconds. A single mark inside or at the
// end of a word is an apostrophe, and so is the one of '90s.
func opens(text string, at, size int) bool {
	mark, _ := utf8.DecodeRuneInString(text[at:])
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	switch mark {
	case '"':
		return !unicode.IsNumber(before)
	case '\'', '‘', '‚', '‛':
		_, digits := digitsAt(text, at+size)
		return !unicode.IsLetter(before) && !unicode.IsNumber(before) && digits-at-size != 2
	}
	return true
}

// closings says for each place of a mark where the mark stands that ends its
// quotation. The quotation may hold others of the same kind, one inside the other.
// All are found in one pass, however many are never closed.
func closings(text string, opener rune, closers string) map[int]int {
	ends := map[int]int{}
	size := utf8.RuneLen(opener)
	paired := !strings.ContainsRune(closers, opener)
	var open []int
	for i, r := range text {
		if strings.ContainsRune(closers, r) && !isApostrophe(text, i, r) {
			if paired && len(open) > 0 {
				last := len(open) - 1
				if i > open[last]+size {
					ends[open[last]] = i
				}
				open = open[:last]
			} else if !paired {
				adjacent := -1 // one right before this mark, which it does not close
				for _, at := range open {
					if i > at+size {
						ends[at] = i
					} else {
						adjacent = at
					}
				}
				if open = open[:0]; adjacent >= 0 {
					open = append(open, adjacent)
				}
			}
		}
		if r == opener {
			open = append(open, i)
		}
	}
	return ends
}

// isApostrophe holds for a single mark inside a word.
func isApostrophe(text string, at int, r rune) bool {
	if r != '’' && r != '\'' {
		return false
	}
	after, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(r):])
	return unicode.IsLetter(after) || unicode.IsDigit(after)
}

// newQuotation takes a quotation apart at the marks that join its parts: … and
// ..., also in brackets. A letter in brackets, as in [T]he, is that letter.
func newQuotation(text string) (quotation, bool) {
	text = strings.TrimSpace(text)
	q := quotation{text: text}
	words := 0
	for _, part := range strings.Split(joints.Replace(text), "\x00") {
		part = bracketedLetters(strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?。、，；：！？", r) }))
		if n := countWords(part); n > 0 {
			words += n
			if f := fold(part); len(f.text) > 0 {
				q.parts = append(q.parts, f.text)
			}
		}
	}
	return q, words >= quotedWords && len(q.parts) > 0
}

// asWritten is a number that is looked for as it is written.
func asWritten(number string) quotation {
	return quotation{text: number, parts: [][]byte{fold(number).text}}
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
