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
	FailOn    string          // one of [Thresholds]: findings of that severity or above count
	Agree     int             // how many reviewers must have found it; 0 as 1
	Dismissed Dismissals      // what a person wants to hear no more of
	Known     map[string]bool // by id, what was found before
	Checked   []Checked       // what another reader said of findings
	FailedNew *int64          // tests that fail with the change and not without it; nil: all that failed
}

// Spares says why a finding does not count, "" when it does.
func (p Policy) Spares(f Finding) string {
	dismissed, _ := p.Dismissed.Of(f)
	refuted, isRefuted := p.refuted(f)
	switch {
	case dismissed != nil:
		return "dismissed: " + dismissed.Reason
	case isRefuted:
		return RefutedBecause + refuted
	case p.Known[f.ID]:
		return "known before"
	case p.Agree > 1 && len(f.FoundBy) < p.Agree:
		return "found by " + report.Counted(max(1, len(f.FoundBy)), "reviewer") + " alone"
	}
	return ""
}

// refuted reports whether another reader refuted a finding, and why.
func (p Policy) refuted(f Finding) (because string, is bool) {
	c := p.checked(f)
	return c.Because, c.Verdict == Refuted
}

// checked is what another reader said of a finding.
func (p Policy) checked(f Finding) Checked {
	for _, c := range p.Checked {
		if c.ID == f.ID {
			return c
		}
	}
	return Checked{}
}

// Decide notes in findings what persons and verifiers said and decided about them.
func (p Policy) Decide(findings []Finding) []Finding {
	findings = slices.Clone(findings)
	for i, f := range findings {
		dismissed, _ := p.Dismissed.Of(f)
		refuted, isRefuted := p.refuted(f)
		f.Decision, f.Reason, f.Checked = "", "", p.checked(f).Verdict
		switch {
		case dismissed != nil:
			f.Decision, f.Reason = DecidedDismissed, dismissed.Reason
		case isRefuted:
			f.Decision, f.Reason = DecidedRefuted, refuted
		}
		findings[i] = f
	}
	return findings
}

// Fails says why a review does not pass, "" when it does.
func (p Policy) Fails(r Payload, findings []Finding) string {
	if p.FailOn == Never {
		return ""
	}
	failed := r.TestResults.FailedTests()
	if p.FailedNew != nil {
		failed = *p.FailedNew
	}
	var why []string
	if failed != 0 {
		why = append(why, report.Counted(int(failed), "test")+" failed")
	}
	least := slices.IndexFunc(Severities, func(s string) bool { return strings.EqualFold(s, p.FailOn) })
	count := 0
	for _, f := range findings {
		if rank(f.Severity) <= least && p.Spares(f) == "" {
			count++
		}
	}
	if count > 0 {
		why = append(why, fmt.Sprintf("%s of severity %s or above", report.Counted(count, "finding"), Severities[least]))
	}
	if len(why) == 0 && r.Verdict == MajorIssues && !p.endedByPerson(findings) {
		why = append(why, "the verdict is MAJOR_ISSUES")
	}
	return strings.Join(why, ", and ")
}

// endedByPerson reports whether a person dismissed all of the gravest findings, on which a
// verdict rests.
func (p Policy) endedByPerson(findings []Finding) bool {
	gravest := len(Severities)
	for _, f := range findings {
		gravest = min(gravest, rank(f.Severity))
	}
	for _, f := range findings {
		if dismissed, _ := p.Dismissed.Of(f); dismissed == nil && rank(f.Severity) == gravest {
			return false
		}
	}
	return len(findings) > 0
}
