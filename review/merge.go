package review

import (
	"cmp"
	"slices"
	"strings"
)

// Merge makes one review of several: of the reviewers of several parts of a
// change, or of a reviewer and the tools beside it. The verdict is the worst of
// theirs. An issue that stands in several of them stands in the result once,
// with the gravest severity and the longer texts. The tests are those with the
// most failures.
//
// Change id and order of issues come from the first review that has them.
func Merge(reviews ...Payload) Payload {
	var merged Payload
	var summaries []string
	known := map[place]int{}
	for _, p := range reviews {
		p = Clean(p)
		merged.ChangeID = cmp.Or(merged.ChangeID, p.ChangeID)
		merged.Verdict = worse(merged.Verdict, p.Verdict)
		if !slices.ContainsFunc(summaries, func(s string) bool { return strings.Contains(s, p.Summary) }) {
			summaries = append(summaries, p.Summary)
		}
		if merged.TestResults == nil || p.TestResults.FailedTests() > merged.TestResults.FailedTests() {
			merged.TestResults = p.TestResults
		}
		for _, issue := range p.Issues {
			at := place{identity(issue), lineOrZero(issue)}
			if i, found := known[at]; found {
				merged.Issues[i] = both(merged.Issues[i], issue)
				continue
			}
			known[at] = len(merged.Issues)
			merged.Issues = append(merged.Issues, issue)
		}
	}
	merged.Summary = strings.Join(summaries, "\n\n")
	return Clean(merged)
}

// place is what makes two issues of different reviews the same one. A linter says
// the same about many lines, so the line is part of it.
type place struct {
	identity string
	line     int64
}

// worse is the verdict further from an approval; the empty one counts least.
func worse(a, b Verdict) Verdict {
	if slices.Index(Verdicts, string(b)) > slices.Index(Verdicts, string(a)) {
		return b
	}
	return a
}

// both is one issue of two that are the same.
func both(a, b Issue) Issue {
	if rank(b.Severity) < rank(a.Severity) {
		a.Severity = b.Severity
	}
	a.Description = longer(a.Description, b.Description)
	a.Recommendation = longer(a.Recommendation, b.Recommendation)
	return a
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}
