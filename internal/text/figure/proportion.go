package figure

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// proportion is a phrase that says a fraction or a multiple.
type proportion struct {
	words    []string // a * stands for any
	readings []Quantity
}

// proportions are the phrases: in scripts with blanks by their first words, the longest
// first, and the others as they are.
var proportions = sync.OnceValue(func() (p struct {
	spaced map[string][]proportion
	dense  []proportion
}) {
	p.spaced = map[string][]proportion{}
	eachWordOf("proportions", func(language, meaning, phrase string) {
		var readings []Quantity
		if factor, multiple := strings.CutSuffix(meaning, "x"); multiple {
			times := Quantity{canonical(factor, "", 0), fold}
			readings = append(asIncrease(times), times)
		} else {
			part, whole, _ := strings.Cut(meaning, "/")
			readings = shareReadings(int64(mustNumber("proportions", part)), int64(mustNumber("proportions", whole)))
		}
		if first, _ := utf8.DecodeRuneInString(phrase); page.IsDense(first) || language == "ja" {
			p.dense = append(p.dense, proportion{[]string{phrase}, readings})
			return
		}
		words := strings.Fields(phrase)
		p.spaced[words[0]] = append(p.spaced[words[0]], proportion{words, readings})
	})
	for _, list := range p.spaced {
		slices.SortStableFunc(list, func(a, b proportion) int { return len(b.words) - len(a.words) })
	}
	return p
})

// eachProportion visits the phrases of a text that say a fraction or a multiple, in the
// languages of the list.
func eachProportion(text string, visit func(Figure)) {
	known := proportions()
	for _, p := range known.dense {
		for from := 0; ; {
			at := strings.Index(text[from:], p.words[0])
			if at < 0 {
				break
			}
			from += at + len(p.words[0])
			visit(Figure{Start: from - len(p.words[0]), End: from, Readings: p.readings})
		}
	}
	before := ""
	for at := 0; at < len(text); {
		word, end := spacedWord(text, at)
		if word == "" {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			continue
		}
		for _, p := range known.spaced[word] {
			if stop := p.matches(text, end); stop > 0 && !periods()[before] {
				visit(Figure{Start: at, End: stop, Readings: p.readings})
				end = stop
				break
			}
		}
		at, before = end, word
	}
}

// periods are the words before a half that is no share.
var periods = wordSet("periods")

// matches is where the phrase ends whose first word ends in the text, 0 where the text
// goes on with other words.
func (p proportion) matches(text string, end int) int {
	for _, want := range p.words[1:] {
		at := wordReader{text}.after(end)
		word, stop := spacedWord(text, at)
		if at == end || word == "" || want != "*" && want != word {
			return 0
		}
		end = stop
	}
	return end
}

// longestWord is how many bytes a word has at most that is read.
const longestWord = 32

// spacedWord is the word that begins in a text, in lower case: letters, and the apostrophes
// between them. "" is for none, or one that is too long to be in a phrase.
func spacedWord(text string, at int) (word string, end int) {
	for end = at; end < len(text); {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && (end == at || r != '\'' && r != '’') {
			break
		}
		end += size
	}
	if end-at > longestWord {
		return "*", end
	}
	return strings.ToLower(text[at:end]), end
}
