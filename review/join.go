package review

import (
	"fmt"
	"slices"
	"strings"
)

// Opinion is the answer of one reviewer about one part of a change.
type Opinion struct {
	By       string // the reviewer
	Review   Payload
	Findings []Finding
}

// Join makes one review of several opinions, as [Merge] does, with its findings in
// the order of its issues. What several reviewers found is one finding, with the higher
// severity and all descriptions, and says who found it where several were asked.
func Join(opinions ...Opinion) (Payload, []Finding) {
	var reviews []Payload
	var joined []Finding
	for _, o := range opinions {
		o.Review.Issues = nil
		reviews = append(reviews, o.Review)
		for _, f := range o.Findings {
			f.FoundBy = []string{o.By}
			if at := slices.IndexFunc(joined, func(g Finding) bool { return g.isAlso(f) }); at >= 0 {
				joined[at] = joined[at].with(f)
				continue
			}
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

// isAlso reports whether another finding is the same one: it has the same id, or another
// reviewer says something of the same category about the same lines.
func (f Finding) isAlso(other Finding) bool {
	if f.ID == other.ID {
		return true
	}
	return !slices.Contains(f.FoundBy, other.FoundBy[0]) && f.File == other.File &&
		strings.EqualFold(f.Category, other.Category) &&
		f.Line != nil && other.Line != nil && *f.Line <= other.last() && *other.Line <= f.last()
}

// with is one finding of two.
func (f Finding) with(other Finding) Finding {
	if rank(other.Severity) < rank(f.Severity) {
		f.Severity = other.Severity
	}
	said := other.Description
	if other.Title != f.Title {
		said = other.Title + ": " + said
	}
	f.Description = f.also(f.Description, said, other)
	if f.Recommendation != "" && other.Recommendation != "" {
		f.Recommendation = f.also(f.Recommendation, other.Recommendation, other)
	} else {
		f.Recommendation += other.Recommendation
	}
	if f.Suggestion == "" && other.Suggestion != "" {
		f.Line, f.Quote, f.Suggestion = other.Line, other.Quote, other.Suggestion
	}
	if !slices.Contains(f.FoundBy, other.FoundBy[0]) {
		f.FoundBy = append(slices.Clone(f.FoundBy), other.FoundBy[0])
	}
	return f
}

// also is what one finding says, and what the other says beyond that.
func (f Finding) also(text, more string, other Finding) string {
	if strings.Contains(text, more) {
		return text
	}
	about := "also"
	if other.FoundBy[0] != "" && !slices.Contains(f.FoundBy, other.FoundBy[0]) {
		about = other.FoundBy[0]
	}
	return fmt.Sprintf("%s\n\n%s, at %s: %s", text, about, other.where(), more)
}

// Closed are the ids that reviewers closed, each once, without those that are open: where
// one of several still has an issue, it is.
func Closed(ids []string, findings []Finding) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id })
	})
	slices.Sort(ids)
	return slices.Compact(ids)
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
