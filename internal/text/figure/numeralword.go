package figure

import (
	"strings"
	"sync"
	"unicode"
)

// The words of a number in English. Below ten a number in words claims something
// only as a percentage or a fraction: "two options" is prose, "ten tugs" and "two
// thirds of the fleet" are figures.
var (
	smallWords     = wordSet("one two three four five six seven eight nine")
	largeWords     = wordSet("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety dozen")
	magnitudeWords = wordSet("hundred thousand million billion trillion quadrillion quintillion lakh crore")
	partWords      = wordSet("half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths")
	smallOrdinals  = wordSet("first second third fourth fifth sixth seventh eighth ninth")
)

// wordSet is a set of words that is made when it is first asked for: most calls of
// the program read no text.
func wordSet(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			set[word] = true
		}
		return set
	})
}

func isNumberWord(word string) bool {
	return smallWords()[word] || largeWords()[word] || magnitudeWords()[word]
}

// words finds the numbers that are written in words. A magnitude after digits, as
// in "20 million", belongs to the number in digits.
func (s claimText) words() []Numeral {
	var out []Numeral
	for i := 0; i < len(s); {
		word, end := s.wordAt(i)
		switch {
		case word == "":
			i++
		case !isNumberWord(word) || (magnitudeWords()[word] || word == "dozen") && s.afterDigits(i):
			i = end
		default:
			n, counts := s.numberOf(i)
			if counts {
				out = append(out, n)
			}
			i = n.To
		}
	}
	return out
}

// numberOf is the number in words that begins at i, and whether it claims
// something.
func (s claimText) numberOf(i int) (n Numeral, counts bool) {
	word, end := s.wordAt(i)
	n = Numeral{i, end}
	small := smallWords()[word]
	for {
		next, _ := s.gap(n.To)
		following, end := s.wordAt(next)
		if following == "and" && magnitudeWords()[word] {
			next, _ = s.gap(end)
			following, end = s.wordAt(next)
		}
		if next == n.To || !isNumberWord(following) {
			break
		}
		n.To, word, small = end, following, false
	}
	next, hyphen := s.gap(n.To)
	following, end := s.wordAt(next)
	switch {
	case small && partWords()[following]:
		of, _ := s.gap(end)
		if after, _ := s.wordAt(of); hyphen || after == "of" || word != "one" && word != "two" && following == "quarters" || word != "one" && strings.HasSuffix(following, "ths") {
			n.To = end
			return n, true
		}
		return n, false
	case hyphen && largeWords()[word] && smallOrdinals()[following]: // the twenty-first century
		n.To = end
		return n, false
	}
	return n, !small || s.percent(n.To)
}

// gap is where the next word begins after blanks or one hyphen.
func (s claimText) gap(i int) (next int, hyphen bool) {
	if isHyphen(s.at(i)) && unicode.IsLetter(s.at(i+1)) {
		return i + 1, true
	}
	for unicode.IsSpace(s.at(i)) {
		i++
	}
	return i, false
}

// afterDigits reports whether a number in digits stands before i.
func (s claimText) afterDigits(i int) bool {
	i--
	for unicode.IsSpace(s.at(i)) || isHyphen(s.at(i)) {
		i--
	}
	return unicode.IsNumber(s.at(i))
}
