package figure

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// finish reads what goes with a number, before and after it, and adds the figure.
// It says where the text goes on.
func (r *numberReader) finish(f Figure, values []string) int {
	before := r.prefixAt(f.Start)
	f.prefix, f.Start = before.unit, f.Start-before.size
	for _, v := range values {
		f.Readings = append(f.Readings, Quantity{v, before.unit})
	}
	if !r.attached(&f) {
		return r.skipWord(f.End)
	}
	r.trailing(&f)
	r.loosely(&f)
	f.counts = f.counts || f.magnitude > 0 || f.prefix != noUnit
	for _, q := range f.Readings {
		f.counts = f.counts || isAmount(q.unit)
	}
	if r.negative(f.Start) {
		f.negate(r.page)
	}
	r.out = append(r.out, f)
	return f.End
}

// isAmount holds for the units of numbers that must be on the page however few digits
// they have.
func isAmount(u unit) bool {
	return u == percent || u == points || u == "‰" || u == "ppm" || u == "bp" || isCurrency(u)
}

// negate makes the number negative. On a page the sign may also be a dash.
func (f *Figure) negate(page bool) {
	for i, q := range f.Readings {
		below := Quantity{"-" + q.Value, q.unit}
		if page {
			f.Readings = append(f.Readings, below)
		} else {
			f.Readings[i] = below
		}
	}
}

func isCurrency(u unit) bool {
	return u == dollars || len(u) == 3 && strings.ToUpper(string(u)) == string(u) && isLetter(u[0]) && u != "GWh" && u != "GHz"
}

type prefix struct {
	unit unit
	size int
}

// prefixAt reads a currency, or a word for per cent, that ends before a position.
func (r *numberReader) prefixAt(at int) prefix {
	text := r.s[max(0, at-16):at]
	trimmed := strings.TrimRight(text, " \u00a0\u202f")
	if len(text)-len(trimmed) > 3 {
		return prefix{}
	}
	trimmed = strings.TrimSuffix(strings.TrimSuffix(trimmed, "-"), "−")
	for n := min(len(trimmed), 4); n > 0; n-- {
		name := trimmed[len(trimmed)-n:]
		u, found := signs()[name]
		if !found {
			continue
		}
		if c, _ := utf8.DecodeLastRuneInString(trimmed[:len(trimmed)-n]); isLetter(name[0]) && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			continue
		}
		return prefix{u, len(text) - len(trimmed) + n}
	}
	if r.page && (strings.HasSuffix(trimmed, " aged") || strings.HasSuffix(trimmed, " age")) {
		return prefix{"yr", len(text) - len(trimmed) + len("age")}
	}
	for _, word := range []string{"%", "yüzde", "Yüzde", "ร้อยละ", "百分之"} {
		if strings.HasSuffix(trimmed, word) {
			before := strings.TrimSuffix(trimmed, word)
			if c, _ := utf8.DecodeLastRuneInString(before); word == "%" && unicode.IsDigit(c) {
				return prefix{}
			}
			return prefix{percent, len(text) - len(trimmed) + len(word)}
		}
	}
	return prefix{}
}

// attached reads the letters directly after a number: a short magnitude, a unit,
// or the ending of an ordinal or decade. It is false for an identifier.
func (r *numberReader) attached(f *Figure) bool {
	end := f.End
	for end < len(r.s) && isLetter(r.s[end]) {
		end++
	}
	letters := r.s[f.End:end]
	if letters == "" {
		r.possessive(f)
		return true // also before another script's letters, which are words
	}
	if next, _ := utf8.DecodeRuneInString(r.s[end:]); unicode.IsDigit(next) || isAttaching(next) {
		return letters == "m" || letters == "km" // km2, m3
	}
	switch strings.ToLower(letters) {
	case "st", "nd", "rd", "th":
		f.End = end
		return true
	case "s":
		if v := f.Readings[0].Value; strings.HasSuffix(v, "e1") || strings.HasSuffix(v, "e2") || strings.HasSuffix(v, "e3") {
			f.Readings = decades(v, r.s[f.Start:f.End])
			f.End, f.counts = end, true
			return true
		}
		return false
	case "e", "er": // French and Dutch ordinals
		f.End = end
		return true
	}
	power, short := shortMagnitudes[letters]
	u, known := unitWords().of(strings.ToLower(letters), r.languages)
	if short {
		var multiplied []Quantity
		for _, q := range f.Readings {
			multiplied = append(multiplied, Quantity{scaled(q.Value, power), q.unit})
		}
		if known && f.prefix == noUnit && (letters == "m" || letters == "T") {
			if letters == "m" && !r.millions(f, end) {
				f.setUnit(u)
				f.End = end
				return true
			}
			for _, q := range f.Readings {
				multiplied = append(multiplied, Quantity{q.Value, u})
			}
		}
		f.Readings, f.magnitude, f.End = multiplied, power, end
		return true
	}
	if known {
		f.setUnit(u)
		f.End = end
		return true
	}
	return false
}

// decades are the readings of a decade. One of two digits, as the 80s, is one of the
// last century, or an age.
func decades(value, digits string) []Quantity {
	if len(digits) == 2 && isDigits(digits) {
		return []Quantity{{value, decade}, {canonical("19"+digits, "", 0), decade}}
	}
	return []Quantity{{value, decade}}
}

// possessive reads the ending of the 1970's, also of the 1970 's.
func (r *numberReader) possessive(f *Figure) {
	for _, ending := range []string{"'s", "’s", " 's", " ’s"} {
		if rest, found := strings.CutPrefix(r.s[f.End:], ending); found && isDecade(r.s[f.Start:f.End]) && !beginsWord(rest) {
			f.End, f.counts = f.End+len(ending), true
			f.Readings = []Quantity{{f.Readings[0].Value, decade}}
			return
		}
	}
}

// isDecade holds for the digits of a year that begins a decade.
func isDecade(digits string) bool { return isYear(digits) && digits[3] == '0' }

// millions reports whether the m after a number can mean millions, as in 5m people
// or 1.2m, and not certainly metres, as in the 400m.
func (r *numberReader) millions(f *Figure, end int) bool {
	if strings.ContainsAny(r.s[f.Start:f.End], ".,") {
		return true
	}
	if !strings.HasPrefix(r.s[end:], " ") {
		return false
	}
	words, _ := phraseAt(r.s, end+1, 1)
	if len(words) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	word := strings.TrimRight(words[0], ".")
	return unicode.IsLower(first) && !page.IsCommon(word) && !afterMetres()[word]
}

// afterMetres are words that follow a length.
var afterMetres = wordSet("after-metres")

// setUnit gives a number the unit that stands after it. A currency before it
// stays.
func (f *Figure) setUnit(u unit) {
	if f.prefix == noUnit {
		for i := range f.Readings {
			f.Readings[i].unit = u
		}
	}
}

// mostMagnitudes is how many words for powers of ten follow a number.
const mostMagnitudes = 3

// trailing reads a magnitude and a unit after a number.
func (r *numberReader) trailing(f *Figure) {
	if f.magnitude == 0 && f.Readings[0].unit != decade {
		if power, end := r.magnitudeAt(f.End); end > 0 {
			for n := 0; end > 0 && n < mostMagnitudes; n++ { // a thousand million
				for i := range f.Readings {
					f.Readings[i].Value = scaled(f.Readings[i].Value, power)
				}
				f.magnitude, f.End = f.magnitude+power, end
				power, end = r.magnitudeAt(f.End)
			}
			r.composite(f)
		} else if words, ends := phraseAt(r.s, gap(r.s, f.End), 1); len(words) > 0 && multiples[strings.ToLower(words[0])] > 0 {
			for i := range f.Readings {
				f.Readings[i].Value = times(f.Readings[i].Value, multiples[strings.ToLower(words[0])])
			}
			f.End, f.counts = ends[0], true
		}
	}
	if f.Readings[0].unit == noUnit || f.prefix != noUnit && f.Readings[0].unit == f.prefix {
		if u, end := r.unitAt(f.End); end > 0 {
			f.setUnit(u)
			f.End = end
			if r.page && isCurrency(u) {
				r.cents(f)
			}
		}
	}
}

// cents adds the reading of an amount that is spoken with what follows its currency:
// twelve euros fifty.
func (r *numberReader) cents(f *Figure) {
	at := gap(r.s, f.End)
	at += len(r.s[at:]) - len(strings.TrimPrefix(r.s[at:], "and "))
	digits, end := digitsAt(r.s, at)
	n := int64(atoi(digits))
	if digits == "" {
		n, end, _, _ = wordReader{r.s}.read(at)
	}
	if end == at || n < 1 || n > 99 || len(digits) == 1 || !isWhole(f.Readings[0].Value) {
		return
	}
	digits, exponent, _ := strings.Cut(f.Readings[0].Value, "e")
	whole := digits + strings.Repeat("0", atoi(exponent))
	f.Readings = append(f.Readings, Quantity{canonical(whole, fmt.Sprintf("%02d", n), 0), f.Readings[0].unit})
}

// isWhole holds for whole numbers of few digits.
func isWhole(value string) bool {
	_, exponent, found := strings.Cut(value, "e")
	return found && len(exponent) == 1
}

// multiples are words that multiply the number before them, besides powers of ten.
var multiples = map[string]int64{"dozen": 12, "score": 20, "gross": 144}

// times is a canonical value times a small number.
func times(value string, n int64) string {
	digits, exponent, found := strings.Cut(value, "e")
	whole, ok := new(big.Int).SetString(digits, 10)
	if !found || !ok {
		return value
	}
	power, _ := strconv.Atoi(exponent)
	return canonical(whole.Mul(whole, big.NewInt(n)).String(), "", power)
}

// composite reads on in a number such as 5兆3065億: smaller parts follow a
// magnitude without a blank.
func (r *numberReader) composite(f *Figure) {
	c, _ := utf8.DecodeLastRuneInString(r.s[:f.End])
	if len(f.Readings) != 1 || !page.IsDense(c) && !unicode.Is(unicode.Hangul, c) {
		return
	}
	digits, exponent, _ := strings.Cut(f.Readings[0].Value, "e")
	power, _ := strconv.Atoi(exponent)
	total, ok := new(big.Int).SetString(digits+strings.Repeat("0", max(0, power)), 10)
	for least := f.magnitude; ok && power >= 0 && least > 0; {
		part, end := digitsAt(r.s, f.End)
		if part == "" || len(part) > least {
			break
		}
		name := densePrefix(r.s[end:], denseMagnitudes)
		power := magnitudes()[name].value
		if name != "" && power >= least {
			break
		}
		n, _ := new(big.Int).SetString(part+strings.Repeat("0", power), 10)
		total.Add(total, n)
		least = power
		f.End = end + len(name)
	}
	if ok && power >= 0 {
		f.Readings[0].Value = canonical(total.String(), "", 0)
	}
}

// gap skips what may stand between a number and the word that goes with it: blanks
// on the same line, or one hyphen.
func gap(s string, at int) int {
	rest := strings.TrimLeft(s[at:], " \u00a0\u2009\u202f")
	if len(rest) == len(s)-at {
		rest = strings.TrimPrefix(rest, "-")
	}
	return len(s) - len(rest)
}

// phraseAt reads up to n words at a position, with the symbols that belong to
// units, and says where each ends.
func phraseAt(s string, at, n int) (words []string, ends []int) {
	for range n {
		end := at
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !(unicode.IsLetter(r) || unicode.IsMark(r) || strings.ContainsRune("%‰°²³µ/$€£¥¢％٪﹪", r) && r != utf8.RuneError || end > at && (r == '2' || r == '3' || r == '.')) {
				break
			}
			end += size
		}
		if end == at {
			break
		}
		words, ends = append(words, s[at:end]), append(ends, end)
		next := gap(s, end)
		if next == end {
			break
		}
		at = next
	}
	return words, ends
}

// magnitudeAt reads a word such as million after a number; end is 0 without
// one.
func (r *numberReader) magnitudeAt(at int) (power, end int) {
	start := gap(r.s, at)
	if strings.HasPrefix(r.s[at:], " - ") { // $ 10 - million
		start = at + len(" - ")
	}
	if name := densePrefix(r.s[start:], denseMagnitudes); name != "" {
		return magnitudes()[name].value, start + len(name)
	}
	if start == at {
		return 0, 0
	}
	words, ends := phraseAt(r.s, start, 2)
	if len(words) > 0 && len(words[0]) == 1 && strings.Contains("KMBT", words[0]) && strings.HasPrefix(r.s[ends[0]:], " ") {
		return shortMagnitudes[words[0]], ends[0] // 5 M euros
	}
	for n := len(words); n > 0; n-- {
		name := strings.ToLower(strings.Join(words[:n], " "))
		if power, found := magnitudes().of(name, r.languages); found {
			return power, ends[n-1]
		}
		if trimmed := strings.TrimSuffix(name, "."); trimmed != name {
			if power, found := magnitudes().of(trimmed, r.languages); found {
				return power, ends[n-1] - 1
			}
		}
	}
	return 0, 0
}

// unitAt reads a unit after a number; end is 0 without one.
func (r *numberReader) unitAt(at int) (u unit, end int) {
	start := gap(r.s, at)
	spaced := start > at
	rest := r.s[start:]
	if sign, size := utf8.DecodeRuneInString(rest); isPercentSign(sign) && sign != '‰' && sign != '‱' {
		return percent, start + size
	}
	for _, linking := range []string{"of ", "d’", "d'", "de ", "di "} {
		if after, found := strings.CutPrefix(rest, linking); found {
			rest = after
			break
		}
	}
	linked := len(rest) < len(r.s)-start
	start = len(r.s) - len(rest)
	words, ends := phraseAt(r.s, start, 3)
	for n := len(words); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		lower := strings.ToLower(name)
		for _, candidate := range []string{lower, strings.TrimSuffix(lower, ".")} {
			u, found := unitWords().of(candidate, r.languages)
			if !found || linked && !isCurrency(u) {
				continue
			}
			if len(candidate) == 1 && spaced && strings.TrimSuffix(name, ".") != candidate {
				continue // 5 M, 5 G
			}
			return u, ends[n-1] - (len(lower) - len(candidate))
		}
		if u, found := signs()[name]; found {
			return u, ends[n-1]
		}
	}
	if name := densePrefix(rest, denseUnits); name != "" {
		return unitWords()[name].value, start + len(name)
	}
	return noUnit, 0
}

// densePrefix is the longest of some names that begins a text without whitespace
// between words, "" where none does.
func densePrefix(text string, names func() []string) string {
	if r, _ := utf8.DecodeRuneInString(text); !page.IsDense(r) && !unicode.Is(unicode.Hangul, r) {
		return ""
	}
	for _, name := range names() {
		if strings.HasPrefix(text, name) {
			return name
		}
	}
	return ""
}

// dense lists those names that are written without a blank, longest first.
func dense[V comparable](names lexicon[V]) []string {
	var list []string
	for name := range names {
		if r, _ := utf8.DecodeRuneInString(name); page.IsDense(r) || unicode.Is(unicode.Hangul, r) {
			list = append(list, name)
		}
	}
	sortByLength(list)
	return list
}

var (
	denseMagnitudes = sync.OnceValue(func() []string { return dense(magnitudes()) })
	denseUnits      = sync.OnceValue(func() []string { return dense(unitWords()) })
)
