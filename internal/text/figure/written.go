package figure

import (
	"strconv"
	"strings"
	"unicode"
)

// Written is a number as an author writes it: 412 million, 1.234,5, 12 %.
type Written struct {
	Whole, Fraction string // its digits before and behind the decimal mark
	Power           int    // of ten, which its magnitude adds
	Percent         bool
	Len             int // of its text in bytes
}

// pointLanguages write 1,234.5; the others write 1.234,5 or 1 234,5.
const pointLanguages = " en zh ja ko th he hi bn ur ta te mr gu pa ms tl sw ar fa ga cy my km lo si ne am "

// DecimalPoint reports whether a language, "" where it is not known, writes decimals with
// a point.
func DecimalPoint(language string) bool {
	return language == "" || strings.Contains(pointLanguages, " "+language+" ")
}

// ReadWritten reads the number that a text begins with, as a language writes it. Ok is
// false where the text begins with no digit, or its digits are grouped as no number is.
func ReadWritten(text, language string) (w Written, ok bool) {
	n := spell(text, 0)
	commas := 1
	if DecimalPoint(language) {
		commas = -1
	}
	values := n.values(commas, false)
	if n.groups[0] == "" || len(values) != 1 {
		return w, false
	}
	last := len(n.groups) - 1
	w.Whole, w.Len = strings.Join(n.groups, ""), n.end
	if last > 0 && !isThin(n.marks[last-1]) {
		if whole := strings.Join(n.groups[:last], ""); canonical(whole, n.groups[last], 0) == values[0] {
			w.Whole, w.Fraction = whole, n.groups[last]
		}
	}
	w.Power, w.Len = magnitudeAt(text, w.Len, language)
	rest := strings.TrimLeftFunc(text[w.Len:], unicode.IsSpace)
	for _, sign := range []string{"%", "٪", "％"} {
		if strings.HasPrefix(rest, sign) {
			w.Percent, w.Len = true, len(text)-len(rest)+len(sign)
		}
	}
	return w, true
}

// magnitudeAt reads the magnitude behind a number that ends at a place, and says where it
// ends.
func magnitudeAt(text string, at int, language string) (power, end int) {
	rest := strings.TrimLeftFunc(text[at:], unicode.IsSpace)
	word := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '.' }); i >= 0 {
		word = rest[:i]
	}
	var languages []string
	if language != "" {
		languages = []string{language}
	}
	end = len(text) - len(rest) + len(word)
	_, figures := Claimed("12"+text[at:end], languages)
	if word == "" || len(figures) != 1 || len(figures[0].Readings) == 0 || figures[0].End != len("12")+end-at {
		return 0, at
	}
	power, err := strconv.Atoi(strings.TrimPrefix(figures[0].Readings[0].Value, "12e"))
	if err != nil || power == 0 {
		return 0, at
	}
	return power, end
}
