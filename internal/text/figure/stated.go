package figure

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Stated are the figures that a sentence states: those of [Claimed], fractions and
// multiples in words, and, marked as small, those in phrases and numbers of one digit that
// count something.
// They stand in plain, which is the text with its digits and separators in plain forms.
func Stated(text string, languages []string) (plain string, figures []Figure) {
	plain = plainNumerals(text)
	english := slices.Contains(languages, "en") || len(languages) == 0 && inEnglish(plain)
	all := read(plain, !english, languages)
	figures = claimed(plain, slices.Clone(all))
	add := func(f Figure) {
		if !slices.ContainsFunc(figures, func(g Figure) bool { return f.Start < g.End && g.Start < f.End }) {
			figures = append(figures, f)
		}
	}
	eachShare(plain, add)
	eachMultiple(plain, func(f Figure) {
		f.Readings = append(f.Readings, asIncrease(f.Readings[0])...)
		add(f)
	})
	eachProportion(plain, func(f Figure) {
		f.Small = true // the page may say the same in a phrase that no list has
		add(f)
	})
	for _, f := range all {
		if isSmall(f.Readings[0].Value) && countsSomething(plain, f) {
			f.Small = true
			add(f)
		}
	}
	slices.SortStableFunc(figures, func(a, b Figure) int { return a.Start - b.Start })
	return plain, figures
}

// isSmall holds for the whole numbers from 2 to 9.
func isSmall(value string) bool {
	return len(value) == len("2e0") && value[0] >= '2' && strings.HasSuffix(value, "e0")
}

// countsSomething holds for a number with a unit, or before a word that may be what it
// counts.
func countsSomething(text string, f Figure) bool {
	if f.Readings[0].unit != noUnit {
		return true
	}
	at := gap(text, f.End)
	first, _ := utf8.DecodeRuneInString(text[at:])
	words, _ := phraseAt(text, at, 1)
	return at > f.End && len(words) > 0 && unicode.IsLower(first) && !page.IsCommon(strings.ToLower(words[0]))
}

// fold is the unit of a multiple: how many times as much.
const fold unit = "fold"

// eachMultiple visits the words of a text that say how many times as much something
// became.
func eachMultiple(text string, visit func(Figure)) {
	for at := 0; at < len(text); {
		first, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(first) {
			at += size
			continue
		}
		end := at
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(r) {
				break
			}
			end += size
		}
		if end-at >= len("double") && end-at <= longestMultiple {
			if factor, found := multipleWords()[strings.ToLower(text[at:end])]; found {
				visit(Figure{Start: at, End: end, Readings: []Quantity{{factor, fold}}})
			}
		}
		at = end
	}
}

// longestMultiple is how many bytes the longest of the words has.
const longestMultiple = 24

var multipleWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	eachWordOf("multiples", func(_, factor, word string) {
		whole, fraction, _ := strings.Cut(factor, ".")
		words[word] = canonical(whole, fraction, 0)
	})
	return words
})

// asIncrease is a multiple as the percentage by which something grew or fell.
func asIncrease(q Quantity) []Quantity {
	if q.Value == canonical("0", "5", 0) {
		return []Quantity{{canonical("50", "", 0), percent}}
	}
	digits, exponent, _ := strings.Cut(q.Value, "e")
	n, power := atoi(digits), atoi(exponent)
	for ; power > 0; power-- {
		n *= 10
	}
	return []Quantity{{canonical(strconv.Itoa(100*(n-1)), "", 0), percent}, {canonical(strconv.Itoa(100*n), "", 0), percent}}
}
