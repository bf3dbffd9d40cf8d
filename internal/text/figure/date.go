package figure

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Date is a date in a text, as far as it is named: 0 stands for what is not.
type Date struct {
	Start, End       int
	Year, Month, Day int
	either           bool // day and month may stand the other way round
}

// months are the words for months. Those of three letters or fewer may be other words
// in another language.
var months = lexiconOf("months", func(number string) int { return mustNumber("months", number) })

// IsMonth holds for the words for months in whatever language.
func IsMonth(word string) bool {
	_, found := months()[strings.ToLower(word)]
	return found
}

// Is reports whether a date that a page has is one that a claim names. What the claim
// does not name may be anything, and a page may leave the year to its context.
func (d Date) Is(page Date) bool {
	if d.Year != 0 && page.Year != 0 && d.Year != page.Year {
		return false
	}
	same := d.Month == page.Month && (d.Day == 0 || d.Day == page.Day)
	turned := (d.either || page.either) && d.Month == page.Day && d.Day == page.Month
	return same || turned
}

// AsExact reports whether a date names as much as another.
func (d Date) AsExact(other Date) bool {
	return d.Month != 0 && (d.Day != 0 || other.Day == 0) && (d.Year != 0 || other.Year == 0)
}

// Dates finds the dates of a text that name a month, in words or digits, in order.
// Languages are those of the text, nil where they are not known.
func Dates(text string, languages []string) []Date {
	r := dateReader{s: text, languages: languages}
	for at := 0; at < len(text); {
		at = r.next(at)
	}
	return r.out
}

type dateReader struct {
	s         string
	languages []string
	out       []Date
	done      int // where the last date ends
}

func (r *dateReader) next(at int) int {
	c, size := utf8.DecodeRuneInString(r.s[at:])
	switch {
	case unicode.IsDigit(c):
		_, end := digitsAt(r.s, at)
		if n := r.inDigits(at); n > 0 {
			return n
		}
		return end
	case unicode.IsLetter(c):
		end := at + size
		for end < len(r.s) {
			c, size := utf8.DecodeRuneInString(r.s[end:])
			if !unicode.IsLetter(c) && !unicode.IsMark(c) {
				break
			}
			end += size
		}
		if month := r.month(r.s[at:end]); month > 0 {
			return r.inWords(at, end, month)
		}
		return end
	}
	return at + size
}

// longestMonth is how many bytes the longest word for a month has.
const longestMonth = 40

// month is the number of a word for a month, 0 for another word. In Latin letters may
// is a month only with a capital, as are all English ones.
func (r *dateReader) month(word string) int {
	if len(word) < 3 || len(word) > longestMonth {
		return 0
	}
	lower := word
	if first, _ := utf8.DecodeRuneInString(word); !unicode.IsLower(first) || strings.ContainsFunc(word[1:], unicode.IsUpper) {
		lower = strings.ToLower(word)
	}
	languages := r.languages
	if len(lower) > 3 {
		languages = nil
	}
	month, found := months().of(lower, languages)
	if !found || lower == word && months()[lower].in == nil && word[0] < utf8.RuneSelf {
		return 0
	}
	return month
}

// inWords reads the date around a month in words.
func (r *dateReader) inWords(at, end, month int) int {
	d := Date{Start: at, End: end, Month: month}
	until := 0 // the other day of a range
	if day, start, other := r.dayBefore(at); day > 0 {
		d.Day, d.Start, until = day, start, other
	} else if day, stop, other := r.dayAfter(end); day > 0 {
		d.Day, d.End, until = day, stop, other
	}
	if year, stop := r.yearAfter(d.End); year > 0 {
		d.Year, d.End = year, stop
	}
	if _, known := months().of(strings.ToLower(r.s[at:end]), r.languages); d.Day == 0 && d.Year == 0 && (!known || r.languages == nil && end-at <= 3) {
		return end // a word of another language
	}
	r.add(d)
	if until > 0 {
		d.Day = until
		r.add(d)
	}
	return d.End
}

func (r *dateReader) add(d Date) {
	r.out = append(r.out, d)
	r.done = d.End
}

// dayBefore reads a day that ends before a month, and the day before it in a range.
func (r *dateReader) dayBefore(at int) (day, start, other int) {
	const near = 32
	from := max(r.done, at-near)
	text := strings.TrimRight(r.s[from:at], " \u00a0\u202f-")
	for _, word := range []string{" of", " de", " d’", " d'"} {
		text = strings.TrimSuffix(text, word)
	}
	text = strings.TrimRight(text, " \u00a0\u202f.")
	for _, ending := range []string{"st", "nd", "rd", "th", "er", "º", "ª"} {
		if cut, found := strings.CutSuffix(text, ending); found {
			text = cut
			break
		}
	}
	day, left := lastDay(text)
	if day == 0 {
		return 0, 0, 0
	}
	before := strings.TrimRight(left, " \u00a0\u202f.")
	for _, joint := range []string{"-", "–", "—", "/", " and", " to", "&", " bis", " und", " et", " au", " y", " al"} {
		if cut, found := strings.CutSuffix(before, joint); found {
			other, _ = lastDay(strings.TrimRight(cut, " \u00a0\u202f."))
			break
		}
	}
	return day, from + len(left), other
}

// lastDay is the number from 1 to 31 that a text ends with, and the text before it.
func lastDay(text string) (day int, before string) {
	start := len(text)
	for start > 0 {
		c, size := utf8.DecodeLastRuneInString(text[:start])
		if !unicode.IsDigit(c) {
			break
		}
		start -= size
	}
	digits, _ := digitsAt(text, start)
	if c, _ := utf8.DecodeLastRuneInString(text[:start]); c == '.' || c == ',' || c == ':' || isAttaching(c) {
		return 0, text
	}
	return dayOf(digits), text[:start]
}

func dayOf(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil && len(digits) <= 2 && n >= 1 && n <= 31 {
		return n
	}
	return 0
}

// dayAfter reads a day that stands after a month, and the second one of a range.
func (r *dateReader) dayAfter(at int) (day, end, other int) {
	start := skip(r.s, at, ". \u00a0\u202f")
	if start == at {
		return 0, 0, 0
	}
	digits, end := digitsAt(r.s, start)
	if day = dayOf(digits); day == 0 || continuesNumber(r.s[end:]) {
		return 0, 0, 0
	}
	end = skipOrdinal(r.s, end)
	joint := skip(r.s, end, " –—-/")
	if joint > end {
		if digits, stop := digitsAt(r.s, joint); dayOf(digits) > day && !continuesNumber(r.s[stop:]) {
			return day, skipOrdinal(r.s, stop), dayOf(digits)
		}
	}
	return day, end, 0
}

// continuesNumber holds for a text that makes the digits before it more than a day.
func continuesNumber(rest string) bool {
	c, size := utf8.DecodeRuneInString(rest)
	if c == '.' || c == ',' || c == ':' {
		after, _ := utf8.DecodeRuneInString(rest[size:])
		return unicode.IsDigit(after)
	}
	return unicode.IsDigit(c) || isPercentSign(c)
}

func skipOrdinal(s string, at int) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(s[at:], ending) {
			return at + len(ending)
		}
	}
	return at
}

// skip goes on over the characters of a set.
func skip(s string, at int, set string) int {
	return len(s) - len(strings.TrimLeft(s[at:], set))
}

// yearAfter reads a year after a day or month.
func (r *dateReader) yearAfter(at int) (year, end int) {
	start := skip(r.s, at, "., \u00a0\u202f")
	for _, word := range []string{"of ", "de ", "del ", "d’"} {
		start += len(r.s[start:]) - len(strings.TrimPrefix(r.s[start:], word))
	}
	if start == at {
		return 0, 0
	}
	digits, end := digitsAt(r.s, start)
	if !isYear(digits) || continuesNumber(r.s[end:]) {
		return 0, 0
	}
	year, _ = strconv.Atoi(digits)
	return year, end
}

// inDigits reads 2021-03-15, 15.03.2021, 15/03/2021 and 2021年3月15日. It says where
// the text goes on, 0 where no date stands.
func (r *dateReader) inDigits(at int) int {
	if last := lastVisible(r.s[:at]); last == '.' || last == '-' || last == '/' {
		return 0
	}
	first, end := digitsAt(r.s, at)
	mark, size := utf8.DecodeRuneInString(r.s[end:])
	if mark == '年' || mark == '년' || mark == '月' || mark == '월' {
		return r.dense(at)
	}
	if mark != '-' && mark != '/' && mark != '.' {
		return 0
	}
	second, end := digitsAt(r.s, end+size)
	if next, size := utf8.DecodeRuneInString(r.s[end:]); next != mark || dayOf(second) == 0 {
		return 0
	} else if third, stop := digitsAt(r.s, end+size); isYear(first) && dayOf(third) > 0 && dayOf(second) <= 12 {
		r.add(Date{Start: at, End: stop, Year: atoi(first), Month: atoi(second), Day: atoi(third)})
		return stop
	} else if isYear(third) && dayOf(first) > 0 && !continuesNumber(r.s[stop:]) {
		d := Date{Start: at, End: stop, Year: atoi(third), Month: atoi(second), Day: atoi(first), either: mark != '.'}
		if d.Month > 12 {
			d.Month, d.Day = d.Day, d.Month
		}
		if d.Month <= 12 {
			r.add(d)
			return stop
		}
	}
	return 0
}

func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// dense reads a date of scripts that name its parts after their numbers.
func (r *dateReader) dense(at int) int {
	d := Date{Start: at, End: at}
	for {
		digits, end := digitsAt(r.s, skip(r.s, d.End, " "))
		mark, size := utf8.DecodeRuneInString(r.s[end:])
		n := atoi(digits)
		switch {
		case (mark == '年' || mark == '년') && isYear(digits) && d.Month == 0 && d.Year == 0:
			d.Year = n
		case (mark == '月' || mark == '월') && n >= 1 && n <= 12 && d.Month == 0:
			d.Month = n
		case (mark == '日' || mark == '号' || mark == '號' || mark == '일') && dayOf(digits) > 0 && d.Month > 0 && d.Day == 0:
			d.Day = n
		default:
			if d.Month == 0 {
				return 0
			}
			r.add(d)
			return d.End
		}
		d.End = end + size
	}
}
