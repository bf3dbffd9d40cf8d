package claim

import (
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// picker chooses the windows of a page one after the other.
type picker struct {
	*reading
	items []item
	named []bool // by passage: it holds a part of a name
}

// item is what a window can hold: a fact of the sentence, or one of its content words.
type item struct {
	at     []int32 // the passages that have it
	fact   bool
	weight float64 // of a word
	part   int     // of a word: the sentence that has it, where there are several
	seen   bool    // a window that was picked holds it

	differs bool // the page says there otherwise what the sentence says
}

// worth is how many facts an item counts for: where the page says otherwise is shown first.
func (i *item) worth() int {
	if i.differs {
		return 1000
	}
	return 1
}

// again is what a word counts that an earlier window holds, of what it weighs.
const again = 0.7

// in reports whether one of the passages from first to last has it.
func (i *item) in(first, last int) bool {
	k, _ := slices.BinarySearch(i.at, int32(first))
	return k < len(i.at) && int(i.at[k]) <= last
}

// weigh lists the windows that begin with each passage. The share of the page is that of
// the words that its best window holds; of several sentences that are judged as one, each
// has a best window of its own.
func (p *picker) weigh() (runs []candidate, share float64) {
	n := len(p.passages)
	runs = make([]candidate, n)
	held, next := make([]float64, n), make([]int32, n+1)
	quoted, named := 0, 0 // how many of the window's passages are
	for i, last := 0, -1; i < n; i++ {
		for ; last < p.passages[i].last; last++ {
			quoted, named = quoted+codec.Flag(p.quoted[last+1]), named+codec.Flag(p.named[last+1])
		}
		runs[i] = candidate{first: i, last: last, quoted: quoted > 0, named: named > 0}
		quoted, named = quoted-codec.Flag(p.quoted[i]), named-codec.Flag(p.named[i])
	}
	total, best := 0.0, 0.0
	for k, it := range p.items {
		total += it.weight
		if len(it.at) > 0 {
			next[n] = int32(n) // by passage: the next one that has it
			for i, k := n-1, len(it.at)-1; i >= 0; i-- {
				if next[i] = next[i+1]; k >= 0 && int(it.at[k]) == i {
					next[i] = int32(i)
					k--
				}
			}
			for i := range runs {
				if int(next[i]) > runs[i].last {
					continue
				}
				if held[i] += it.weight; it.fact {
					runs[i].facts += it.worth()
				}
			}
		}
		if k+1 == len(p.items) || it.part != p.items[k+1].part {
			best += slices.Max(append(held, 0))
			for i := range held {
				runs[i].weight += held[i]
				held[i] = 0
			}
		}
	}
	if total == 0 {
		return runs, 1
	}
	return runs, best / total
}

// hold says what a window holds beyond what was seen.
func (p *picker) hold(c candidate) candidate {
	c.facts, c.weight = 0, 0
	for k := range p.items {
		it := &p.items[k]
		switch {
		case !it.in(c.first, c.last):
		case it.fact && !it.seen:
			c.facts += it.worth()
		case it.fact && p.isRow(c.first): // of two rows that are like otherwise
			c.weight += again
		case it.seen:
			c.weight += again * it.weight
		default:
			c.weight += it.weight
		}
	}
	c.quoted = slices.Contains(p.quoted[c.first:c.last+1], true)
	c.named = slices.Contains(p.named[c.first:c.last+1], true)
	return c
}

// pick takes the best windows that share no text, at most n: by what they hold, or by
// their place. With every one that is taken the others hold less: what it shows, and the
// room that it takes. So the first is looked at again, and moves back where it does not
// stay the first.
func (p *picker) pick(from []candidate, n int, loose bool) []candidate {
	var picked []candidate
	order := byWords
	if loose {
		order = byPlace
	}
	for k := range p.items {
		p.items[k].seen = false
	}
	slices.SortFunc(from, order)
	for len(from) > 0 && len(picked) < n {
		c := from[0]
		if free := trim(&c, picked); !free {
			from = from[1:]
			continue
		}
		c = p.hold(c)
		if k, _ := slices.BinarySearchFunc(from[1:], c, order); k > 0 {
			copy(from, from[1:k+1])
			from[k] = c
			continue
		}
		from = from[1:]
		c = p.settle(c, picked)
		for k := range p.items {
			it := &p.items[k]
			it.seen = it.seen || !loose && it.in(c.first, c.last)
		}
		picked = append(picked, c)
	}
	return picked
}

// byRow makes windows of the rows of large tables: what two rows have between them, one having
// the name and another the number, is in none.
func (p *picker) byRow(runs []candidate) []candidate {
	for i, is := range p.rows {
		if is {
			runs[i] = p.hold(candidate{first: i, last: i})
		}
	}
	return runs
}

// telling says which passages hold a fact, or a word that few have: other rows of a large table
// have what each row has, and are not shown beside one.
func (p *picker) telling(passage int) bool {
	return slices.ContainsFunc(p.items, func(it item) bool {
		return (it.fact || few*len(it.at) <= len(p.passages)) && it.in(passage, passage)
	})
}

// few is of how many passages one at most has a word that tells rows apart.
const few = 8

// rowsOf are the passages that stand in a table which no window can show.
func (r *reading) rowsOf() []bool {
	if len(r.tables) == 0 {
		return nil
	}
	rows := make([]bool, len(r.passages))
	i := 0
	for _, t := range r.tables {
		for i < len(rows) && r.passages[i].start < t.start {
			i++
		}
		from, size := i, 0
		for ; i < len(rows) && r.passages[i].start < t.end; i++ {
			size += r.passages[i].size
		}
		for k := from; k < i && size > windowWords; k++ {
			rows[k] = true
		}
	}
	return rows
}

// trim takes from the end of a window what others have. It is false where they have its
// beginning.
func trim(c *candidate, others []candidate) bool {
	for _, o := range others {
		if o.first <= c.first && c.first <= o.last {
			return false
		}
		if o.first > c.first {
			c.last = min(c.last, o.first-1)
		}
	}
	return true
}

// settle moves a window so that what it holds lies in its middle: the passages at its
// ends that hold nothing give way to neighbours as far as they fit, the next one first; where a
// window is wide there are no others.
func (p *picker) settle(c candidate, others []candidate) candidate {
	first, last, fullest := -1, -1, candidate{}
	for i := c.first; i <= c.last; i++ {
		one := p.hold(candidate{first: i, last: i})
		if one.facts == 0 && one.weight == 0 && !one.quoted && !one.named {
			continue
		}
		if last = i; first < 0 || byWords(one, fullest) < 0 {
			fullest, c.around = one, i
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		c.around = c.first
		return c
	}
	c.first, c.last = first, last
	size := 0
	for i := c.first; i <= c.last; i++ {
		size += p.passages[i].size
	}
	most := windowWords
	fits := func(i int) bool {
		return i >= 0 && i < len(p.passages) && size+p.passages[i].size <= most && (!p.isRow(i) || p.telling(i)) &&
			!slices.ContainsFunc(others, func(o candidate) bool { return o.first <= i && i <= o.last })
	}
	for grown := true; grown; {
		grown = false
		if fits(c.last + 1) {
			c.last++
			size += p.passages[c.last].size
			grown = true
		}
		if fits(c.first - 1) {
			c.first--
			size += p.passages[c.first].size
			grown = true
		}
		if p.passages[0].last < len(p.passages)-1 { // else it shows the whole page
			most = wideWords
		}
	}
	return c
}
