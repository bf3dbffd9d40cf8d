package synthesis

import (
	"slices"
	"strings"
	"unicode"
)

// number is a number that claims something: what a reader sees of it, and where
// it stands in its leaf.
type number struct {
	from, to int // glyphs
	token    string
}

// numbers finds the numbers of a leaf. What counts is listed in docs/numbers.md,
// whose examples are tests: every number that is written in digits, and those in
// words from ten on; not those in code, in the text of a link, in a citation, or
// in an identifier.
func (l leaf) numbers() []number {
	s := l.symbols()
	found := slices.Concat(s.digits(), s.words())
	slices.SortStableFunc(found, func(a, b number) int { return a.from - b.from })
	for i, n := range found {
		found[i].token = s.between(n.from, n.to)
		found[i].from, found[i].to = s[n.from].glyph, s[n.to-1].glyph+1
	}
	return found
}

// symbols are the glyphs that decide what a number is: without those that cannot
// be seen, and with a stop in the place of what is never part of one.
type symbols []symbol

type symbol struct {
	r     rune
	glyph int
}

// stop takes the place of code, links and citations.
const stop = 0

func (l leaf) symbols() symbols {
	s := make(symbols, 0, len(l.glyphs))
	cited := l.citations()
	for i, g := range l.glyphs {
		for len(cited) > 0 && cited[0].to <= i {
			cited = cited[1:]
		}
		switch {
		case g.in&inTag != 0 || unseen(g.r):
		case g.in&(inCode|inLink) != 0 || len(cited) > 0 && cited[0].from <= i:
			s = append(s, symbol{stop, i})
		default:
			s = append(s, symbol{g.r, i})
		}
	}
	return s
}

// unseen holds for characters that a reader cannot see, and for marks that are
// drawn onto another character. Line ends are seen.
func unseen(r rune) bool {
	return r > unicode.MaxASCII && (unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point))
}

func (s symbols) at(i int) rune {
	if i < 0 || i >= len(s) {
		return stop
	}
	return s[i].r
}

func (s symbols) between(from, to int) string {
	var b strings.Builder
	for _, c := range s[from:to] {
		b.WriteRune(c.r)
	}
	return b.String()
}

// digits finds the numbers that begin with a character that is one: a digit of
// any script, a superscript, a fraction, a Roman numeral of its own.
func (s symbols) digits() []number {
	var out []number
	for i := 0; i < len(s); {
		if !unicode.IsNumber(s[i].r) {
			i++
			continue
		}
		end := s.numeral(i)
		switch name := s.identifier(i, end); {
		case name > 0 && !s.percent(name):
			i = name
		default:
			for isLetter(s.at(end)) { // 20MW, 10th, 1990s
				end++
			}
			if isPercentSign(s.at(end)) {
				end++
			}
			out = append(out, number{from: i, to: end})
			i = end
		}
	}
	return out
}

// numeral is where the number that begins at i ends: a date, or digits with the
// signs that group them or part their fraction.
func (s symbols) numeral(i int) int {
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
func (s symbols) date(i int) bool {
	const form = "dddd-dd-dd"
	for k, c := range form {
		if c == 'd' && !unicode.IsDigit(s.at(i+k)) || c == '-' && s.at(i+k) != '-' {
			return false
		}
	}
	return !unicode.IsNumber(s.at(i+len(form))) && s.at(i+len(form)) != '-'
}

// identifier is where the name ends that the number from i to end is a part of,
// 0 when it stands by itself: letters stand right before it (GPT4, v1.2.3), or
// letters and a hyphen (COVID-19), or it is one of the few that begin with a
// digit (3D, 5G). A currency before a number makes no name of it.
func (s symbols) identifier(i, end int) int {
	before := i - 1
	if isHyphen(s.at(before)) {
		before--
	}
	switch {
	case s.at(before) == '_':
	case !isLetter(s.at(before)):
		if end == i+1 && (s.at(end) == 'D' || s.at(end) == 'G') && !isLetter(s.at(end+1)) && !unicode.IsNumber(s.at(end+1)) {
			return end + 1
		}
		return 0
	case slices.Contains(currencies, s.word(before)):
		return 0
	}
	for {
		c := s.at(end)
		if strings.ContainsRune("-._\u2010\u2011", c) {
			c = s.at(end + 1)
		}
		if !isLetter(c) && !unicode.IsNumber(c) && c != '_' {
			return end
		}
		end++
	}
}

// word is the run of letters that ends with the one at last.
func (s symbols) word(last int) string {
	first := last
	for isLetter(s.at(first - 1)) {
		first--
	}
	return s.between(first, last+1)
}

// currencies are written right before an amount.
var currencies = strings.Fields("AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KES KRW " +
	"MXN MYR NGN NOK NZD PHP PKR PLN RMB RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR Rs kr")

// percent holds where a per cent follows.
func (s symbols) percent(i int) bool {
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
func (s symbols) wordAt(i int) (word string, end int) {
	for end = i; unicode.IsLetter(s.at(end)); end++ {
	}
	if end == i {
		return "", i
	}
	return strings.ToLower(s.between(i, end)), end
}

// isLetter holds for the letters of scripts that set words apart with blanks. In
// others a letter before a number says nothing: it is the end of the word before.
func isLetter(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

func isHyphen(r rune) bool { return r == '-' || r == '\u2010' || r == '\u2011' }

func isPercentSign(r rune) bool {
	return r == '%' || r == '‰' || r == '‱' || r == '％' || r == '﹪' || r == '٪'
}
