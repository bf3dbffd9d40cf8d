package figure

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/page"
	"golang.org/x/text/unicode/norm"
)

// nearFigures is how many figures before a number may cover it.
const nearFigures = 8

// Claimed are the figures of a claim that its sources must have: one for each of its
// [Numerals] of two digits or more, percentages and amounts. One that cannot be read
// as a number must be on the page as it is written. The figures stand in plain, which
// is the text with its digits and separators in plain forms. Languages are those of
// the document.
func Claimed(text string, languages []string) (plain string, figures []Figure) {
	plain = plainNumerals(text)
	return plain, claimed(plain, read(plain, !inEnglish(plain), languages))
}

func claimed(text string, read []Figure) []Figure {
	runes := []rune(text)
	at := make([]int, 0, len(runes)+1) // of each character in the text
	for i := range text {
		at = append(at, i)
	}
	at = append(at, len(text))
	eachShare(text, func(f Figure) {
		f.counts = true
		read = append(read, f)
	})
	slices.SortStableFunc(read, func(a, b Figure) int { return a.Start - b.Start })
	var out []Figure
	for _, n := range Numerals(runes) {
		start, end := at[n.From], at[n.To]
		digits := end // where the digits end that the figure must cover
		for i := n.To; unicode.IsNumber(runes[n.From]) && !unicode.IsNumber(runes[i-1]); i-- {
			digits = at[i-1]
		}
		found, after := -1, sort.Search(len(read), func(i int) bool { return read[i].Start > start })
		for i := after - 1; i >= max(0, after-nearFigures); i-- { // the one that begins nearest to it
			if read[i].End >= digits && (found < 0 || read[i].Start == read[found].Start) {
				found = i
			}
		}
		switch {
		case found < 0:
			if isLarge(runes[n.From:n.To]) {
				out = append(out, Figure{Start: start, End: end, Written: true})
			}
		case read[found].counts:
			out = append(out, read[found])
			read[found].counts = false // once
		}
	}
	for _, m := range digitByDigit().FindAllStringIndex(text, -1) {
		out = append(out, Figure{Start: m[0], End: m[1], Written: true})
	}
	return out
}

// digitByDigit finds numbers that are written with a sign between their digits.
var digitByDigit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[0-9](?:[ |/·-][0-9]){2,}\b`)
})

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
var thousandsMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([0-9])[′_˙ʼ˒‚،⸴ꓹ¸·ʹ´` + "`" + `]([0-9]{3})\b`)
})

// inEnglish reports whether a claim seems to be in English, in which 1.234 is never
// 1234.
func inEnglish(text string) bool {
	guess := page.Languages(text)
	return len(guess) == 0 || slices.Contains(guess, "en")
}
