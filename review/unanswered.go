package review

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Unanswered is something about a change that no reviewer answers for, so that a
// person decides, whatever a review says.
type Unanswered struct {
	Rule    string `json:"rule"`
	File    string `json:"file"` // "" where it is about no file
	Message string `json:"message"`
}

// The rules of [Unanswered].
const (
	ruleNotShown = "review-not-shown"
	ruleTestGone = "review-test-gone"
)

// NotShown is text that no reviewer was shown.
func NotShown(file, why string) Unanswered {
	return Unanswered{ruleNotShown, file, fmt.Sprintf("%s changed and no reviewer was shown it: %s", file, why)}
}

// TestGone is a test, or a file of tests, that the base has.
func TestGone(file, name string) Unanswered {
	return Unanswered{ruleTestGone, file, fmt.Sprintf("the test %s of the base is gone, or does not run any more", name)}
}

// maxUnanswered is how many are named in one sentence.
const maxUnanswered = 5

// NeedsPerson says in a sentence why a person decides, "" where nothing is unanswered.
func NeedsPerson(list []Unanswered) string {
	var parts []string
	for i, u := range list {
		if i == maxUnanswered {
			parts = append(parts, fmt.Sprintf("%d more of the kind", len(list)-i))
			break
		}
		parts = append(parts, u.Message)
	}
	return strings.Join(parts, "; ")
}

// AddUnanswered adds to a report what a person decides about, which keeps it from
// passing: a case with a finding for each. What has no file of its own stands at file.
func AddUnanswered(r *report.Report, list []Unanswered, file string) {
	if len(list) == 0 {
		return
	}
	help := map[string]string{
		ruleNotShown: "Read it yourself. Where nobody has to, name it in [review] ignore of tidegate.toml, or mark it as linguist-generated or linguist-vendored in the .gitattributes of the base.",
		ruleTestGone: "Find out why, and whether what it showed still holds.",
	}
	c := report.Case{Name: "for a person", File: file, Status: report.Fail}
	var lines []string
	for _, u := range list {
		c.Findings = append(c.Findings, report.Finding{Rule: u.Rule, Level: report.LevelError, Message: u.Message, Help: help[u.Rule], File: u.File})
		lines = append(lines, u.Message)
	}
	r.Status = report.Fail
	r.Rules = append(r.Rules, report.Rule{ID: ruleNotShown, Short: "Text that no reviewer was shown", Help: help[ruleNotShown]},
		report.Rule{ID: ruleTestGone, Short: "A test of the base that is gone", Help: help[ruleTestGone]})
	r.Add(report.Heading("For a person to decide"), report.Bullets(lines))
	r.AddCase(c)
}
