package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Never is the severity at which a [Policy] lets everything pass.
const Never = "never"

// Thresholds are the values of [Policy.FailOn].
var Thresholds = []string{"high", "medium", "low", Never}

// RefutedBecause stands before the reason of a verifier in what [Policy.Spares] says.
const RefutedBecause = "refuted by the verifier: "

// Policy says which findings keep a review from passing. What a reviewer calls the
// whole is not enough for that.
type Policy struct {
	FailOn    string            // one of [Thresholds]: findings of that severity or above count
	Agree     int               // how many reviewers must have found it; 0 as 1
	Dismissed map[string]string // by id, why a person wants to hear no more of it
	Known     map[string]bool   // by id, what was found before
	Refuted   map[string]string // by id, why the code does not bear it out, says another reader
}

// Spares says why a finding does not count, "" when it does.
func (p Policy) Spares(f Finding) string {
	reason, dismissed := p.Dismissed[f.ID]
	refuted, isRefuted := p.Refuted[f.ID]
	switch {
	case dismissed:
		return "dismissed: " + reason
	case isRefuted:
		return RefutedBecause + refuted
	case p.Known[f.ID]:
		return "known before"
	case p.Agree > 1 && len(f.FoundBy) < p.Agree:
		return "found by " + report.Counted(max(1, len(f.FoundBy)), "reviewer") + " alone"
	}
	return ""
}

// Fails says why a review does not pass, "" when it does.
func (p Policy) Fails(r Payload, findings []Finding) string {
	if p.FailOn == Never {
		return ""
	}
	if failed := r.TestResults.FailedTests(); failed != 0 {
		return report.Counted(int(failed), "test") + " failed"
	}
	least := slices.IndexFunc(Severities, func(s string) bool { return strings.EqualFold(s, p.FailOn) })
	count := 0
	for _, f := range findings {
		if rank(f.Severity) <= least && p.Spares(f) == "" {
			count++
		}
	}
	switch {
	case count > 0:
		return fmt.Sprintf("%s of severity %s or above", report.Counted(count, "finding"), Severities[least])
	case r.Verdict == MajorIssues:
		return "the verdict is MAJOR_ISSUES"
	}
	return ""
}
