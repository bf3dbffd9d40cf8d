package source

import (
	_ "embed" // for the sample

	"github.com/tidegate/tidegate/internal/text/page"
)

// A title without function words counts as being in the language of its page if
// few of its syllables are English, and the beginning of the page has enough of
// them.
const (
	mostEnglish  = 0.65 // of its syllables
	leastOwn     = 0.48 // of as many as are English
	sampleLength = 1000 // of the page, in bytes
)

// likePage reports whether a title seems to be in the language of a text that is
// not English.
func likePage(title, text string) bool {
	english := commonPart(title, syllables(englishSample))
	return english < mostEnglish && commonPart(title, syllables(page.CutBytes(text, sampleLength))) >= leastOwn*english
}

// syllables are the groups of three letters in the words of a text, with the
// beginnings and ends of words.
func syllables(text string) map[string]bool {
	set := map[string]bool{}
	eachSyllable(text, func(s string) { set[s] = true })
	return set
}

// commonPart is the part of a text's syllables that a set has.
func commonPart(text string, set map[string]bool) float64 {
	all, common := 0, 0
	eachSyllable(text, func(s string) {
		if all++; set[s] {
			common++
		}
	})
	return float64(common) / float64(max(1, all))
}

func eachSyllable(text string, visit func(string)) {
	page.EachWord(text, func(w page.Word) bool {
		letters := []rune(" " + w.Text + " ")
		for i := 0; i+3 <= len(letters); i++ {
			visit(string(letters[i : i+3]))
		}
		return true
	})
}

// englishSample is an English text with words of many kinds.
//
//go:embed english.txt
var englishSample string
