package review

import (
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Unreadable stands where Agentd fails on a file instead of reading a verdict.
const Unreadable = "UNREADABLE"

// Shown is a REVIEW.md as `review show` answers it. A verdict is one of
// [Verdicts] or UNKNOWN.
type Shown struct {
	OK            codec.True   `json:"ok"`
	ReviewPath    string       `json:"review_path"`
	ChangeID      string       `json:"change_id"` // "" when the reading is not complete
	Verdict       string       `json:"verdict"`
	AgentdVerdict string       `json:"agentd_verdict"` // as Agentd reads the file, or UNREADABLE
	Agree         bool         `json:"agree"`          // both verdicts are the same
	Complete      bool         `json:"complete"`       // the file was read without loss
	Summary       string       `json:"summary"`
	TestResults   *TestResults `json:"test_results"` // null when not reported
	Counts        Counts       `json:"counts"`       // of the issues that nobody has decided
	Issues        []Finding    `json:"issues"`
	Warnings      []string     `json:"warnings"`
	Problems      []string     `json:"problems"`
}

// Show reads the REVIEW.md at path, whose bytes are data, by [Read] and by
// Agentd's rule.
func Show(path string, data []byte) Shown {
	r := Read(data)
	s := Shown{
		ReviewPath:  path,
		ChangeID:    r.Payload.ChangeID,
		Verdict:     r.Verdict.String(),
		Complete:    r.Complete,
		Summary:     r.Payload.Summary,
		TestResults: r.Payload.TestResults,
		Issues:      append([]Finding{}, r.Findings...),
		Warnings:    r.Warnings,
		Problems:    r.Problems,
	}
	s.Counts = CountsOf(s.Issues)
	s.AgentdVerdict = Unreadable
	if verdict, err := AgentdVerdict(data); err == nil {
		s.AgentdVerdict = verdict.String()
	}
	s.Agree = s.Verdict == s.AgentdVerdict
	return s
}

// Passed reports whether the review approves the change, clearly and for every
// reader, or everything that it found was decided; what is grave by a person.
func (s Shown) Passed() bool {
	decided := len(s.Issues) > 0 && s.TestResults.FailedTests() == 0 && s.Counts.Total() == 0 &&
		!slices.ContainsFunc(s.Issues, func(f Finding) bool { return f.Severity == High && f.Decision == DecidedRefuted })
	return s.Agree && (s.Verdict == string(Approved) || decided)
}

// CountsOf counts the findings that nobody has decided.
func CountsOf(findings []Finding) Counts {
	var p Payload
	for _, f := range findings {
		if f.Decision == "" {
			p.Issues = append(p.Issues, f.Issue)
		}
	}
	return p.Counts()
}
