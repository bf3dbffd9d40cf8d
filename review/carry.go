package review

import "slices"

// Carry adds findings of the review before, whose verdict is given, to a review. One
// that the review has, too, is not added. The order is that of the severities.
func Carry(p Payload, findings []Finding, verdict Verdict, carried []Finding) (Payload, []Finding) {
	used := map[string]bool{}
	for _, f := range findings {
		used[f.ID] = true
	}
	all := slices.Clone(findings)
	for _, f := range carried {
		if slices.ContainsFunc(findings, func(g Finding) bool {
			return place{identity(f.Issue), lineOrZero(f.Issue)} == place{identity(g.Issue), lineOrZero(g.Issue)}
		}) {
			continue
		}
		f.ID = unused(f.ID, used)
		used[f.ID] = true
		all = append(all, f)
	}
	if len(all) > len(findings) {
		p.Verdict = worse(p.Verdict, verdict)
	}
	all = cleanFindings(all)
	p.Issues = issuesOf(all)
	return p, all
}
