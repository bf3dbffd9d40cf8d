package evidence

import (
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/quotation"
)

// nearWords is how many words in a row of a page are nearly a quotation, and nearShare
// how much of the sentence they are, in hundredths.
const (
	nearWords = 8
	nearShare = 80
)

// NearlyQuoted reports whether a sentence is nearly the words of a passage, and does not
// say so by quotation marks.
func (s *Claim) NearlyQuoted() bool {
	if s.Form == Frame || len(quotation.In([]string{s.Text})[0]) > 0 {
		return false
	}
	own := wordsOf(s.Text)
	if len(own) < nearWords {
		return false
	}
	for _, w := range s.Windows {
		if n := longestRun(own, wordsOf(w.Text)); n >= nearWords && n*100 >= nearShare*len(own) {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// longestRun is how many words in a row two texts share.
func longestRun(a, b []string) (longest int) {
	before := make([]int, len(b)+1)
	for _, word := range a {
		for k := len(b); k > 0; k-- {
			if before[k] = before[k-1] + 1; b[k-1] != word {
				before[k] = 0
			}
			longest = max(longest, before[k])
		}
	}
	return longest
}
