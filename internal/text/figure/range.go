package figure

import (
	"strconv"
	"strings"
	"sync"
)

// ranges lets the numbers of a range or a list share what is said once: in 5 to
// 10 per cent, $5–10 million and 2019–20. What a number borrows becomes part of
// its place in the text.
func (r *numberReader) ranges() {
	joined := make([]bool, len(r.out))
	for i := len(r.out) - 1; i > 0; i-- {
		var comma bool
		joined[i], comma = r.joined(&r.out[i-1], &r.out[i])
		if comma { // a list goes on with a comma, and ends with a word
			joined[i] = i+1 < len(r.out) && joined[i+1]
		}
	}
	var lent Quantity         // the unit and, as a value, the power of ten of the numbers after
	var unitEnd, valueEnd int // where the numbers that lend them end
	for i := len(r.out) - 1; i >= 0; i-- {
		f := &r.out[i]
		own := f.Readings[0].unit
		if i == len(r.out)-1 || !joined[i+1] {
			lent, unitEnd, valueEnd = Quantity{}, 0, 0
		} else if (own == noUnit || own == f.prefix) && !isYear(r.s[f.Start:f.End]) && f.borrow(lent, r.page) {
			f.End = max(unitEnd, valueEnd)
		}
		if own != noUnit && own != f.prefix && own != clock && own != decade {
			lent, unitEnd, valueEnd = Quantity{unit: own}, f.End, 0
		}
		if f.magnitude > 0 {
			lent.Value, valueEnd = strconv.Itoa(f.magnitude), f.End
		}
	}
	for i := 1; i < len(r.out); i++ {
		if !joined[i] {
			continue
		}
		a, b := &r.out[i-1], &r.out[i]
		if a.prefix != noUnit && b.Readings[0].unit == noUnit {
			b.Readings = append(b.Readings, Quantity{b.Readings[0].Value, a.prefix})
			b.prefix = a.prefix
		}
		year, short := r.s[a.Start:min(len(r.s), a.Start+4)], r.s[b.Start:b.End]
		if isDigits(year) && isYear(year) && len(short) == 2 && isDigits(short) {
			b.Readings = append(b.Readings, Quantity{canonical(year[:2]+short, "", 0), noUnit})
			b.Start = a.Start
		}
	}
}

// borrow adds the readings that a number has with what the number after it says.
// In a claim they replace the others.
func (f *Figure) borrow(lent Quantity, page bool) bool {
	n := len(f.Readings)
	for _, q := range f.Readings[:n:n] {
		with := q
		if q.unit == noUnit {
			with.unit = lent.unit
		}
		if power, err := strconv.Atoi(lent.Value); err == nil && f.magnitude == 0 {
			with.Value = scaled(q.Value, power)
		}
		if with != q {
			f.Readings = append(f.Readings, with)
			f.counts = f.counts || with.Value != q.Value || isAmount(with.unit)
		}
	}
	borrowed := len(f.Readings) > n
	if borrowed && !page {
		f.Readings = f.Readings[n:]
	}
	return borrowed
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// joined reports whether two numbers that follow one another are a range or
// stand in a list, and whether it is a comma that says so.
func (r *numberReader) joined(a, b *Figure) (joined, comma bool) {
	if b.Start < a.End || b.Start-a.End > 12 {
		return false, false
	}
	switch between := strings.ToLower(strings.Trim(r.s[a.End:b.Start], " \u00a0\u202f\t")); between {
	case "-", "–", "—", "−", "‐", "‑", "~", "〜", "～", "/":
		return true, false
	case ",":
		return true, true
	default:
		return joints()[between], false
	}
}

var joints = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, e := range entriesOf("joints") {
		set[e.Text] = true
	}
	return set
})
