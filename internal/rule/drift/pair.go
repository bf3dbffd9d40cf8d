package drift

import (
	"cmp"
	"slices"
)

// Pair is a sentence of one report and the one that stands for it in another, by their
// places; -1 where there is none.
type Pair struct{ Then, Now int }

// Pairs finds for each sentence of one report the one that stands for it in another: the
// same, else the one that has most words in common with it, at least half. Each stands for
// one. They come in the order of the later report, then those that have no place in it.
func Pairs(then, now []string) []Pair {
	was, is := make([]passage, len(then)), make([]passage, len(now))
	same := map[string][]int{}
	for i := range then {
		was[i] = newPassage(then[i])
		same[was[i].key()] = append(same[was[i].key()], i)
	}
	of, taken := make([]int, len(now)), make([]bool, len(then))
	for k := range now {
		is[k], of[k] = newPassage(now[k]), -1
		if places := same[is[k].key()]; len(places) > 0 {
			of[k], taken[places[0]] = places[0], true
			same[is[k].key()] = places[1:]
		}
	}
	type likeness struct {
		Pair
		alike float64
	}
	var likely []likeness
	for i := range was {
		for k := range is {
			if taken[i] || of[k] >= 0 {
				continue
			}
			if alike := was[i].alike(&is[k]); alike >= related {
				likely = append(likely, likeness{Pair{i, k}, alike})
			}
		}
	}
	slices.SortStableFunc(likely, func(a, b likeness) int { return cmp.Compare(b.alike, a.alike) })
	for _, l := range likely {
		if !taken[l.Then] && of[l.Now] < 0 {
			of[l.Now], taken[l.Then] = l.Then, true
		}
	}
	var out []Pair
	for k := range now {
		out = append(out, Pair{of[k], k})
	}
	for i := range then {
		if !taken[i] {
			out = append(out, Pair{i, -1})
		}
	}
	return out
}
