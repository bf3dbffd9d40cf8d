package reading

import (
	"maps"
	"slices"

	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Heard is an answer to a part that breaks no other rule.
type Heard struct {
	Judged
	Reader string // driver and model; by hand the holder
	Person bool   // who has no twins, and is not tested
	// Tested are pairs whose twin is in it, as they were judged.
	Tested []Tested
}

// Tested is what a pair says of the reader of its twin, who read its sentence, too.
type Tested struct {
	Claim  int  `json:"claim"` // the number of the twin in its part
	Hard   bool `json:"hard"`
	Missed bool `json:"missed"`
	// Either says that one of both is so, as of a finding and its contrary: who refutes both
	// has missed the pair, too.
	Either bool `json:"either,omitzero"`
}

// Count counts pairs.
func Count(all []Tested) (pairs evidence.Pairs) {
	for _, t := range all {
		pairs.Asked++
		if t.Hard {
			pairs.Hard++
		}
		if t.Missed {
			pairs.Missed++
		}
	}
	return pairs
}

// Unfit reports whether a reader that was tested so may read no more: it missed two pairs
// or more, and more than an eighth of those that it was asked; or, of findings, all of them.
func Unfit(tested []Tested) bool {
	pairs := Count(tested)
	return pairs.Missed > 1 && 8*pairs.Missed > pairs.Asked ||
		pairs.Missed > 0 && pairs.Missed == pairs.Asked && !slices.ContainsFunc(tested, func(t Tested) bool { return !t.Either })
}

// Settled is what becomes of the answers to the parts of a look. Where none is refused and
// none is void, all of them count.
type Settled struct {
	Refused []int // with a twin that was missed
	Void    []int // whose verdicts do not count, and for which nobody is charged
	Unfit   []string
	// Tested are the pairs that were judged, by the part of the twin.
	Tested map[int][]Tested
}

// Whole reports whether every part of the look that has a half of a pair was answered.
func (d Dealt) Whole(heard map[int]Heard) bool {
	return !slices.ContainsFunc(d.order, func(part int) bool {
		_, is := heard[part]
		return !is && d.Paired(part)
	})
}

// Paired reports whether a part has a half of a pair, or a finding that such a half is a
// sentence of.
func (d Dealt) Paired(part int) bool {
	return slices.ContainsFunc(d.Pairs, func(p Pair) bool {
		return p.Sentence.Part == part || p.Twin.Part == part || slices.ContainsFunc(d.Parts[part].Items, func(i Item) bool { return i.ID == ofFinding(d.id(p)) })
	})
}

// Settle judges the pairs of a look once each of its parts was answered or, where a budget
// ended that, those that have both halves: others count for nothing. Who calls both a
// sentence and its twin supported has missed the pair: the answer with the twin is refused,
// and the one with the sentence is void. Where two readers did that between them, both
// answers are void. Of a finding and its contrary one is so: who refutes both has missed the
// pair as well, and it refuses nothing but what a reader says of that finding, unless it makes
// the reader unfit. A person is not tested. Earlier are the answers to each part that were
// refused or void before; tested is how a reader was tested in the run. Of a reader that is
// unfit no answer counts.
func (d Dealt) Settle(heard map[int]Heard, earlier map[int][]Heard, tested func(reader string) []Tested) Settled {
	s := Settled{Tested: map[int][]Tested{}}
	refused, void, own := map[int]bool{}, map[int]bool{}, map[string][]Tested{}
	for _, pair := range d.Pairs {
		part := pair.Twin.Part
		asked, complete := heard[pair.Sentence.Part]
		twin, is := heard[part]
		if !complete || !is || twin.Person || d.dropped(pair, earlier[part]) {
			continue
		}
		said, opposite := asked.verdict(pair.Sentence.Claim, d.id(pair)), twin.all[pair.Twin.Claim].Verdict
		alike := asked.Reader == twin.Reader || asked.Person
		if d.Parts[part].Items[pair.Twin.Claim].Form == Finding {
			if alike && decided(said) && decided(opposite) {
				t := Tested{pair.Twin.Claim + 1, pair.Hard, said == opposite, true}
				s.Tested[part], own[twin.Reader] = append(s.Tested[part], t), append(own[twin.Reader], t)
			}
			continue
		}
		if said != evidence.Supported {
			continue
		}
		t := Tested{pair.Twin.Claim + 1, pair.Hard, opposite == evidence.Supported, false}
		if alike && !slices.Contains(twin.Tested, t) {
			s.Tested[part], own[twin.Reader] = append(s.Tested[part], t), append(own[twin.Reader], t)
		}
		if t.Missed {
			refused[part], void[part], void[pair.Sentence.Part] = refused[part] || alike, true, true
		}
	}
	for _, reader := range slices.Sorted(maps.Keys(own)) {
		if !Unfit(slices.Concat(tested(reader), own[reader])) {
			continue
		}
		s.Unfit = append(s.Unfit, reader)
		for part, h := range heard {
			void[part] = void[part] || h.Reader == reader && !h.Person
			refused[part] = refused[part] || void[part] && slices.ContainsFunc(s.Tested[part], func(t Tested) bool { return t.Missed && t.Either })
		}
	}
	for _, part := range d.order {
		switch {
		case refused[part]:
			s.Refused = append(s.Refused, part)
		case void[part]:
			s.Void = append(s.Void, part)
		}
	}
	return s
}

// decided reports whether a verdict on a finding says yes or no.
func decided(verdict string) bool {
	return verdict == evidence.Supported || verdict == evidence.Unsupported
}

// id is the sentence of a pair.
func (d Dealt) id(p Pair) string { return d.Parts[p.Twin.Part].Items[p.Twin.Claim].ID }

// verdict is what was said of a sentence, "" where a person left it out.
func (h Heard) verdict(at int, id string) string {
	if !h.Person {
		return h.all[at].Verdict
	}
	if i := slices.IndexFunc(h.all, func(g Given) bool { return g.ID == id }); i >= 0 {
		return h.all[i].Verdict
	}
	return ""
}

// dropped reports whether a pair tells nothing of its readers: two of them missed it, and no
// other of the part.
func (d Dealt) dropped(p Pair, earlier []Heard) bool {
	readers := map[string]bool{}
	for _, e := range earlier {
		if Count(e.Tested).Missed == 1 && e.missed(p) {
			readers[e.Reader] = true
		}
	}
	return len(readers) > 1
}

func (h Heard) missed(p Pair) bool {
	return slices.Contains(h.Tested, Tested{Claim: p.Twin.Claim + 1, Hard: p.Hard, Missed: true})
}

// tells reports whether a reader has told the contrary of a finding from it.
func tells(reader string, all map[int][]Heard) bool {
	for _, heard := range all {
		for _, h := range heard {
			if h.Person || h.Reader == reader && slices.ContainsFunc(h.Tested, func(t Tested) bool { return !t.Missed }) {
				return true
			}
		}
	}
	return false
}

// Counted is the answer to a part as far as it counts, with all the pairs that readers of the
// part were tested with. A sentence that was asked again to test its reader alone keeps the
// verdict that it had, unless its pair was missed. Of a finding and its contrary a reader that
// missed the pair has decided nothing. Of each part all are given whose pairs
// were judged, the one that counts last.
func (d Dealt) Counted(part int, all map[int][]Heard) Judged {
	own := all[part]
	j := own[len(own)-1].Judged
	kept, both := map[string]bool{}, map[string]bool{}
	for _, item := range d.Parts[part].Items {
		kept[item.ID] = item.test
	}
	for _, pair := range d.Pairs {
		if slices.ContainsFunc(all[pair.Twin.Part], func(h Heard) bool { return h.missed(pair) }) {
			kept[d.id(pair)] = false
		}
		if twins := all[pair.Twin.Part]; len(twins) > 0 {
			both[ofFinding(d.id(pair))] = both[ofFinding(d.id(pair))] ||
				slices.Contains(twins[len(twins)-1].Tested, Tested{pair.Twin.Claim + 1, pair.Hard, true, true})
		}
	}
	j.Given = slices.DeleteFunc(slices.Clone(j.Given), func(g Given) bool { return kept[g.ID] })
	if d.Parts[part].Items[0].Form == Finding {
		told := tells(own[len(own)-1].Reader, all)
		for i, g := range j.Given {
			switch {
			case both[g.ID]:
				j.Given[i] = Given{ID: g.ID, Verdict: evidence.Unclear, Because: "the second reader said the same of it and of its contrary"}
			case g.Verdict == evidence.Unsupported && !told:
				j.Given[i] = Given{ID: g.ID, Verdict: evidence.Unclear, Because: "the second reader refutes it, and was tested with no pair: " + g.Because}
			}
		}
	}
	j.Pairs = evidence.Pairs{}
	for _, h := range own {
		j.Pairs.Add(Count(h.Tested))
	}
	return j
}
