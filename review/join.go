package review

import (
	"fmt"
	"slices"
)

// Opinion is the answer of one reviewer about one part of a change.
type Opinion struct {
	By       string // the reviewer
	Review   Payload
	Findings []Finding
}

// Join makes one review of several opinions, as [Merge] does, with its findings in
// the order of its issues. Findings of two reviewers that touch the same lines are
// one, and say who found it where several reviewers were asked.
func Join(opinions ...Opinion) (Payload, []Finding) {
	var reviews []Payload
	var joined []Finding
	used := map[string]bool{}
	for _, o := range opinions {
		o.Review.Issues = nil
		reviews = append(reviews, o.Review)
		for _, f := range o.Findings {
			f.FoundBy = []string{o.By}
			if at := slices.IndexFunc(joined, func(g Finding) bool { return g.isAlso(f) }); at >= 0 {
				joined[at] = joined[at].with(f)
				continue
			}
			f.ID = unused(f.ID, used)
			used[f.ID] = true
			joined = append(joined, f)
		}
	}
	p := Merge(reviews...)
	joined = cleanFindings(joined)
	if !slices.ContainsFunc(opinions, func(o Opinion) bool { return o.By != opinions[0].By }) {
		for i := range joined {
			joined[i].FoundBy = nil
		}
	}
	p.Issues = issuesOf(joined)
	return p, joined
}

// isAlso reports whether another finding is the same one: the same issue in the same
// place, or one of another reviewer about the same lines.
func (f Finding) isAlso(other Finding) bool {
	if (place{identity(f.Issue), lineOrZero(f.Issue)}) == (place{identity(other.Issue), lineOrZero(other.Issue)}) {
		return true
	}
	return !slices.Contains(f.FoundBy, other.FoundBy[0]) && f.File == other.File && f.Line != nil && other.Line != nil &&
		*f.Line <= other.last() && *other.Line <= f.last()
}

// with is one finding of two.
func (f Finding) with(other Finding) Finding {
	if identity(f.Issue) == identity(other.Issue) {
		f.Issue = both(f.Issue, other.Issue)
	} else {
		also := fmt.Sprintf("%s: %s", other.Title, other.Description)
		f.Issue = both(f.Issue, Issue{Severity: other.Severity, Recommendation: other.Recommendation})
		f.Description += "\n\nAnother reviewer: " + also
	}
	if f.Suggestion == "" && other.Suggestion != "" {
		f.Line, f.Quote, f.Suggestion = other.Line, other.Quote, other.Suggestion
	}
	if !slices.Contains(f.FoundBy, other.FoundBy[0]) {
		f.FoundBy = append(slices.Clone(f.FoundBy), other.FoundBy[0])
	}
	return f
}

// unused is an id that no other issue has.
func unused(id string, used map[string]bool) string {
	for n := 2; ; n++ {
		if !used[id] {
			return id
		}
		if next := fmt.Sprintf("%s-%d", id, n); !used[next] {
			return next
		}
	}
}
