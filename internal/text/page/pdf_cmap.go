package page

// cmap maps the codes of a font to text.
type cmap struct {
	lengths [5]bool // which lengths codes have
	chars   map[string]string
	ranges  []codeRange
}

// codeRange maps consecutive codes.
type codeRange struct {
	low, high uint32
	length    int
	to        string // of the first, in UTF-16
	list      array  // or of each
}

// maxMapped bounds what one font's map may hold.
const maxMapped = 1 << 17

// readCMap reads a map to Unicode.
func (f *pdfFile) readCMap(s *stream) *cmap {
	m := &cmap{chars: map[string]string{}}
	l := lexer{f.decode(s), 0, &f.budget}
	var held []object
	for !l.done() {
		o := l.object(0)
		word, isWord := o.(keyword)
		if !isWord {
			if held = append(held, o); len(held) > 1<<12 {
				held = held[1<<11:]
			}
			continue
		}
		switch word {
		case "endcodespacerange":
			for _, o := range held {
				if s, ok := o.(str); ok && len(s) > 0 && len(s) <= 4 {
					m.lengths[len(s)] = true
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(held) && len(m.chars) < maxMapped; i += 2 {
				from, okFrom := held[i].(str)
				to, okTo := held[i+1].(str)
				if okFrom && okTo && len(from) <= 4 && len(to) <= 64 {
					m.chars[string(from)] = utf16Text(string(to))
				}
			}
		case "endbfrange":
			m.addRanges(held)
		}
		held = held[:0]
	}
	sortBy(m.ranges, func(r codeRange) int { return int(r.low) })
	return m
}

// addRanges takes triples of two codes and what they stand for.
func (m *cmap) addRanges(held []object) {
	for i := 0; i+2 < len(held) && len(m.ranges) < maxMapped; i += 3 {
		low, okLow := held[i].(str)
		high, okHigh := held[i+1].(str)
		if !okLow || !okHigh || len(low) != len(high) || len(low) == 0 || len(low) > 4 {
			continue
		}
		r := codeRange{low: codeOf(low), high: codeOf(high), length: len(low)}
		switch to := held[i+2].(type) {
		case str:
			r.to = string(to[:min(len(to), 64)])
		case array:
			r.list = to
		}
		m.ranges = append(m.ranges, r)
	}
}

func codeOf(s str) uint32 {
	var v uint32
	for i := range len(s) {
		v = v<<8 | uint32(s[i])
	}
	return v
}

// text is what a code stands for, and false for a code that is not mapped.
func (m *cmap) text(code string) (string, bool) {
	if text, found := m.chars[code]; found {
		return text, true
	}
	v := codeOf(str(code))
	// The last range that begins at or before the code.
	low, high := 0, len(m.ranges)
	for low < high {
		if mid := (low + high) / 2; m.ranges[mid].low <= v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for i := low - 1; i >= max(0, low-4); i-- {
		if r := m.ranges[i]; r.length == len(code) && v >= r.low && v <= r.high {
			return r.text(v), true
		}
	}
	return "", false
}

func (r codeRange) text(code uint32) string {
	offset := code - r.low
	if r.list != nil {
		if offset < uint32(len(r.list)) {
			if s, ok := r.list[offset].(str); ok {
				return utf16Text(string(s))
			}
		}
		return ""
	}
	if len(r.to) < 2 {
		return ""
	}
	to := []byte(r.to)
	last := uint32(to[len(to)-2])<<8 | uint32(to[len(to)-1])
	last += offset
	to[len(to)-2], to[len(to)-1] = byte(last>>8), byte(last)
	return utf16Text(string(to))
}
