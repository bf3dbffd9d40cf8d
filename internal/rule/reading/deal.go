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

// layouts is how often claims are laid into as many parts before there is one more, which
// costs another agent.
const layouts = 8

// deal deals sentences with their twins over parts, the first of which has that number: a
// twin for each three sentences and at least ten, or as many as can be made, each in
// another part than its sentence. Where too few sentences are open, some of tests, which
// are supported, are asked again with their twins. For a few pairs that find no room, because
// the sentence of one is shown with that of another, there is no further part.
func deal(open, tests []Item, first int, seed Seed, m Material) Dealt {
	if len(open) == 0 {
		return Dealt{}
	}
	random := seed.of(fmt.Sprint("deal ", first))
	want := max(minPairs, (len(open)+2)/3)
	twins := m.twins(open, tests, 4*want, random)
	want = min(want, len(twins))
	own := 0 // of sentences that are open
	for own < len(twins) && !twins[own].of.test {
		own++
	}
	least := (len(open) + want + max(0, want-own) + MaxClaims - 1) / MaxClaims
	if want > 0 {
		least = max(2, least)
	}
	most := max(least+2, len(open))
	var best *table
	for n := least; n <= most && (best == nil || 4*best.pairs < 3*want && n <= least+2); n++ {
		for try := 0; try < layouts && (best == nil || best.pairs < want); try++ {
			if try > 0 {
				twins = slices.Concat(shuffled(random, twins[:own]), shuffled(random, twins[own:]))
			}
			t := &table{random: random, parts: make([]laid, n), weakFirst: m.WeakFirst}
			if !t.lay(open) {
				least++
				break
			}
			if t.pair(twins, want); best == nil || t.pairs > best.pairs {
				best = t
			}
		}
	}
	if best == nil { // a claim is as large as a part
		best = &table{random: random}
		for _, item := range open {
			best.parts = append(best.parts, laid{items: []Item{item}})
		}
	}
	return best.dealt(first)
}

// twin is the twin of a sentence, and how it was made.
type twin struct {
	Item
	of Item
	by way
}

// twins makes the twins of sentences, of those that are open first, then of tests by how much
// they take, and at most so many.
func (m Material) twins(open, tests []Item, most int, random *random) (twins []twin) {
	tests = shuffled(random, tests)
	slices.SortStableFunc(tests, func(a, b Item) int { return a.size()/about - b.size()/about })
	for _, of := range append(shuffled(random, open), tests...) {
		if len(twins) == most {
			break
		}
		if item, by, ok := m.twinOf(&of, random); ok {
			twins = append(twins, twin{item, of, by})
		}
	}
	return twins
}

// about is in steps of how many bytes tests are compared: within one the seed chooses.
const about = 2 << 10

// TwinsOf are the twins of sentences, as a seed has them.
func (m Material) TwinsOf(sentences []Item, seed Seed) (items []Item) {
	for _, t := range m.twins(sentences, nil, len(sentences), seed.of("twins")) {
		items = append(items, t.Item)
	}
	return items
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
	pairs  int
	// weakFirst fills one part after the other with claims.
	weakFirst bool
}

// laid is a part while claims are laid into it.
type laid struct {
	items  []Item
	size   int
	shown  map[string]bool // sentences that are claims of it or stand beside one
	frames []string        // what its frames are shown with, and its findings
	denied map[string]bool // the sentences whose twins are in it
}

// lay lays out claims, and reports whether all found their place. Sentences that are shown
// with each other lie together, so that their twins can lie elsewhere.
func (t *table) lay(claims []Item) bool {
	groups := shuffled(t.random, together(claims))
	share := (len(claims) + len(t.parts) - 1) / len(t.parts)
	if t.weakFirst {
		slices.SortStableFunc(groups, func(a, b []Item) int { return rank(a) - rank(b) })
	}
	for _, group := range groups {
		at := slices.IndexFunc(t.parts, func(p laid) bool { return len(p.items)+len(group) <= share && p.holds(group...) })
		if t.weakFirst && at >= 0 {
			t.parts[at].put(group...)
			continue
		}
		if t.putEmptiest(group...) {
			continue
		}
		for _, item := range group {
			if !t.putEmptiest(item) {
				return false
			}
		}
	}
	return true
}

// putEmptiest puts claims into the part with the fewest that has room for them.
func (t *table) putEmptiest(claims ...Item) bool {
	for _, p := range t.emptiestFirst() {
		if p.holds(claims...) {
			p.put(claims...)
			return true
		}
	}
	return false
}

func (t *table) emptiestFirst() (parts []*laid) {
	for k := range t.parts {
		parts = append(parts, &t.parts[k])
	}
	slices.SortStableFunc(parts, func(a, b *laid) int { return len(a.items) - len(b.items) })
	return parts
}

// pair lays out twins until there are so many. At least half of them are such that all
// their words stand on the page, where that can be.
func (t *table) pair(twins []twin, want int) {
	told := 0 // of them a page tells
	var spare []twin
	for _, twin := range twins {
		switch {
		case t.pairs == want:
			return
		case twin.by == changed && 2*(told+1) > want:
			spare = append(spare, twin)
		case t.putPair(&twin):
			t.pairs++
			if twin.by == changed {
				told++
			}
		}
	}
	for _, twin := range spare {
		if t.pairs < want && t.putPair(&twin) {
			t.pairs++
		}
	}
}

// putPair puts a twin, and its sentence if that is a test, into two parts neither of which
// shows the other, and reports whether both found room.
func (t *table) putPair(twin *twin) bool {
	parts, sentence := t.emptiestFirst(), twin.of.claimed()
	for _, p := range parts {
		if !p.takesTwin(twin, sentence) {
			continue
		}
		if twin.of.test {
			at := slices.IndexFunc(parts, func(other *laid) bool { return other != p && other.takes(&twin.of) && !other.denied[sentence] })
			if at < 0 {
				continue
			}
			parts[at].put(twin.of)
		}
		p.put(twin.Item)
		p.denied[sentence] = true
		return true
	}
	return false
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

// takesTwin reports whether a part has room for a twin and shows its sentence nowhere, with
// the twin in it.
func (p *laid) takesTwin(twin *twin, sentence string) bool {
	beside, _ := twin.beside()
	return p.takes(&twin.Item) && !p.shown[sentence] && !slices.Contains(beside, sentence) &&
		!slices.ContainsFunc(p.frames, func(text string) bool { return strings.Contains(text, sentence) })
}

// takes reports whether a part has room for a claim with which no sentence is shown whose
// twin is in the part.
func (p *laid) takes(item *Item) bool {
	beside, shown := item.beside()
	return p.holds(*item) && !slices.ContainsFunc(beside, func(text string) bool { return p.denied[text] }) &&
		(shown == "" || !slices.ContainsFunc(slices.Collect(maps.Keys(p.denied)), func(text string) bool { return strings.Contains(shown, text) }))
}

// holds reports whether a part has room for claims.
func (p *laid) holds(claims ...Item) bool {
	size := p.size + p.codeOf(claims)
	for i := range claims {
		size += claims[i].size()
	}
	return len(p.items)+len(claims) <= MaxClaims && len(instructionsFor(claims))+size <= MaxBytes
}

// put puts claims into a part.
func (p *laid) put(claims ...Item) {
	if p.shown == nil {
		p.shown, p.denied = map[string]bool{}, map[string]bool{}
	}
	p.size += p.codeOf(claims)
	for _, item := range claims {
		p.items, p.size = append(p.items, item), p.size+item.size()
		beside, shown := item.beside()
		for _, text := range beside {
			p.shown[text] = true
		}
		if shown != "" {
			p.frames = append(p.frames, shown)
		}
		if !item.Twin {
			p.shown[item.claimed()] = true
		}
	}
}

// codeOf is how many bytes of code are shown with claims and not with those of the part.
func (p *laid) codeOf(claims []Item) (size int) {
	if claims[0].Form != Finding {
		return 0
	}
	shown := Asked{Items: p.items}.code()
	for _, w := range (Asked{Items: slices.Concat(p.items, claims)}).code()[len(shown):] {
		size += len(codePrompt(MaxClaims, w))
	}
	return size
}

// beside are the texts that a claim is shown with; shown is what a frame introduces, or the
// whole of a finding.
func (i *Item) beside() (texts []string, shown string) {
	for _, text := range []string{i.Context.Heading, i.Context.LeadIn, i.Context.Before} {
		if text != "" {
			texts = append(texts, markdown.OneLine(text))
		}
	}
	switch {
	case i.Form == Frame:
		shown = markdown.OneLine(i.Context.Shown)
	case i.Form == Finding && !i.Twin:
		shown = i.Text
	}
	return texts, shown
}

// claimed is what a claim says as other texts have it.
func (i *Item) claimed() string {
	if i.Form == Finding { // cut down, a sentence ends otherwise
		return strings.TrimSuffix(i.Text, ".")
	}
	return markdown.OneLine(i.Text)
}

// together are claims in groups: those of which one is shown with another lie in one, unless
// it becomes as large as half of a part.
func together(claims []Item) [][]Item {
	at, group, members := map[string]int{}, make([]int, len(claims)), make([][]Item, len(claims))
	for i := range claims {
		at[claims[i].claimed()], group[i], members[i] = i, i, claims[i:i+1:i+1]
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
			if strings.Contains(shown, claims[k].claimed()) {
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
