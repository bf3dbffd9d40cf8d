package figure

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numeral is a number that a text claims, as a range of its characters.
type Numeral struct{ From, To int }

// Numerals finds the numbers that a text claims. What counts is listed in
// docs/rules.md, whose examples are tests: every number that is written in digits,
// and those in words from ten on; not those in an identifier. It is the one
// definition of a number of a claim: each needs a citation, and those of two digits
// or more, percentages and amounts must be on a page that is cited.
//
// The text is as a reader sees it, without characters that cannot be seen, and with
// a zero in the place of what is never part of a number: code, links, citations.
func Numerals(text []rune) []Numeral {
	s := claimText(plainBlanks(text))
	found := slices.Concat(s.digits(), s.words())
	slices.SortStableFunc(found, func(a, b Numeral) int { return a.From - b.From })
	return found
}

type claimText []rune

// plainBlanks writes the blanks of rare widths as a thin one, in as many characters.
func plainBlanks(text []rune) []rune {
	out := slices.Clone(text)
	for i, r := range out {
		if isRareBlank(r) {
			out[i] = thinBlank
		}
	}
	return out
}

const thinBlank = '\u2009'

func isRareBlank(r rune) bool {
	return r > unicode.MaxASCII && unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' && r != '\u2007' && r != '\u0085' && r != '\u2028' && r != '\u2029'
}

// at is a character, or 0 outside the text.
func (s claimText) at(i int) rune {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

// digits finds the numbers that begin with a character that is one: a digit of
// any script, a superscript, a fraction, a Roman numeral of its own.
func (s claimText) digits() []Numeral {
	var out []Numeral
	for i := 0; i < len(s); {
		if !unicode.IsNumber(s[i]) {
			i++
			continue
		}
		end := s.numeral(i)
		switch name := s.identifier(i, end); {
		case name > 0 && !s.percent(name):
			i = name
		default:
			for isCased(s.at(end)) { // 20MW, 10th, 1990s
				end++
			}
			if isPercentSign(s.at(end)) {
				end++
			}
			out = append(out, Numeral{i, end})
			i = end
		}
	}
	return out
}

// numeral is where the number that begins at i ends: a date, or digits with the
// signs that group them or separate their fraction.
func (s claimText) numeral(i int) int {
	if s.date(i) {
		return i + len("2006-01-02")
	}
	for {
		for unicode.IsNumber(s.at(i)) {
			i++
		}
		if !strings.ContainsRune(".,'’·٫٬\u00a0\u2007\u2009\u202f", s.at(i)) || !unicode.IsNumber(s.at(i+1)) {
			return i
		}
		i++
	}
}

// date holds for a calendar date in the form YYYY-MM-DD.
func (s claimText) date(i int) bool {
	const form = "dddd-dd-dd"
	for k, c := range form {
		if c == 'd' && !unicode.IsDigit(s.at(i+k)) || c == '-' && s.at(i+k) != '-' {
			return false
		}
	}
	return !unicode.IsNumber(s.at(i+len(form))) && s.at(i+len(form)) != '-'
}

// identifier is where the name around the number from i to end ends, 0 when the
// number stands by itself: letters before it make a name of it (see [names]), or
// it is one of the few names that begin with a digit (3D, 5G).
func (s claimText) identifier(i, end int) int {
	before, hyphen := i-1, false
	if isHyphen(s.at(before)) {
		before, hyphen = before-1, true
	}
	switch {
	case s.at(before) == '_' && (isCased(s.at(before-1)) || unicode.IsNumber(s.at(before-1))):
	case !isCased(s.at(before)):
		if end == i+1 && (s.at(end) == 'D' || s.at(end) == 'G') && !isCased(s.at(end+1)) && !unicode.IsNumber(s.at(end+1)) {
			return end + 1
		}
		return 0
	case !names(s.word(before), hyphen, string(s[i:end])):
		return 0
	}
	for {
		c := s.at(end)
		if strings.ContainsRune("-._\u2010\u2011", c) {
			c = s.at(end + 1)
		}
		if !isCased(c) && !unicode.IsNumber(c) && c != '_' {
			return end
		}
		end++
	}
}

// names reports whether the word that stands right before a number, or with a
// hyphen between them, makes a name of it: GPT4, v1.2.3, COVID-19, omega-3. A
// currency does not (EUR11m), nor does the sign of multiplication (x99). These are
// not names either: a number with thousands separators, a year after a hyphen, a
// number of two digits or more after a plain word and a hyphen (record-99), one of
// four or more after a plain word (Port4711), and one after a word that says how
// much (about-99).
func names(word string, hyphen bool, number string) bool {
	switch {
	case currencies()[word], strings.ContainsAny(number, ",'’\u00a0\u2007\u2009\u202f"), modifiers()[strings.ToLower(word)]:
		return false
	case isPlainWord(word) && utf8.RuneCountInString(number) > 3: // Port4711
		return false
	case !hyphen:
		return word != "x" && word != "X" || number == "32" || number == "64" || number == "86"
	case isYear(number):
		return false
	}
	return strings.ToLower(word) != word || word == "covid" || utf8.RuneCountInString(number) < 2
}

// modifiers say how much, and name nothing.
var modifiers = wordSet("modifiers")

// isPlainWord holds for three letters or more, of which only the first may be a capital.
func isPlainWord(word string) bool {
	_, first := utf8.DecodeRuneInString(word)
	rest := word[first:]
	return utf8.RuneCountInString(word) > 2 && strings.ToLower(rest) == rest
}

// word is the run of letters that ends with the one at last.
func (s claimText) word(last int) string {
	first := last
	for isCased(s.at(first - 1)) {
		first--
	}
	return string(s[first : last+1])
}

// currencies are written right before an amount.
var currencies = wordSet("currencies")

// percent reports whether a per cent follows.
func (s claimText) percent(i int) bool {
	for unicode.IsSpace(s.at(i)) {
		i++
	}
	if isPercentSign(s.at(i)) {
		return true
	}
	first, end := s.wordAt(i)
	for unicode.IsSpace(s.at(end)) || isHyphen(s.at(end)) {
		end++
	}
	second, _ := s.wordAt(end)
	switch first {
	case "percent", "pct", "percentage":
		return true
	}
	return first == "per" && second == "cent"
}

// wordAt is the word that begins at i, in lower case, and where it ends.
func (s claimText) wordAt(i int) (word string, end int) {
	for end = i; unicode.IsLetter(s.at(end)); end++ {
	}
	if end == i {
		return "", i
	}
	return strings.ToLower(string(s[i:end])), end
}

// isCased holds for the letters of scripts that set words apart with blanks. In
// others a letter before a number says nothing: it is the end of the word before.
func isCased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

func isHyphen(r rune) bool { return r == '-' || r == '\u2010' || r == '\u2011' }

func isPercentSign(r rune) bool {
	return r == '%' || r == '‰' || r == '‱' || r == '％' || r == '﹪' || r == '٪'
}

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
