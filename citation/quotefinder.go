package citation

import (
	"bytes"
	"slices"
)

// quoteFinder looks for many quotations in one text, in one pass: it is the
// automaton of Aho and Corasick over all their parts.
type quoteFinder struct {
	next    map[uint64]int32 // by state and byte; the root's are in first
	first   [256]int32
	fail    []int32
	ends    []int32 // the part that ends in a state, plus 1
	shorter []int32 // the next state on the way of fail in which a part ends
	parts   [][]byte
	waiting [][]*quoteSearch // by part: the quotations whose next part it is
	byPart  map[string]int32
}

// quoteSearch is a quotation on its way through a text.
type quoteSearch struct {
	parts []int32 // as indices
	done  int     // how many were found
	after int     // where the next may begin
	start int     // where the first begins
	found bool
	at    textRange // where the text has it
}

type textRange struct{ start, end int }

func newQuoteFinder() *quoteFinder {
	return &quoteFinder{next: map[uint64]int32{}, fail: make([]int32, 1), ends: make([]int32, 1), shorter: make([]int32, 1), byPart: map[string]int32{}}
}

// add puts a quotation in.
func (f *quoteFinder) add(q quotation) *quoteSearch {
	s := &quoteSearch{}
	for _, part := range q.parts {
		s.parts = append(s.parts, f.part(part))
	}
	f.waiting[s.parts[0]] = append(f.waiting[s.parts[0]], s)
	return s
}

func (f *quoteFinder) part(part []byte) int32 {
	if i, known := f.byPart[string(part)]; known {
		return i
	}
	i := int32(len(f.parts))
	f.byPart[string(part)] = i
	f.parts = append(f.parts, part)
	f.waiting = append(f.waiting, nil)
	state := int32(0)
	for _, c := range part {
		to := f.step(state, c)
		if to == 0 {
			to = int32(len(f.fail))
			f.fail, f.ends, f.shorter = append(f.fail, 0), append(f.ends, 0), append(f.shorter, 0)
			if state == 0 {
				f.first[c] = to
			} else {
				f.next[uint64(state)<<8|uint64(c)] = to
			}
		}
		state = to
	}
	f.ends[state] = i + 1
	return i
}

// step is the state after a byte, 0 where no part goes on with it.
func (f *quoteFinder) step(state int32, c byte) int32 {
	if state == 0 {
		return f.first[c]
	}
	return f.next[uint64(state)<<8|uint64(c)]
}

// link finds for every state the longest end of its text that begins a part,
// too. Parts are followed byte by byte together, so that shorter texts come
// first.
func (f *quoteFinder) link() {
	type place struct {
		part  int
		state int32
	}
	places := make([]place, len(f.parts))
	for i := range places {
		places[i].part = i
	}
	for depth := 0; len(places) > 0; depth++ {
		kept := places[:0]
		for _, p := range places {
			if depth == len(f.parts[p.part]) {
				continue
			}
			c := f.parts[p.part][depth]
			to := f.step(p.state, c)
			if p.state != 0 {
				back := f.fail[p.state]
				for back != 0 && f.step(back, c) == 0 {
					back = f.fail[back]
				}
				f.fail[to] = f.step(back, c)
				f.shorter[to] = f.fail[to]
				if f.ends[f.fail[to]] == 0 {
					f.shorter[to] = f.shorter[f.fail[to]]
				}
			}
			kept = append(kept, place{p.part, to})
		}
		places = kept
	}
}

// run passes over a text. Every quotation is found at the first place at which
// its parts follow one another as whole words.
func (f *quoteFinder) run(source string) {
	if len(f.parts) == 0 {
		return
	}
	f.link()
	text := fold(source)
	states, soft := []int32{0}, text.soft // one for each way to read the text so far
	for i, c := range text.text {
		if len(soft) > 0 && soft[0] == i {
			soft = soft[1:]
			states = f.forked(states)
		}
		for k := range states {
			states[k] = f.advance(states[k], c)
			for s := states[k]; s != 0; s = f.shorter[s] {
				if part := f.ends[s] - 1; part >= 0 && len(f.waiting[part]) > 0 {
					f.hit(&text, part, i+1)
				}
			}
		}
		if len(states) > 1 {
			slices.Sort(states)
			states = slices.Compact(states)
		}
	}
}

// advance is the state after a byte.
func (f *quoteFinder) advance(state int32, c byte) int32 {
	for state != 0 && f.step(state, c) == 0 {
		state = f.fail[state]
	}
	return f.step(state, c)
}

// mostWays is in how many ways a text is read at once.
const mostWays = 32

// forked adds the states in which the text has a blank here.
func (f *quoteFinder) forked(states []int32) []int32 {
	for _, state := range states {
		if to := f.advance(state, ' '); len(states) < mostWays && !slices.Contains(states, to) {
			states = append(states, to)
		}
	}
	return states
}

// hit takes a part that ends at a position to the quotations that wait for it.
func (f *quoteFinder) hit(text *folded, part int32, end int) {
	start := text.beginOf(f.parts[part], end)
	if !text.whole(start, end) {
		return
	}
	waiting := f.waiting[part]
	f.waiting[part] = nil
	for _, s := range waiting {
		if start < s.after {
			f.waiting[part] = append(f.waiting[part], s)
			continue
		}
		if s.done == 0 {
			s.start = start
		}
		s.done++
		s.after = end
		if s.done < len(s.parts) {
			next := s.parts[s.done]
			f.waiting[next] = append(f.waiting[next], s)
			continue
		}
		s.found = true
		s.at.start, s.at.end = text.span(f.nearest(text, s, start), end)
	}
}

// maxLookBack is how far before the last part of a quotation a nearer place of
// the parts before it is looked for.
const maxLookBack = 16 << 10

// nearest moves the parts before the last one as close to it as they stand, so
// that what is shown is a passage and not half a page.
func (f *quoteFinder) nearest(text *folded, s *quoteSearch, last int) int {
	at, from := last, max(s.start, last-maxLookBack)
	for i := len(s.parts) - 2; i >= 0; i-- {
		part := f.parts[s.parts[i]]
		n := lastWhole(text, part, from, at)
		if n < 0 {
			return s.start
		}
		at = n
	}
	return at
}

// lastWhole is the last place of a part between two positions, -1 where it is
// nowhere.
func lastWhole(text *folded, part []byte, from, to int) int {
	for {
		n := bytes.LastIndex(text.text[from:to], part)
		if n < 0 {
			return -1
		}
		if text.whole(from+n, from+n+len(part)) {
			return from + n
		}
		to = from + n + len(part) - 1
	}
}
