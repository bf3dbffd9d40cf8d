package figure

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// loosely reads the unit of a number that stands after signs or another word, or
// before the number: 73 (%), 73 long years, percent: 73. In a claim that is the
// unit of the number. On a page it is one of the things that the number may count.
func (r *numberReader) loosely(f *Figure) {
	if f.Readings[0].unit != noUnit || f.magnitude > 0 {
		return
	}
	u, power := r.looseAfter(f)
	if u == noUnit && power == 0 {
		u, power = r.looseBefore(f.Start)
	}
	if u == noUnit && power == 0 {
		return
	}
	for i, q := range f.Readings {
		loose := Quantity{scaled(q.Value, power), u}
		if r.page {
			f.Readings = append(f.Readings, loose)
		} else {
			f.Readings[i] = loose
		}
	}
	f.magnitude = power
}

// fillers are words between a number and its unit that say little.
var fillers = wordSet("fillers")

// notLoose are words that are units only right after a number.
var notLoose = wordSet("near-units")

// looseAfter reads a unit or a magnitude after signs, fillers, and at most one
// word that looks like an adjective.
func (r *numberReader) looseAfter(f *Figure) (u unit, power int) {
	at, parted := r.looseSigns(f.End)
	if at == f.End {
		return noUnit, 0
	}
	year := isYear(r.s[f.Start:f.End])
	adjectives := 0
	for n := 0; n < 4; n++ {
		words, ends := phraseAt(r.s, at, 1)
		if len(words) == 0 {
			return noUnit, 0
		}
		name := strings.ToLower(strings.TrimSuffix(words[0], "."))
		if u, end := r.unitAt(at); end > 0 && !notLoose()[name] && (u == percent || !parted && !year && end-at > 1) {
			return u, 0
		}
		if power, found := magnitudes().of(name, r.languages); found && !year && (!parted || !strings.HasSuffix(name, "s")) {
			after, _ := r.unitAt(ends[0])
			return after, power
		}
		if !fillers()[name] && !(name == "in" && strings.HasSuffix(r.s[:at], "(")) {
			if first, _ := utf8.DecodeRuneInString(words[0]); adjectives > 0 || year || parted || !unicode.IsLower(first) || page.IsCommon(name) {
				return noUnit, 0
			}
			if !strings.HasPrefix(r.s[ends[0]:], "-") { // hard-earned
				adjectives++
			}
		}
		if at = gap(r.s, ends[0]); at == ends[0] {
			return noUnit, 0
		}
	}
	return noUnit, 0
}

// looseSigns skips the blanks and signs after a number, and reports whether they
// divide a sentence.
func (r *numberReader) looseSigns(at int) (next int, parted bool) {
	for n := 0; n < 6 && at < len(r.s); n++ {
		c, size := utf8.DecodeRuneInString(r.s[at:])
		if strings.ContainsRune(".,:|", c) {
			if parted = true; c == '.' && strings.HasPrefix(r.s[at+size:], " ") {
				return at, parted
			}
		} else if !unicode.IsSpace(c) && !strings.ContainsRune("()[]*_\\-–—…/~&+=", c) && !quotation.IsMark(c) || c == '\n' {
			return at, parted
		}
		at += size
	}
	return at, parted
}

// looseBefore reads a unit or a magnitude that stands before a number and does not
// belong to another one.
func (r *numberReader) looseBefore(at int) (u unit, power int) {
	const near = 48
	text := r.s[max(0, at-near):at]
	trimmed := text
	for {
		cut := strings.TrimRight(trimmed, " \u00a0\u2009\u202f:,()=|-")
		for _, word := range []string{" of", " is", " was", " are", " at"} {
			cut = strings.TrimSuffix(cut, word)
		}
		if cut == trimmed {
			break
		}
		trimmed = cut
	}
	parted := strings.ContainsAny(text[len(trimmed):], ":)|")
	said := parted || len(text)-len(trimmed) == 1
	start := strings.LastIndexFunc(trimmed, func(c rune) bool { return !unicode.IsLetter(c) && !isPercentSign(c) }) + 1
	if start > 0 {
		_, size := utf8.DecodeRuneInString(trimmed[start-1:])
		start += max(0, size-1)
	}
	name := strings.ToLower(trimmed[start:])
	if name == "cent" && strings.HasSuffix(strings.ToLower(trimmed[:start]), "per ") {
		name, start = "per cent", start-len("per ")
	}
	u, _ = unitWords().of(name, r.languages)
	if name == "percentage" {
		u = percent
	}
	if parted && u != percent && !isYear(r.s[at:min(len(r.s), at+4)]) {
		power = r.magnitudeIn(trimmed)
	}
	if u != percent && !(said && (isCurrency(u) || power > 0)) {
		return noUnit, 0
	}
	if !isCurrency(u) && u != percent {
		u = noUnit
	}
	before := strings.TrimRight(trimmed[:start], " \u00a0\u2009\u202f-")
	last := before[strings.LastIndexByte(before, ' ')+1:]
	if c, _ := utf8.DecodeLastRuneInString(before); unicode.IsNumber(c) || isNumberWord(strings.ToLower(last)) {
		return noUnit, 0 // it belongs to the number before
	}
	return u, power
}

// magnitudeIn is the magnitude among the last three words of a text, as in
// millions of euros, unless it belongs to a number.
func (r *numberReader) magnitudeIn(text string) (power int) {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return unicode.IsSpace(c) || c == '(' })
	for i := max(0, len(words)-3); i < len(words); i++ {
		if n, found := magnitudes().of(words[i], r.languages); found {
			if i > 0 && (endsInDigit(words[i-1]) || isNumberWord(words[i-1])) {
				return 0
			}
			power = n
		}
	}
	return power
}

// negative holds for a number with a minus before it.
func (r *numberReader) negative(at int) bool {
	before := r.s[:at]
	for _, word := range []string{"minus ", "negative ", "Minus ", "Negative "} {
		if strings.HasSuffix(before, word) {
			return true
		}
	}
	sign := strings.TrimSuffix(strings.TrimSuffix(before, "-"), "−")
	if sign == before {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(sign)
	if sign != "" && !unicode.IsSpace(last) && last != '(' {
		return false
	}
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRightFunc(sign, unicode.IsSpace))
	return !unicode.IsNumber(last) && !isPercentSign(last)
}

func endsInDigit(word string) bool {
	last, _ := utf8.DecodeLastRuneInString(word)
	return unicode.IsNumber(last)
}

// unit is what a number counts: % for percentages, an ISO code for a currency, a
// symbol for a physical unit, "" where nothing is said.
type unit string

const (
	noUnit  unit = ""
	percent unit = "%"
	points  unit = "pp"     // percentage points
	clock   unit = "time"   // of day
	decade  unit = "decade" // the 1990s
	dollars unit = "$"      // of whatever country
	pounds  unit = "pound"
	version unit = "version" // of a program: no number that counts
)

// share reports whether two units may stand for the same thing.
func (u unit) share(other unit) bool {
	switch {
	case u == other:
		return true
	case u == dollars:
		return strings.HasSuffix(string(other), "D") && len(other) == 3
	case other == dollars:
		return other.share(u) || strings.HasSuffix(string(u), "D") && len(u) == 3
	case u == pounds:
		return other == "GBP" || other == "lb"
	case other == pounds:
		return u == "GBP" || u == "lb"
	}
	return false
}

// The units that stand beside a number: signs and codes of currencies as they are
// written, before or after it, and words after it in lower case.
var (
	signs = sync.OnceValue(func() map[string]unit {
		signs := map[string]unit{}
		eachWordOf("signs", func(_, currency, sign string) { signs[sign] = unit(currency) })
		return signs
	})
	unitWords = lexiconOf("units", func(name string) unit { return unit(name) })
)

// magnitudes are words that multiply a number, as powers of ten.
var magnitudes = lexiconOf("magnitudes", func(power string) int { return mustNumber("magnitudes", power) })

// shortMagnitudes stand directly after a number, as they are written. For the
// small m and b, which may be units, see [numberReader.attached].
var shortMagnitudes = map[string]int{"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "bn": 9, "mn": 6, "tn": 12, "Bn": 9, "Mn": 6, "BN": 9, "MN": 6, "mln": 6, "mio": 6, "mrd": 9, "m": 6, "b": 9}
