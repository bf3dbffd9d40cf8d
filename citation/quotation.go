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

// quotations finds the quotations of four words or more in a rendered text.
func quotations(text string) []quotation {
	var found []quotation
	ends, mixed := map[rune]map[int]int{}, map[rune]map[int]int{} // by the mark that begins a quotation
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
		if !closed {
			at += size
			continue
		}
		if q, ok := newQuotation(text[at+size : end]); ok {
			found = append(found, q)
		}
		_, last := utf8.DecodeRuneInString(text[end:])
		at = end + last
	}
	return found
}

// closingMarks are the marks that end a quotation which begins with r, "" where
// r begins none.
func closingMarks(r rune) string {
	switch r {
	case '"', '＂':
		return string(r)
	case '“', '‟':
		return "”"
	case '”':
		return "”"
	case '„', '〝':
		return "“”‟〞〟"
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
	case '❝':
		return "❞"
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
		return "”"
	case '‘', '‛', '‚':
		return "'"
	}
	return ""
}

// opens reports whether the mark at a position can begin a quotation: marks that
// also end one, or are apostrophes, must follow a blank or a bracket and stand
// before a word.
func opens(text string, at, size int) bool {
	mark, _ := utf8.DecodeRuneInString(text[at:])
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+size:])
	switch mark {
	case '"', '”', '»', '\'', '‘', '‚':
		free := at == 0 || unicode.IsSpace(before) || strings.ContainsRune("([{—–-/:\"“«„", before)
		if mark == '\'' || mark == '‘' || mark == '‚' {
			return free && unicode.IsLetter(after)
		}
		return free && !unicode.IsSpace(after) && after != utf8.RuneError
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
