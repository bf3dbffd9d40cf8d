package figure

import (
	"strings"
	"unicode"
)

// Below ten a number in words claims something only as a percentage or a fraction:
// "two options" is prose, "ten tugs" and "two thirds of the fleet" are figures.

func isSmallWord(word string) bool { return cardinals()[word] > 0 && cardinals()[word] < 10 }

func isLargeWord(word string) bool { return cardinals()[word] >= 10 }

func isMagnitudeWord(word string) bool { return multipliers()[word] > 0 || word == "quintillion" }

func isSmallOrdinal(word string) bool { return ordinals()[word] > 0 && ordinals()[word] < 10 }

// partWords are the second words of fractions.
var partWords = wordSet("parts")

func isNumberWord(word string) bool {
	return isSmallWord(word) || isLargeWord(word) || isMagnitudeWord(word)
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
		case !isNumberWord(word) || (isMagnitudeWord(word) || word == "dozen") && s.afterDigits(i):
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
	small := isSmallWord(word)
	for {
		next, _ := s.gap(n.To)
		following, end := s.wordAt(next)
		if following == "and" && isMagnitudeWord(word) {
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
	case hyphen && isLargeWord(word) && isSmallOrdinal(following): // the twenty-first century
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
