package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Figure is a number in a text, with what it may stand for.
type Figure struct {
	Start, End int // with its currency sign, magnitude and unit
	Readings   []Quantity
	counts     bool // it is one that a claim must have from its source
	Written    bool // it can be compared only as it is written
	Small      bool // a page that does not have it may say the same: one digit, or a phrase

	prefix    unit // the currency before it
	magnitude int  // the power of ten that its words add
}

// Unit is what the number counts, "" where nothing is said beside it.
func (f Figure) Unit() string {
	if len(f.Readings) == 0 {
		return ""
	}
	return string(f.Readings[0].unit)
}

// Quantity is one reading of a number.
type Quantity struct {
	Value string // canonical: digits without zeros at their ends, e, and the power of ten
	unit  unit
}

// canonical is a value in the form in which equal values are equal strings.
func canonical(whole, fraction string, power int) string {
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	if trimmed := strings.TrimRight(digits, "0"); trimmed != digits {
		power += len(digits) - len(trimmed)
		digits = trimmed
	}
	if digits == "" {
		return "0"
	}
	return digits + "e" + strconv.Itoa(power)
}

// read finds the numbers of a text, in order. Identifiers with letters attached
// (GPT4, COVID-19, 5G) and versions (1.2.3) do not count. Where a text leaves open
// whether 1,234 has a thousands separator or a decimal comma, lenient gives it
// both readings, otherwise it has the English one. Words of other languages are
// known in texts in these languages.
func read(text string, lenient bool, languages []string) []Figure {
	r := numberReader{s: text, lenient: lenient, languages: languages, commas: decimalCommas(text)}
	r.read()
	return r.out
}

// eachFigure visits the numbers of a page, however many there are: the text is
// read in pieces that end at a line or, in a long line, at a blank.
func eachFigure(text string, languages []string, visit func(Figure)) {
	const piece = 64 << 10
	r := numberReader{page: true, lenient: true, languages: languages, commas: decimalCommas(text)}
	for at := 0; at < len(text); {
		end := min(len(text), at+piece)
		if end < len(text) {
			if n := strings.LastIndexAny(text[at:end], "\n"); n > 0 {
				end = at + n + 1
			} else if n := strings.LastIndexAny(text[at:end], " \t,;"); n > 0 {
				end = at + n + 1
			}
		}
		r.s, r.out = text[at:end], r.out[:0]
		r.read()
		for _, f := range r.out {
			f.Start, f.End = f.Start+at, f.End+at
			visit(f)
		}
		at = end
	}
}

func (r *numberReader) read() {
	for i := 0; i < len(r.s); {
		i = r.next(i)
	}
	r.ranges()
}

type numberReader struct {
	s         string
	page      bool // the text is that of a page
	lenient   bool
	languages []string // nil: not known
	commas    int      // > 0: decimals have commas; < 0: points; 0: not known
	out       []Figure
}

// maxDigits is the length of the longest number; a longer one is an identifier.
const maxDigits = 24

// next reads what stands at a position and says where the text goes on.
func (r *numberReader) next(at int) int {
	c := r.s[at]
	switch {
	case '0' <= c && c <= '9':
		return r.number(at)
	case isLetter(c):
		end := at + 1
		for end < len(r.s) && (isLetter(r.s[end]) || r.s[end] == '\'' && end+1 < len(r.s) && isLetter(r.s[end+1])) {
			end++
		}
		if before := lastVisible(r.s[:at]); !isAttaching(before) && !unicode.IsDigit(before) {
			if n := r.words(at, end); n > at {
				return n
			}
		}
		return end
	case c < utf8.RuneSelf:
		return at + 1
	}
	first, size := utf8.DecodeRuneInString(r.s[at:])
	if unicode.Is(unicode.Nd, first) {
		return r.number(at)
	}
	return at + size
}

// lastVisible is the last character of a text that a reader sees.
func lastVisible(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, func(r rune) bool { return unicode.Is(unicode.Cf, r) }))
	return r
}

// isAttaching holds for letters that make an identifier of the digits next to
// them. Letters of scripts without blanks, and of those that join words to a
// number with a hyphen, do not.
func isAttaching(r rune) bool { return r < 0x530 && unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r) }

// digitsAt reads digits of any script, and says where they end.
func digitsAt(s string, at int) (digits string, end int) {
	var b []byte
	for end = at; end < len(s); {
		c := s[end]
		if '0' <= c && c <= '9' {
			b = append(b, c)
			end++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if !unicode.Is(unicode.Nd, r) {
			break
		}
		b = append(b, '0'+digitValue(r))
		end += size
	}
	return string(b), end
}

// digitValue is the value of a decimal digit. Unicode has them in groups of ten.
func digitValue(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

// spelling is a number as it is written: groups of digits and what is between
// them.
type spelling struct {
	groups []string
	marks  []rune
	end    int
}

// spell reads the groups of a number.
func spell(s string, at int) spelling {
	first, end := digitsAt(s, at)
	n := spelling{groups: []string{first}, end: end}
	for {
		mark, size := utf8.DecodeRuneInString(s[n.end:])
		if !isSeparator(mark) {
			return n
		}
		group, end := digitsAt(s, n.end+size)
		if group == "" {
			return n
		}
		if mark == '٫' { // a decimal mark in Arabic
			mark = '.'
		}
		if mark != '.' && mark != ',' {
			// Blanks and apostrophes separate thousands only.
			if len(group) != 3 || len(n.groups[0]) > 3 || slices.ContainsFunc(n.marks, func(m rune) bool { return !isThin(m) && m != mark }) {
				return n
			}
			mark = ' '
		}
		n.groups, n.marks, n.end = append(n.groups, group), append(n.marks, mark), end
	}
}

func isSeparator(r rune) bool {
	switch r {
	case '.', ',', ' ', '\u00a0', '\u2009', '\u202f', '\u2007', '\'', '’', '٬', '٫':
		return true
	}
	return false
}

func isThin(r rune) bool { return r != '.' && r != ',' }

// values are the readings of a spelling; nil where it cannot be a number.
func (n spelling) values(commas int, lenient bool) []string {
	total := 0
	for _, g := range n.groups {
		total += len(g)
	}
	if total > maxDigits {
		return nil
	}
	last := len(n.groups) - 1
	whole := strings.Join(n.groups[:max(1, last)], "")
	joined := strings.Join(n.groups, "")
	if last == 0 {
		return []string{canonical(joined, "", 0)}
	}
	final := n.marks[last-1]
	same := !slices.ContainsFunc(n.marks, func(m rune) bool { return m != final })
	switch {
	case same && isThin(final):
		return []string{canonical(joined, "", 0)}
	case same && last > 1:
		if n.thousands(last) {
			return []string{canonical(joined, "", 0)}
		}
		return nil // a version, a date, a list
	case !same:
		// 1,234.5 or 1.234,5: the last mark is the decimal one.
		if isThin(final) || !n.thousands(last-1) || slices.Contains(n.marks[:last-1], final) {
			return nil
		}
		return []string{canonical(whole, n.groups[last], 0)}
	}
	decimal, thousand := canonical(whole, n.groups[last], 0), canonical(joined, "", 0)
	if len(n.groups[last]) != 3 || len(whole) > 3 || whole == "0" {
		return []string{decimal}
	}
	english, other := thousand, decimal
	if final == '.' {
		english, other = decimal, thousand
	}
	switch {
	case commas > 0:
		return []string{other}
	case commas == 0 && lenient:
		return []string{english, other}
	}
	return []string{english}
}

// thousands reports whether the groups after the first, up to one, are thousands:
// three digits each, or, as in India, two each before the last three.
func (n spelling) thousands(to int) bool {
	threes, twos := true, true
	for i := 1; i <= to; i++ {
		threes = threes && len(n.groups[i]) == 3
		twos = twos && (len(n.groups[i]) == 2 || i == to && len(n.groups[i]) == 3)
	}
	return len(n.groups[0]) <= 3 && (threes || twos && len(n.groups[to]) == 3)
}

// decimalCommas says whether a text writes decimals with a comma (above 0) or a
// point (below 0), by the numbers that leave no choice.
func decimalCommas(text string) int {
	score := 0
	for i := 0; i < len(text); {
		if c := text[i]; c < '0' || c > '9' {
			i++
			continue
		}
		n := spell(text, i)
		i = n.end
		last := len(n.groups) - 1
		if last == 0 || last > 1 && n.marks[0] == n.marks[last-1] || last == 1 && (len(n.groups[1]) == 3 || len(n.groups[0]) > 3) {
			continue
		}
		switch n.marks[last-1] {
		case ',':
			score++
		case '.':
			score--
		}
	}
	return score
}

// number reads the number whose digits begin at a position.
func (r *numberReader) number(at int) int {
	n := spell(r.s, at)
	if end := r.version(at, n); end > 0 {
		return end
	}
	if r.identifier(at, n) || r.page && r.note(at, n.end) {
		return r.skipWord(n.end)
	}
	if end, ok := r.dateOrTime(at, n); ok {
		return end
	}
	f := Figure{Start: at, End: n.end}
	values := n.values(r.commas, r.lenient)
	if values == nil {
		return r.skipWord(n.end)
	}
	f.counts = significant(n.groups) >= 2
	if len(n.groups) == 1 && beginsFraction(r.s[:at]) { // .73
		values, f.counts = []string{canonical("", n.groups[0], 0)}, true
	}
	if base, power, end := r.powerOfTen(n); end > 0 {
		f.counts = true
		for i := range values {
			values[i] = scaled(values[i], power)
		}
		if base {
			values = []string{canonical("1", "", power)}
		}
		f.End = end
	}
	f.End = skipUncertainty(r.s, f.End, n)
	if times := r.clockTime(n); times != nil {
		f.Readings, f.counts = times, true
		if r.page {
			for _, v := range values {
				f.Readings = append(f.Readings, Quantity{v, noUnit})
			}
		}
		r.out = append(r.out, f)
		return f.End
	}
	next := r.finish(f, values)
	r.perhapsTime(at, n)
	return next
}

// beginsFraction holds for the text before the digits of .73, =.03 and (.05.
func beginsFraction(before string) bool {
	before, found := strings.CutSuffix(before, ".")
	last, _ := utf8.DecodeLastRuneInString(before)
	return found && before != "" && !unicode.IsLetter(last) && !unicode.IsNumber(last) && !strings.ContainsRune(".)]”’\"'", last)
}

// skipUncertainty goes on over the last digits of a measurement that are not certain:
// 12.6(1).
func skipUncertainty(s string, at int, n spelling) int {
	if len(n.groups) < 2 || !strings.HasPrefix(s[at:], "(") {
		return at
	}
	digits, end := digitsAt(s, at+1)
	if digits == "" || len(digits) > 2 || !strings.HasPrefix(s[end:], ")") {
		return at
	}
	return end + 1
}

// clockTime is the time that 10.30 tells where the word beside it says so.
func (r *numberReader) clockTime(n spelling) []Quantity {
	if len(n.groups) != 2 || n.marks[0] != '.' || len(n.groups[0]) > 2 || len(n.groups[1]) != 2 {
		return nil
	}
	words, _ := phraseAt(r.s, gap(r.s, n.end), 1)
	if len(words) == 0 || !clockWords()[strings.TrimSuffix(strings.ToLower(words[0]), ".")] {
		return nil
	}
	return clockReadings(n.groups[0], n.groups[1], r.s[n.end:])
}

// perhapsTime lets a bare 10.30 be a time of day, too.
func (r *numberReader) perhapsTime(at int, n spelling) {
	if len(r.out) == 0 || len(n.groups) != 2 || n.marks[0] != '.' || len(n.groups[0]) > 2 || len(n.groups[1]) != 2 {
		return
	}
	if f := &r.out[len(r.out)-1]; f.Start == at && f.End == n.end && f.Readings[0].unit == noUnit {
		f.Readings = append(f.Readings, clockReadings(n.groups[0], n.groups[1], "")...)
	}
}

// clockWords stand after a time of day.
var clockWords = wordSet("clock")

// clockReadings are the ways to write a time of day. After noon it may be told from
// noon on.
func clockReadings(hours, minutes, rest string) []Quantity {
	hour := atoi(hours)
	if hour > 24 || atoi(minutes) > 59 {
		return nil
	}
	readings := []Quantity{{strconv.Itoa(hour) + ":" + minutes, clock}}
	if after := strings.ToLower(strings.TrimLeft(rest, " \u00a0")); hour < 12 && (strings.HasPrefix(after, "pm") || strings.HasPrefix(after, "p.m")) {
		readings = append(readings, Quantity{strconv.Itoa(hour+12) + ":" + minutes, clock})
	}
	return readings
}

// identifier reports whether letters before the digits make an identifier of
// them, as [names] says. On a page FY2020 is a year.
func (r *numberReader) identifier(at int, n spelling) bool {
	before := r.s[:at]
	trimmed := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(before, "-"), "\u2010"), "\u2011")
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	if !isAttaching(last) || r.prefixAt(at).unit != noUnit {
		return false
	}
	first := len(trimmed)
	for first > 0 {
		c, size := utf8.DecodeLastRuneInString(trimmed[:first])
		if !isAttaching(c) {
			break
		}
		first -= size
	}
	year := len(n.groups) == 1 && isYear(n.groups[0])
	return names(trimmed[first:], len(trimmed) < len(before), r.s[at:n.end]) && !(r.lenient && year)
}

// note reports whether a number is the mark of a note, as in "of the coast.[64]".
func (r *numberReader) note(at, end int) bool {
	if !strings.HasSuffix(r.s[:at], "[") || !strings.HasPrefix(r.s[end:], "]") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(r.s[:at-1])
	return unicode.IsLetter(before) || strings.ContainsRune(".;!?)]”’»", before) || before == ',' && strings.HasPrefix(r.s[end:], "] ")
}

func isYear(text string) bool {
	return len(text) == 4 && (text[0] == '1' || text[0] == '2') && strings.Trim(text, "0123456789") == ""
}

// significant counts the digits of a number without zeros before it.
func significant(groups []string) int {
	joined := strings.Join(groups, "")
	if len(groups) > 1 {
		return len(joined)
	}
	return len(strings.TrimLeft(joined, "0"))
}

// skipWord is where the letters and digits that begin at a position end.
func (r *numberReader) skipWord(at int) int {
	for at < len(r.s) {
		c, size := utf8.DecodeRuneInString(r.s[at:])
		if !isAttaching(c) && !unicode.IsDigit(c) {
			break
		}
		at += size
	}
	return at
}

// scaled is a canonical value times a power of ten.
func scaled(value string, power int) string {
	digits, exponent, found := strings.Cut(value, "e")
	if !found {
		return value
	}
	e, _ := strconv.Atoi(exponent)
	return digits + "e" + strconv.Itoa(e+power)
}

// dateOrTime reads 2021-03-04, 04.03.2021 and 10:30. Of a date the year must be
// on the page; day and month may be written in other ways there.
func (r *numberReader) dateOrTime(at int, n spelling) (end int, ok bool) {
	bare := func(digits string, counts bool) {
		r.out = append(r.out, Figure{Start: at, End: end, Readings: []Quantity{{canonical(digits, "", 0), noUnit}}, counts: counts})
	}
	if len(n.groups) == 3 && n.marks[0] == '.' && n.marks[1] == '.' && len(n.groups[0]) <= 2 && len(n.groups[1]) <= 2 && isYear(n.groups[2]) {
		end = n.end
		bare(n.groups[2], true)
		if r.lenient {
			bare(n.groups[0], false)
			bare(n.groups[1], false)
		}
		return end, true
	}
	if len(n.groups) != 1 || n.end >= len(r.s) {
		return 0, false
	}
	if len(n.groups[0]) <= 2 && strings.HasPrefix(strings.TrimLeft(r.s[n.end:], anyBlank), "h") {
		if m := hoursMark().FindStringSubmatchIndex(r.s[n.end:]); m != nil {
			end = n.end + m[3]
			if readings := clockReadings(n.groups[0], r.s[n.end+m[2]:end], ""); readings != nil {
				r.out = append(r.out, Figure{Start: at, End: end, Readings: readings, counts: true})
				return end, true
			}
		}
	}
	mark := r.s[n.end]
	second, secondEnd := digitsAt(r.s, min(len(r.s), n.end+1))
	if len(second) != 2 {
		return 0, false
	}
	if (mark == '-' || mark == '/') && isYear(n.groups[0]) && secondEnd < len(r.s) && r.s[secondEnd] == mark {
		third, thirdEnd := digitsAt(r.s, secondEnd+1)
		if len(third) != 2 {
			return 0, false
		}
		end = thirdEnd
		bare(n.groups[0], true)
		if r.lenient {
			bare(second, false)
			bare(third, false)
		}
		return end, true
	}
	if mark == ':' && len(n.groups[0]) <= 2 {
		if readings := clockReadings(n.groups[0], second, r.s[secondEnd:]); readings != nil {
			r.out = append(r.out, Figure{Start: at, End: secondEnd, Readings: readings, counts: true})
			return secondEnd, true
		}
	}
	return 0, false
}

const anyBlank = " \u00a0\u202f"

// hoursMark finds what follows the hours of 22h05 and 22 h 05, which is a time of day and
// not the length of one in hours and minutes.
var hoursMark = sync.OnceValue(func() *regexp.Regexp {
	const blank = `[` + anyBlank + `]?`
	return regexp.MustCompile(`^` + blank + `h` + blank + `([0-5][0-9])(?:$|` + blank + `(?:m[^i]|[^m` + anyBlank + `0-9]))`)
})

// version reads the number of a version, with what says which try it is: 1.4.10, 2.0.0b22,
// v14.2.5, 3.1rc2. It is the same as that number alone, and as no beginning of it.
func (r *numberReader) version(at int, n spelling) (end int) {
	start := at
	if at > 0 && r.s[at-1]|0x20 == 'v' && !isAttaching(lastVisible(r.s[:at-1])) {
		start--
	}
	if len(n.groups) < 2 || slices.ContainsFunc(n.marks, func(m rune) bool { return m != '.' }) {
		return 0
	}
	end = n.end
	if c, _ := utf8.DecodeRuneInString(r.s[end:]); isAttaching(c) || strings.ContainsRune("-._", c) {
		end += len(versionTry().FindString(r.s[end:]))
	}
	if end < len(r.s) && isLetter(r.s[end]) && len(n.groups) > 2 && n.values(0, false) == nil {
		end++ // 1.1.1k
	}
	if c, _ := utf8.DecodeRuneInString(r.s[end:]); isAttaching(c) {
		return 0
	}
	f := Figure{Start: at, End: end, Readings: []Quantity{{strings.ToLower(r.s[at:end]), version}}, counts: true}
	switch date := len(n.groups) == 3 && len(n.groups[0]) <= 2 && len(n.groups[1]) <= 2 && isYear(n.groups[2]); {
	case date && start == at:
		return 0
	case end > n.end, len(n.groups) > 2 && (start < at || n.values(0, false) == nil):
	case start < at && r.page:
		f.Readings = []Quantity{{canonical(n.groups[0], n.groups[1], 0), noUnit}}
	default:
		return 0
	}
	r.out = append(r.out, f)
	return end
}

// versionTry finds what follows the number of a version that is not the last.
var versionTry = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-._]?(?i:alpha|beta|rc|dev|pre|post|a|b|p)[-.]?[0-9]+`)
})

// powerOfTen reads the raised digits of 10⁶, and × 10⁶ after another number.
func (r *numberReader) powerOfTen(n spelling) (base bool, power, end int) {
	if power, end := raisedDigits(r.s, n.end); end > 0 && len(n.groups) == 1 && n.groups[0] == "10" {
		return true, power, end
	}
	if rest := r.s[n.end:]; strings.HasPrefix(rest, "e") || strings.HasPrefix(rest, "E") { // 9e9
		at := n.end + 1
		if strings.HasPrefix(r.s[at:], "+") {
			at++
		}
		digits, end := digitsAt(r.s, at)
		if next, _ := utf8.DecodeRuneInString(r.s[end:]); len(digits) > 0 && len(digits) <= 2 && !isAttaching(next) {
			power, _ := strconv.Atoi(digits)
			return false, power, end
		}
	}
	rest := strings.TrimLeft(r.s[n.end:], " \u00a0")
	for _, times := range []string{"×", "x", "·", "*"} {
		if after, found := strings.CutPrefix(rest, times); found {
			after = strings.TrimLeft(after, " \u00a0")
			if after, found = strings.CutPrefix(after, "10"); found {
				if power, end := raisedDigits(r.s, len(r.s)-len(after)); end > 0 {
					return false, power, end
				}
			}
		}
	}
	return false, 0, 0
}

// raisedDigits reads an exponent of one or two digits, raised or after ^.
func raisedDigits(s string, at int) (power, end int) {
	digits := ""
	if rest, found := strings.CutPrefix(s[at:], "^"); found {
		digits, end = digitsAt(s, len(s)-len(rest))
	} else {
		for end = at; end < len(s); {
			r, size := utf8.DecodeRuneInString(s[end:])
			i := strings.IndexRune(page.RaisedDigits, r)
			if i < 0 {
				break
			}
			digits += string(rune('0' + utf8.RuneCountInString(page.RaisedDigits[:i])))
			end += size
		}
	}
	if len(digits) == 0 || len(digits) > 2 {
		return 0, 0
	}
	power, _ = strconv.Atoi(digits)
	return power, end
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
