package reading

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// minPairs is how many pairs a look has at least, where so many can be made.
const minPairs = 10

// Pair is a sentence and its twin, each by the number of its part and its place there.
type Pair struct {
	Sentence, Twin Place
	Hard           bool // every word of the twin stands on the page
}

// Place is where a claim stands: from 0 in the part of that number.
type Place struct{ Part, Claim int }

// Dealt are the parts of a look as their readers are asked, by number, and the pairs in them.
type Dealt struct {
	Parts map[int]Asked
	Pairs []Pair
	order []int
}

// deal deals sentences with their twins over parts, the first of which has that number: a
// twin for each three sentences and at least ten, or as many as can be made, each in
// another part than its sentence. Where too few sentences are open, some of tests, which
// are supported, are asked again with their twins.
func deal(open, tests []Item, first int, seed Seed, m Material) Dealt {
	random := seed.of(fmt.Sprint("deal ", first))
	claims, twins := m.twins(open, tests, random)
	if len(claims) == 0 {
		return Dealt{}
	}
	var best *table
	least := (len(claims) + len(twins) + MaxClaims - 1) / MaxClaims
	if len(twins) > 0 {
		least = max(2, least)
	}
	for n := least; n <= max(2, len(claims)); n++ {
		t := &table{random: random, parts: make([]laid, n), weakFirst: m.WeakFirst}
		if !t.lay(claims, twins) {
			continue
		}
		if best == nil || t.left < best.left {
			best = t
		}
		if best.left == 0 || n >= least+2 {
			break
		}
	}
	if best == nil { // a claim is as large as a part
		best = &table{random: random}
		for _, item := range claims {
			best.parts = append(best.parts, laid{items: []Item{item}})
		}
	}
	return best.dealt(first)
}

// twins makes the twins of sentences, as many as are wanted: of those that are open first,
// and at least half of them, where that can be, such that all their words stand on the page.
// The claims are those that are asked.
func (m Material) twins(open, tests []Item, random *random) (claims, twins []Item) {
	claims = slices.Clone(open)
	want, far := max(minPairs, (len(open)+2)/3), 0
	var spare, spared []Item // whose twins a page tells, and the sentences
	for _, of := range append(shuffled(random, open), shuffled(random, tests)...) {
		if len(twins) == want || len(open) == 0 {
			break
		}
		twin, by, ok := m.twinOf(&of, random)
		switch {
		case !ok:
			continue
		case by == changed && 2*(far+1) > want:
			spare, spared = append(spare, twin), append(spared, of)
			continue
		case by == changed:
			far++
		}
		twins = append(twins, twin)
		if of.test {
			claims = append(claims, of)
		}
	}
	for i := range min(len(spare), want-len(twins)) {
		twins = append(twins, spare[i])
		if spared[i].test {
			claims = append(claims, spared[i])
		}
	}
	return claims, twins
}

// TwinsOf are the twins of sentences, as a seed has them.
func (m Material) TwinsOf(sentences []Item, seed Seed) []Item {
	_, twins := m.twins(sentences, nil, seed.of("twins"))
	return twins
}

// twinOf is the twin of a sentence, with the same windows and fields.
func (m Material) twinOf(of *Item, random *random) (twin Item, by way, ok bool) {
	pages := make([]string, len(of.cids))
	for i, cid := range of.cids {
		pages[i] = m.Text(cid)
	}
	maker := maker{language: m.Language, windows: of.Windows, random: random,
		lacks: func(text string) bool {
			return !slices.ContainsFunc(pages, func(page string) bool { return strings.Contains(page, text) })
		}}
	text, by, ok := maker.twin(of)
	if !ok {
		return twin, by, false
	}
	twin = *of
	twin.Text, twin.Twin = text, true
	twin.hard = of.Form != Frame && allIn(text, of.Windows)
	return twin, by, true
}

// table is where claims are laid into parts.
type table struct {
	random *random
	parts  []laid
	left   int // twins that found no part
	// weakFirst fills one part after the other with claims.
	weakFirst bool
}

// laid is a part while claims are laid into it.
type laid struct {
	items  []Item
	size   int
	shown  map[string]bool // sentences that are claims of it or stand beside one
	frames []string        // what its frames are shown with
	denied map[string]bool // the sentences whose twins are in it
}

// lay lays out claims and then twins, and reports whether all claims found their place.
// Sentences that are shown with each other lie together, so that their twins can lie
// elsewhere.
func (t *table) lay(claims, twins []Item) bool {
	texts := map[string]string{}
	for i := range claims {
		texts[claims[i].ID] = markdown.OneLine(claims[i].Text)
	}
	anywhere := func(*laid) bool { return true }
	groups := shuffled(t.random, together(claims))
	share := (len(claims) + len(t.parts) - 1) / len(t.parts)
	if t.weakFirst {
		slices.SortStableFunc(groups, func(a, b []Item) int { return rank(a) - rank(b) })
	}
	for _, group := range groups {
		at := slices.IndexFunc(t.parts, func(p laid) bool { return len(p.items)+len(group) <= share })
		if t.weakFirst && at >= 0 && t.put(func(p *laid) bool { return p == &t.parts[at] }, texts, group...) || t.put(anywhere, texts, group...) {
			continue
		}
		for _, item := range group {
			if !t.put(anywhere, texts, item) {
				return false
			}
		}
	}
	for _, twin := range twins {
		if !t.put(func(p *laid) bool { return p.takes(&twin, texts[twin.ID]) }, texts, twin) {
			t.left++
		}
	}
	return true
}

// ranks are in which order claims are read whose reading a budget may end.
var ranks = map[claim.Standing]int{claim.Found: 1, claim.Missing: 2}

func rank(group []Item) int {
	best := len(ranks)
	for i := range group {
		best = min(best, ranks[group[i].rule])
	}
	return best
}

// takes reports whether a part shows the sentence of a twin nowhere, with the twin in it.
func (p *laid) takes(twin *Item, sentence string) bool {
	beside, shown := twin.beside()
	return !p.shown[sentence] && !slices.ContainsFunc(p.frames, func(text string) bool { return strings.Contains(text, sentence) }) &&
		!slices.ContainsFunc(beside, func(text string) bool { return p.denied[text] || text == sentence }) &&
		(shown == "" || !slices.ContainsFunc(slices.Collect(maps.Keys(p.denied)), func(text string) bool { return strings.Contains(shown, text) }))
}

// put puts claims into the part with the fewest that has room for them.
func (t *table) put(allowed func(*laid) bool, texts map[string]string, items ...Item) bool {
	size := 0
	for i := range items {
		size += items[i].size()
	}
	var p *laid
	for k := range t.parts {
		other := &t.parts[k]
		if len(other.items)+len(items) <= MaxClaims && len(instructions)+other.size+size <= MaxBytes && (p == nil || len(other.items) < len(p.items)) && allowed(other) {
			p = other
		}
	}
	if p == nil {
		return false
	}
	if p.shown == nil {
		p.shown, p.denied = map[string]bool{}, map[string]bool{}
	}
	p.items, p.size = append(p.items, items...), p.size+size
	for i := range items {
		beside, shown := items[i].beside()
		for _, text := range beside {
			p.shown[text] = true
		}
		if shown != "" {
			p.frames = append(p.frames, shown)
		}
		if items[i].Twin {
			p.denied[texts[items[i].ID]] = true
		} else {
			p.shown[texts[items[i].ID]] = true
		}
	}
	return true
}

// beside are the texts that a claim is shown with; shown is what a frame introduces.
func (i *Item) beside() (texts []string, shown string) {
	for _, text := range []string{i.Context.Heading, i.Context.LeadIn, i.Context.Before} {
		if text != "" {
			texts = append(texts, markdown.OneLine(text))
		}
	}
	if i.Form == Frame {
		shown = markdown.OneLine(i.Context.Shown)
	}
	return texts, shown
}

// together are claims in groups: those of which one is shown with another lie in one, unless
// it becomes as large as half of a part.
func together(claims []Item) [][]Item {
	at, group, members := map[string]int{}, make([]int, len(claims)), make([][]Item, len(claims))
	for i := range claims {
		at[markdown.OneLine(claims[i].Text)], group[i], members[i] = i, i, claims[i:i+1:i+1]
	}
	join := func(a, b int) {
		if a, b := group[a], group[b]; a != b && len(members[a])+len(members[b]) <= MaxClaims/2 {
			members[a], members[b] = append(members[a], members[b]...), nil
			for i := range group {
				if group[i] == b {
					group[i] = a
				}
			}
		}
	}
	for i := range claims {
		beside, shown := claims[i].beside()
		for _, text := range beside {
			if k, is := at[text]; is {
				join(i, k)
			}
		}
		if shown == "" {
			continue
		}
		for k := range claims {
			if strings.Contains(shown, markdown.OneLine(claims[k].Text)) {
				join(i, k)
			}
		}
	}
	return slices.DeleteFunc(members, func(m []Item) bool { return len(m) == 0 })
}

// dealt is the table with each part in the order of the seed.
func (t *table) dealt(first int) Dealt {
	d := Dealt{Parts: map[int]Asked{}}
	at := map[string]Place{}
	for _, p := range t.parts {
		if len(p.items) == 0 {
			continue
		}
		number, items := first+len(d.order), shuffled(t.random, p.items)
		d.Parts[number], d.order = Asked{Items: items}, append(d.order, number)
		for i := range items {
			if !items[i].Twin {
				at[items[i].ID] = Place{number, i}
			}
		}
	}
	for _, number := range d.order {
		for i, item := range d.Parts[number].Items {
			if item.Twin {
				d.Pairs = append(d.Pairs, Pair{at[item.ID], Place{number, i}, item.hard})
			}
		}
	}
	return d
}

// parts are the parts as the document of the claims has them.
func (d Dealt) parts(look int) (parts []evidence.Part) {
	for _, number := range d.order {
		part := evidence.Part{Number: number, Look: look}
		for _, item := range d.Parts[number].Items {
			if !item.Twin {
				part.Sentences = append(part.Sentences, item.ID)
			}
		}
		parts = append(parts, part)
	}
	return parts
}
