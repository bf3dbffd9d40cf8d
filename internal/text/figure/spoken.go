package figure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// The words for numbers: those below a hundred, the last words of ordinals, and what
// multiplies the words before it.
var (
	cardinals   = numbersOf("cardinals")
	ordinals    = numbersOf("ordinals")
	multipliers = numbersOf("multipliers")
)

// words reads a number in English words that begins with the word from at to
// end: twenty-five, one hundred and twelve, a million, half a billion, two and a
// half. It returns where the number ends, or at itself.
func (r *numberReader) words(at, end int) int {
	first := strings.ToLower(r.s[at:end])
	if len(first) > len("seventeenth") {
		return at
	}
	w := wordReader{s: r.s}
	switch first {
	case "half":
		// half a million
		rest := w.after(end)
		if article, next := w.word(rest); article == "a" || article == "an" {
			if name, last := w.word(w.after(next)); multipliers()[name] >= 1000 {
				return r.spoken(at, last, multipliers()[name]/2, name, true)
			}
		}
		return at
	case "a", "an":
		if strings.HasSuffix(r.s[:at], " of ") {
			return at // a quarter of a million
		}
		name, last := w.word(w.after(end))
		if value := cmp.Or(multipliers()[name], cardinals()[name]); value >= 12 && (multipliers()[name] > 0 || name == "dozen") {
			return r.spoken(at, last, value, name, multipliers()[name] >= 1000)
		}
		return at
	}
	_, cardinal := cardinals()[first]
	_, ordinal := ordinals()[first]
	if !cardinal && !ordinal || ordinal && ordinals()[first] < 10 {
		return at
	}
	value, last, name, large := w.read(at)
	if last == at {
		return at
	}
	return r.spoken(at, last, value, name, large)
}

// spoken adds a number that was read from words. Large says that it has a
// magnitude: it is an amount however few digits it has.
func (r *numberReader) spoken(at, end int, value int64, last string, large bool) int {
	f := Figure{Start: at, End: end, counts: value >= 10 || large}
	power := 0
	if large {
		for m := multipliers()[last]; m >= 10; m /= 10 {
			power++
		}
	}
	read := canonical(strconv.FormatInt(value, 10), "", 0)
	if rest, found := strings.CutPrefix(r.s[end:], " and a half"); found && value < 100 && !beginsWord(rest) {
		read, f.End, f.counts = canonical(strconv.FormatInt(value, 10), "5", 0), end+len(" and a half"), true
	}
	n := r.finish(f, []string{read})
	if added := &r.out[len(r.out)-1]; power > 0 {
		added.magnitude = power
	}
	return n
}

func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r)
}

// wordReader reads words of a number.
type wordReader struct{ s string }

// after skips one blank or hyphen.
func (w wordReader) after(at int) int {
	if at < len(w.s) && (w.s[at] == ' ' || w.s[at] == '-' || w.s[at] == '\n') {
		return at + 1
	}
	if strings.HasPrefix(w.s[at:], "\u00a0") || strings.HasPrefix(w.s[at:], "‑") {
		return at + len(w.s[at:]) - len(strings.TrimPrefix(strings.TrimPrefix(w.s[at:], "\u00a0"), "‑"))
	}
	return at
}

// word reads a word in lower case.
func (w wordReader) word(at int) (name string, end int) {
	end = at
	for end < len(w.s) && isLetter(w.s[end]) {
		end++
	}
	if end-at > len("seventeenth") {
		return "", end
	}
	return strings.ToLower(w.s[at:end]), end
}

// leavesRoom reports whether a number goes on with another below a hundred: twenty
// five, hundred five; but five twenty are two numbers.
func leavesRoom(current, n int64) bool {
	low := current % 100
	return low == 0 || low%10 == 0 && low >= 20 && n < 10
}

// read reads as many words as make one number.
func (w wordReader) read(at int) (value int64, end int, last string, large bool) {
	var total, current int64
	end = at
	for next := at; ; {
		name, stop := w.word(next)
		if name == "and" && end > at && current >= 100 {
			if following, _ := w.word(w.after(stop)); cardinals()[following] == 0 && ordinals()[following] == 0 {
				break
			}
			next = w.after(stop)
			continue
		}
		if n, found := cardinals()[name]; found {
			if name == "dozen" && current > 0 && current < 100 {
				return total + current*n, stop, name, large
			}
			if name == "dozen" || !leavesRoom(current, n) {
				break
			}
			current += n
		} else if n, found := ordinals()[name]; found {
			if !leavesRoom(current, n) {
				break
			}
			return total + current + n, stop, name, large
		} else if m := multipliers()[name]; m == 100 && current > 0 && current < 100 {
			current *= 100
		} else if m > 100 && current > 0 {
			total += current * m
			current = 0
			large = true
		} else {
			break
		}
		last, end = name, stop
		if next = w.after(stop); next == stop {
			break
		}
	}
	return total + current, end, last, large
}

func sortByLength(list []string) {
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
}
