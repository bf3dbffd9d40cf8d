package review

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Unanswered is something about a change that no reviewer answers for, so that a
// person decides, whatever a review says.
type Unanswered struct {
	ID      string `json:"id"` // another one where the file has other content
	Rule    string `json:"rule"`
	File    string `json:"file"` // "" where it is about no file
	Message string `json:"message"`
	Spared  string `json:"spared,omitempty"` // why a person has dismissed it
}

func unansweredBy(rule, file, content, message string) Unanswered {
	sum := sha256.Sum256([]byte(strings.Join([]string{rule, file, content, message}, "\x00")))
	return Unanswered{ID: hex.EncodeToString(sum[:6]), Rule: rule, File: file, Message: message}
}

// The rules of [Unanswered].
const (
	ruleNotShown = "review-not-shown"
	ruleTestGone = "review-test-gone"
	ruleFileGone = "review-file-gone"
	ruleConverts = "review-converts"
)

// NotShown is text that no reviewer was shown; content says which text it is.
func NotShown(file, content, why string) Unanswered {
	return unansweredBy(ruleNotShown, file, content, fmt.Sprintf("%s changed and no reviewer was shown it: %s", file, why))
}

// Converts is a line of attributes by which git gives a checkout other bytes than a
// reviewer was shown; content says which version of the file it stands in.
func Converts(file, content, line string) Unanswered {
	return unansweredBy(ruleConverts, file, content, fmt.Sprintf("%s changes what git makes of files that it checks out, so that they have other bytes than were reviewed: %q", file, tidegate.Cut(line)))
}

// TestGone is a test, or a file of tests, that the base has.
func TestGone(file, name string) Unanswered {
	return unansweredBy(ruleTestGone, file, "", fmt.Sprintf("the test %s of the base is gone, or does not run any more",
		name))
}

// FilesGone are the deletions of a change that nobody asked for: files that its task does
// not name, and more than a tenth of the files that there were.
func FilesGone(unnamed []string, deleted, before int) []Unanswered {
	var list []Unanswered
	if n := len(unnamed); n > 0 {
		names := strings.Join(unnamed[:min(n, maxUnanswered)], ", ")
		if n > maxUnanswered {
			names += fmt.Sprintf(" and %d more", n-maxUnanswered)
		}
		list = append(list, unansweredBy(ruleFileGone, "", "", fmt.Sprintf("it deletes %s, which the task does not name",
			names)))
	}
	if deleted*10 > before {
		list = append(list, unansweredBy(ruleFileGone, "", "", fmt.Sprintf("it deletes %d of %d files", deleted, before)))
	}
	return list
}

// maxUnanswered is how many are named in one sentence.
const maxUnanswered = 5

// ForPerson says in a sentence why a person decides, "" where nobody has to, and the ids
// of what is to be decided: findings that were set aside or refuted although they are
// grave, and what is unanswered.
func (p Policy) ForPerson(findings []Finding, dropped []Dropped, open []Unanswered) (why string, ids []string) {
	var parts []string
	add := func(id, text string) {
		if !slices.Contains(ids, id) {
			parts, ids = append(parts, text), append(ids, id)
		}
	}
	for _, d := range dropped {
		if dismissed, _ := p.Dismissed.Of(d.Finding); d.Person != "" && dismissed == nil {
			add(d.ID, d.Person)
		}
	}
	for _, f := range findings {
		_, refuted := p.refuted(f)
		if dismissed, _ := p.Dismissed.Of(f); refuted && dismissed == nil && f.Severity == High {
			add(f.ID, fmt.Sprintf("the finding %q is High, and the verifier refutes it", f.Title))
		}
	}
	for _, u := range open {
		if u.Spared == "" {
			add(u.ID, u.Message)
		}
	}
	if more := len(parts) - maxUnanswered; more > 0 {
		parts = append(parts[:maxUnanswered], fmt.Sprintf("%d more of the kind", more))
	}
	return strings.Join(parts, "; "), ids
}

// AddUnanswered adds to a report what a person decides about, which keeps it from
// passing: a case with a finding for each. What has no file of its own stands at file.
func AddUnanswered(r *report.Report, list []Unanswered, file string) {
	if len(list) == 0 {
		return
	}
	help := map[string]string{
		ruleNotShown: "Read it yourself. Where nobody has to, name it in [review] ignore of tidegate.toml, or mark it as linguist-generated or linguist-vendored in the .gitattributes of the base.",
		ruleConverts: "Look at the files that the pattern matches as they are after `git checkout`, or leave the line out of the change.",
		ruleTestGone: "Find out why, and whether what it showed still holds.",
	}
	c := report.Case{Name: "for a person", File: file, Status: report.Fail}
	var lines []string
	for _, u := range list {
		if u.Spared != "" {
			lines = append(lines, u.Message+" (dismissed: "+u.Spared+")")
			continue
		}
		c.Findings = append(c.Findings, report.Finding{Rule: u.Rule, Level: report.LevelError, Message: u.Message,
			Help: help[u.Rule], File: u.File, ID: u.ID})
		lines = append(lines, u.ID+" "+u.Message)
	}
	r.Add(report.Heading("For a person to decide"), report.Bullets(lines))
	if len(c.Findings) == 0 {
		return
	}
	r.Status = report.Fail
	r.Rules = append(r.Rules, report.Rule{ID: ruleNotShown, Short: "Text that no reviewer was shown", Help: help[ruleNotShown]},
		report.Rule{ID: ruleConverts, Short: "Files that are checked out otherwise than reviewed", Help: help[ruleConverts]},
		report.Rule{ID: ruleTestGone, Short: "A test of the base that is gone", Help: help[ruleTestGone]})
	r.AddCase(c)
}
