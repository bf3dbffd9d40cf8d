package quotation

import (
	"slices"
	"sort"
)

// Finder looks for many quotations in one text, in one pass: it is the
// automaton of Aho and Corasick over all their parts.
type Finder struct {
	next    map[uint64]int32 // by state and byte; the root's are in first
	first   [256]int32
	fail    []int32
	ends    []int32 // the part that ends in a state, plus 1
	shorter []int32 // the next state on the way of fail in which a part ends
	parts   [][]byte
	waiting [][]*Search // by part: the searches that it would take on
	roots   map[int32]*Search
	byPart  map[string]int32
}

// Search is the search for a quotation in a text, up to one of its parts.
// Quotations that begin with the same parts share it.
type Search struct {
	before  *Search // up to the part before, nil for the first
	next    map[int32]*Search
	part    int32
	longest int // of this part and those that may follow it, in bytes
	// chains are the places where the part ended after all parts before it were
	// found, with where the first of these begins; places too far back are forgotten.
	chains []textRange
	idle   []*Search // of next, those that do not wait for their part
	Found  bool
	// Start and End are where the text first has it.
	Start, End int
}

type textRange struct{ start, end int }

func NewFinder() *Finder {
	return &Finder{next: map[uint64]int32{}, fail: make([]int32, 1), ends: make([]int32, 1), shorter: make([]int32, 1), byPart: map[string]int32{}, roots: map[int32]*Search{}}
}

// Add puts a quotation in. One without parts is never found.
func (f *Finder) Add(q Quotation) *Search {
	var last *Search
	next := f.roots
	for _, part := range q.parts {
		i := f.part(part)
		s := next[i]
		if s == nil {
			s = &Search{before: last, next: map[int32]*Search{}, part: i, longest: len(part)}
			next[i] = s
			if last == nil {
				f.waiting[i] = append(f.waiting[i], s)
			} else {
				last.longest = max(last.longest, len(part))
				last.idle = append(last.idle, s)
			}
		}
		last, next = s, s.next
	}
	if last == nil {
		return &Search{}
	}
	return last
}

func (f *Finder) part(part []byte) int32 {
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
func (f *Finder) step(state int32, c byte) int32 {
	if state == 0 {
		return f.first[c]
	}
	return f.next[uint64(state)<<8|uint64(c)]
}

// link finds for every state the longest end of its text that also begins a part.
// All parts are followed together, byte by byte, so that shorter texts come first.
func (f *Finder) link() {
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

// maxJoint is how many bytes of a page may stand between two parts of a quotation
// that … joins: some paragraphs.
const maxJoint = 2000

// Run passes over a text. Every quotation is found at the first place at which
// its parts follow one another as whole words, none of them too far from the next.
func (f *Finder) Run(source string) {
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
func (f *Finder) advance(state int32, c byte) int32 {
	for state != 0 && f.step(state, c) == 0 {
		state = f.fail[state]
	}
	return f.step(state, c)
}

// mostWays is the most ways in which a text is read at once.
const mostWays = 32

// forked adds the states in which the text has a blank here.
func (f *Finder) forked(states []int32) []int32 {
	for _, state := range states {
		if to := f.advance(state, ' '); len(states) < mostWays && !slices.Contains(states, to) {
			states = append(states, to)
		}
	}
	return states
}

// hit takes a part that ends at a position to the searches that wait for it.
func (f *Finder) hit(text *folded, part int32, end int) {
	start := text.beginOf(f.parts[part], end)
	if !text.whole(start, end) {
		return
	}
	waiting := f.waiting[part]
	f.waiting[part] = nil
	kept := waiting[:0]
	for _, s := range waiting {
		if f.take(text, s, textRange{start, end}) {
			kept = append(kept, s)
		}
	}
	f.waiting[part] = append(kept, f.waiting[part]...)
}

// take goes on with the part of a search, which stands at a place. It reports whether
// the search waits for another place.
func (f *Finder) take(text *folded, s *Search, place textRange) (waits bool) {
	chain := place // from the first part to this one
	if s.before != nil {
		before := s.before.chains
		if before[len(before)-1].end < place.start-maxJoint-s.longest {
			s.before.idle = append(s.before.idle, s) // until the part before is found again
			return false
		}
		near := sort.Search(len(before), func(i int) bool { return before[i].end > place.start })
		if near == 0 || before[near-1].end < place.start-maxJoint {
			return true
		}
		chain.start = before[near-1].start
	}
	if !s.Found {
		s.Found = true
		s.Start, s.End = text.span(chain.start, chain.end)
	}
	if len(s.next) == 0 {
		return false
	}
	far := sort.Search(len(s.chains), func(i int) bool { return s.chains[i].end >= place.end-maxJoint-s.longest })
	s.chains = append(s.chains[far:], chain)
	for _, next := range s.idle {
		f.waiting[next.part] = append(f.waiting[next.part], next)
	}
	s.idle = nil
	return true
}
