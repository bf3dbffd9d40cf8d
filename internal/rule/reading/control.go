package reading

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// Base is a sentence from which a control can be made.
type Base struct {
	Text string
	CIDs []string
	Page bool // it is of a page, and not of a summary or output
}

// maxBases is how many sentences of one page controls are made from.
const maxBases = 400

// PageBases are the sentences of the page of a source, in its language.
func PageBases(cid, text, language string) (bases []Base) {
	for _, at := range sentence.Split(text, language) {
		if len(bases) == maxBases {
			break
		}
		bases = append(bases, Base{Text: text[at.Start:at.End], CIDs: []string{cid}, Page: true})
	}
	return bases
}

// Material is what controls are made from.
type Material struct {
	Language string
	Bases    []Base
	Report   []string // the sentences of the report
	// Text is the readable text of a source, "" for one without.
	Text func(cid string) string
	// Windows finds the windows of a sentence on sources, as for one of the report.
	Windows func(sentence string, cids []string) ([]claim.Window, error)

	prepared *prepared // nil where one part alone is planted
}

// prepared is what controls of every part need of the same material.
type prepared struct {
	sources []string         // in byte order
	index   map[string][]int // the sentences of the report that have a word
	numbers []int            // of the bases
	over    map[string][]int // the bases over a source
	lots    []byte           // by which each base belongs to a part
	ranks   []byte           // of each base, as far as it is the same in every part
}

// The bits of the rank of a base: of two bases, the one with the lower rank is tried first.
const (
	ofPage       = 1 << iota // and not of a summary or output
	ofOtherPages             // than those that the part's claims cite
	ofOtherPart
	ofRun    // for claims about the run
	allRanks = 2 * ofRun
)

func (m *Material) prepare() *prepared {
	n := len(m.Bases)
	p := &prepared{index: indexOf(m.Report), numbers: make([]int, n), over: map[string][]int{}, lots: make([]byte, n), ranks: make([]byte, n)}
	for i, b := range m.Bases {
		p.numbers[i], p.lots[i] = i, sum(b.Text)[0]
		for _, cid := range b.CIDs {
			p.over[cid] = append(p.over[cid], i)
		}
		if b.Page {
			p.ranks[i] |= ofPage
		}
		if slices.Contains(b.CIDs, evidence.RunCID) {
			p.ranks[i] |= ofRun
		} else {
			p.sources = append(p.sources, b.CIDs...)
		}
	}
	slices.Sort(p.sources)
	p.sources = slices.Compact(p.sources)
	return p
}

// endMarks end most sentences.
const endMarks = ".!?。！？؟। "

// The lengths of a base, in words, and how many bases are tried for each control.
const (
	minBase  = 5
	maxBase  = 40
	maxFrame = 14
	maxTries = 60
)

// Plant puts controls among the claims of a part: statements made false, one for each six
// claims and at least three; where three frames or more are in the part, one of them is a
// frame over a list that it does not introduce. At least one is told from the truth by its
// sense alone, where one can be made. Where fewer can be made, those are planted. The seed
// chooses them and the order. The errors are those of m.Windows.
func Plant(p Part, seed [SeedSize]byte, m Material) (Asked, error) {
	if m.prepared == nil {
		m.prepared = m.prepare()
	}
	g := controlMaker{Material: m, prepared: m.prepared, part: p, random: random{seed: seed}, shared: make([]int32, len(m.Report))}
	controls, err := g.controls()
	if err != nil {
		return Asked{}, err
	}
	return Asked{Items: shuffled(&g.random, append(slices.Clone(p.Items), controls...))}, nil
}

type controlMaker struct {
	Material
	*prepared
	part   Part
	random random
	ends   []Item  // after which another sentence of their paragraph can stand
	shared []int32 // by sentence of the report, the words that it shares with a base
}

func (g *controlMaker) controls() ([]Item, error) {
	want := controlsFor(len(g.part.Items))
	var models, frames []Item // the claims whose shape controls take
	for _, item := range g.part.Items {
		if item.Form == Frame {
			frames = append(frames, item)
		} else {
			models = append(models, item)
		}
	}
	g.ends = endsOf(models)
	if len(models) == 0 {
		models = frames
	}
	var controls []Item
	ofPages, aboutRun := g.ordered()
	for tries := want * maxTries; len(ofPages)+len(aboutRun) > 0 && tries > 0; tries-- {
		turned := slices.ContainsFunc(controls, func(i Item) bool { return i.sense })
		if len(controls) == want && (turned || models[0].Form == Frame) {
			break
		}
		model := models[g.random.below(len(models))]
		bases := &ofPages
		if slices.Contains(model.cids, evidence.RunCID) && len(aboutRun) > 0 {
			bases = &aboutRun
		}
		if len(*bases) == 0 {
			continue
		}
		base := g.Bases[(*bases)[0]]
		*bases = (*bases)[1:]
		if !g.usable(base) {
			continue
		}
		var item Item
		var ok bool
		var err error
		if framed := slices.ContainsFunc(controls, func(i Item) bool { return i.Form == Frame }); len(frames) >= 3 && !framed || model.Form == Frame {
			item, ok = g.frame(base, frames[g.random.below(len(frames))])
		}
		if !ok && model.Form != Frame {
			item, ok, err = g.statement(base, model)
		}
		switch {
		case err != nil:
			return nil, err
		case !ok:
		case len(controls) < want:
			controls = append(controls, item)
		case item.sense: // the others have words or numbers that no page of theirs has
			controls[slices.IndexFunc(controls, func(i Item) bool { return i.Form != Frame })] = item
		}
	}
	room := MaxBytes - len(instructions)
	for i := range g.part.Items {
		room -= g.part.Items[i].size()
	}
	for i := range controls {
		if c := &controls[i]; c.Form != Frame {
			g.place(c)
			for c.size() > room/want && len(c.Windows) > 1 { // the part keeps to its size
				c.Windows = c.Windows[:len(c.Windows)-1]
			}
			c.hard = allIn(c.Text, slices.DeleteFunc(slices.Clone(c.Windows), isFormula))
		}
	}
	return controls, nil
}

// endsOf are the claims that no other one has as the sentence before it: the last of
// their paragraphs.
func endsOf(items []Item) []Item {
	before := map[string]bool{}
	for i := range items {
		before[items[i].Context.Before] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return before[i.Text] })
}

// place gives a control its context: that of a sentence which ends a paragraph, or of one
// that stands behind such a one. The sentence before it is a claim of the part, as with
// others, so that nobody tells it by that.
func (g *controlMaker) place(control *Item) {
	if len(g.ends) == 0 {
		return
	}
	like := g.ends[g.random.below(len(g.ends))]
	control.Context = evidence.Context{Heading: like.Context.Heading, LeadIn: like.Context.LeadIn}
	if like.Context.Before != "" {
		k := g.random.below(len(g.ends))
		after := g.ends[k]
		control.Context = evidence.Context{Heading: after.Context.Heading, LeadIn: after.Context.LeadIn, Before: after.Text}
		g.ends = slices.Delete(slices.Clone(g.ends), k, k+1)
	}
	g.ends = append(g.ends, *control)
}

// ordered are the bases, by their numbers, in the order in which they are tried: those of
// this part before those that other parts may use, because what stands in two parts is no
// claim; over pages that the part's claims cite before others; of summaries and outputs
// before pages; over the most cited pages first; and as the seed has it. Those about the
// run are for claims about it.
func (g *controlMaker) ordered() (ofPages, aboutRun []int) {
	times := map[string]int{}
	for _, item := range g.part.Items {
		for _, cid := range item.cids {
			times[cid]++
		}
	}
	cited := make([]int, len(g.Bases)) // how often the most cited page of each base is
	for cid, n := range times {
		for _, i := range g.over[cid] {
			cited[i] = max(cited[i], n)
		}
	}
	rank := slices.Clone(g.ranks)
	var starts [allRanks + 1]int
	for i := range rank {
		if cited[i] == 0 {
			rank[i] |= ofOtherPages
		}
		if g.part.Of > 1 && int(g.lots[i])%g.part.Of != g.part.Number%g.part.Of {
			rank[i] |= ofOtherPart
		}
		starts[rank[i]+1]++
	}
	for i := range allRanks {
		starts[i+1] += starts[i]
	}
	// Each part orders all bases: a comparison for each would take longer than the rest.
	all, next := make([]int, len(g.Bases)), starts
	for _, i := range shuffled(&g.random, g.numbers) {
		all[next[rank[i]]] = i
		next[rank[i]]++
	}
	for i := range allRanks {
		if i&ofOtherPages == 0 {
			slices.SortStableFunc(all[starts[i]:starts[i+1]], func(a, b int) int { return cited[b] - cited[a] })
		}
	}
	return all[:starts[ofRun]], all[starts[ofRun]:]
}

// usable reports whether a base says enough, and nothing that the report says.
func (g *controlMaker) usable(b Base) bool {
	if n := wordCount(b.Text); n < minBase || n > maxBase || len(b.CIDs) == 0 {
		return false
	}
	words := contentWords(b.Text)
	clear(g.shared)
	for _, word := range words {
		for _, sentence := range g.index[word] {
			if g.shared[sentence]++; 2*int(g.shared[sentence]) > len(words) {
				return false
			}
		}
	}
	return len(words) >= 3
}

// statement is a control that says something false in the shape of another claim.
func (g *controlMaker) statement(b Base, model Item) (item Item, ok bool, err error) {
	item = Item{Form: model.Form}
	windows, err := g.Windows(b.Text, b.CIDs)
	if err != nil || len(windows) == 0 {
		return item, false, err
	}
	text, cids, sense, ok := g.falsified(b, windows)
	formula := ""
	if slices.ContainsFunc(model.Windows, isFormula) {
		if other, written := g.miscalculated(b, windows); written != "" {
			text, cids, sense, formula, ok = other, b.CIDs, false, written, true
		}
	}
	if !ok {
		return item, false, nil
	}
	if bare := strings.TrimRight(model.Text, endMarks); bare == model.Text { // as in a list
		text = strings.TrimRight(text, endMarks)
	}
	item.Text, item.cids, item.sense = text, cids, sense
	if item.Windows, err = g.Windows(text, cids); err != nil || len(item.Windows) == 0 {
		return item, false, err
	}
	if formula != "" {
		item.Windows = append(item.Windows, formulaWindow(formula))
	}
	return item, item.size() <= MaxBytes/8, nil
}

// frame is a control that introduces a list with something that is not in it.
func (g *controlMaker) frame(b Base, model Item) (item Item, ok bool) {
	if wordCount(b.Text) > maxFrame || len(model.Windows) == 0 {
		return item, false
	}
	shown := model.Windows[0].Text
	in := map[string]bool{}
	for _, word := range contentWords(shown) {
		in[word] = true
	}
	if slices.ContainsFunc(contentWords(b.Text), func(word string) bool { return in[word] }) {
		return item, false
	}
	text := strings.TrimRight(b.Text, endMarks) + ":"
	return Item{Form: Frame, Text: text, Context: model.Context, Windows: []claim.Window{{Text: shown}}}, true
}

// allIn reports whether every content word of a text stands in windows.
func allIn(text string, windows []claim.Window) bool {
	in := map[string]bool{}
	for _, w := range windows {
		for _, word := range contentWords(w.Text) {
			in[word] = true
		}
	}
	return !slices.ContainsFunc(contentWords(text), func(word string) bool { return !in[word] })
}

// contentWords are the words that say what a text is about, each once.
func contentWords(text string) []string {
	var words []string
	seen := map[string]bool{}
	page.EachWord(text, func(w page.Word) bool {
		if !seen[w.Text] && len(w.Text) > 2 && !page.IsCommon(w.Text) {
			words = append(words, w.Text)
		}
		seen[w.Text] = true
		return true
	})
	return words
}

// indexOf says which sentences have a word.
func indexOf(sentences []string) map[string][]int {
	index := map[string][]int{}
	for i, s := range sentences {
		for _, word := range contentWords(s) {
			index[word] = append(index[word], i)
		}
	}
	return index
}

// wordCount counts words; in scripts without blanks three characters are one.
func wordCount(text string) int {
	if n := dense(text); n > len(text)/6 {
		return n / 3
	}
	return len(strings.Fields(text))
}
