package review

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Report is the review for people and programs: one case with a finding for
// every issue that nobody has decided and, where the file is not as it should be, one for
// the verdict.
func (s Shown) Report() report.Report {
	r := s.ReportAs(s.Passed(), len(s.Issues)-s.Counts.Total())
	var ids []string
	for _, f := range s.Issues {
		if f.Decision == "" {
			ids = append(ids, f.ID+" "+f.Title)
		}
	}
	if len(ids) > 0 {
		r.Add(report.Heading(IDsHeading), report.Bullets(ids))
	}
	return r
}

// IDsHeading stands above the ids of the findings that count.
const IDsHeading = "Ids, for tidegate review dismiss"

// ReportAs is Report of a review of which somebody else says whether it passes, and how many
// findings do not count. What stops nothing although its reviewer wants it changed is said to
// be neither a pass nor a failure.
func (s Shown) ReportAs(passes bool, spared int) report.Report {
	var open []Finding
	var decided []string
	for _, f := range s.Issues {
		if f.Decision == "" {
			open = append(open, f)
		} else {
			decided = append(decided, fmt.Sprintf("%s %s (%s): %s: %s", f.ID, f.Title, f.Severity, f.Decision, f.Reason))
		}
	}
	r := report.Report{
		Name:    "review",
		Title:   "Code review",
		Summary: s.Verdict + ", " + s.issueWords(passes, spared),
		Status:  report.PassIf(passes),
		Rules:   rules(open),
	}
	if passes && s.Verdict != string(Approved) {
		r.Status = report.Warn
	}
	if s.ChangeID != "" {
		r.Title = "Code review of " + s.ChangeID
	}
	fields := report.Fields{{Name: "Verdict", Value: s.Verdict, Mark: r.Status}}
	if !s.Agree {
		fields = append(fields, report.Field{Name: "Agentd reads", Value: s.AgentdVerdict, Mark: report.Warn})
	}
	if s.Complete {
		fields = append(fields, report.Field{Name: "Tests", Value: s.TestResults.words()})
	}
	r.Add(fields)
	if s.Summary != "" {
		r.Add(report.Heading("Summary"), report.Paragraph(s.Summary))
	}
	if len(open)+len(s.Problems) > 0 || !s.Agree {
		r.Add(report.Heading("Issues"), report.Findings{})
	}
	if len(decided) > 0 {
		r.Add(report.Heading(SparedHeading), report.Bullets(decided))
	}
	if len(s.Warnings) > 0 {
		r.Add(report.Heading("Warnings"), report.Bullets(s.Warnings))
	}
	r.AddCase(report.Case{Name: s.caseName(), File: s.ReviewPath, Status: r.Status, Note: s.Verdict,
		Findings: findings(open)})
	if doubts := s.doubts(); len(doubts) > 0 {
		status := report.Fail
		if passes {
			status = report.Warn
		}
		r.AddCase(report.Case{Name: "verdict", File: s.ReviewPath, Status: status, Findings: doubts})
	}
	r.Properties = s.properties()
	return r
}

// SparedHeading stands above the findings that do not count.
const SparedHeading = "Findings that do not count"

// issueWords counts the issues; those of a file of another layout are not known.
func (s Shown) issueWords(passes bool, spared int) string {
	words := s.Counts.Words()
	switch {
	case !s.Complete:
		return "only the verdict can be read"
	case s.Counts.Total() == 0 && spared > 0:
		return "none of " + report.Counted(spared, "finding") + " counts"
	case spared > 0:
		words += fmt.Sprintf(" and %d that do not count", spared)
	}
	if passes && s.Verdict != string(Approved) && s.Counts.Total() > 0 {
		words += ", none of which stops it"
	}
	return words
}

func (s Shown) caseName() string {
	if s.ChangeID == "" {
		return "review"
	}
	return s.ChangeID
}

// doubts are what keeps the verdict from being clear.
func (s Shown) doubts() []report.Finding {
	var doubts []report.Finding
	for _, problem := range s.Problems {
		doubts = append(doubts, report.Finding{Rule: "review-file", Level: report.LevelWarning, Message: problem})
	}
	if !s.Agree {
		doubts = append(doubts, report.Finding{
			Rule: "verdict-disagreement", Level: report.LevelError,
			Message: fmt.Sprintf("the file says %s, but Agentd reads %s", s.Verdict, s.AgentdVerdict),
			Help:    "Write the review again with `tidegate review create`.",
		})
	}
	return doubts
}

func (s Shown) properties() []report.Property {
	properties := []report.Property{{Name: "verdict", Value: s.Verdict}, {Name: "agentd_verdict", Value: s.AgentdVerdict}}
	if s.Complete {
		properties = append(properties, report.Property{Name: "change_id", Value: s.ChangeID}, report.Property{Name: "summary", Value: s.Summary})
	}
	if t := s.TestResults; t != nil {
		for _, count := range []struct {
			name  string
			value *int64
		}{{"tests_passed", t.Passed}, {"tests_failed", t.Failed}, {"tests_total", t.Total}} {
			if count.value != nil {
				properties = append(properties, report.Property{Name: count.name, Value: strconv.FormatInt(*count.value, 10)})
			}
		}
	}
	for _, warning := range s.Warnings {
		properties = append(properties, report.Property{Name: "warning", Value: warning})
	}
	return properties
}

// levels are the severities in the words of a report.
var levels = map[Severity]report.Level{High: report.LevelError, Medium: report.LevelWarning, Low: report.LevelNote}

func findings(list []Finding) []report.Finding {
	var out []report.Finding
	for _, issue := range list {
		f := report.Finding{
			Rule:       rule(issue.Category),
			Level:      levels[issue.Severity],
			Title:      issue.Title,
			Message:    issue.Description,
			Help:       issue.Recommendation,
			Category:   issue.Category,
			File:       issue.File,
			ID:         issue.ID,
			Properties: []report.Property{{Name: report.SeverityProperty, Value: string(issue.Severity)}},
		}
		if issue.Suggestion != "" {
			f.Fix = issue.Suggestion
			f.Help = strings.TrimSpace(f.Help + "\n\nSuggestion:\n" + report.Fenced(issue.Suggestion, ""))
		}
		for _, p := range []report.Property{
			{Name: "confidence", Value: issue.Confidence}, {Name: "found by", Value: strings.Join(issue.FoundBy, ", ")},
			{Name: "verifier", Value: issue.Checked},
		} {
			if p.Value != "" {
				f.Properties = append(f.Properties, p)
			}
		}
		if issue.Line != nil {
			if *issue.Line >= 1 && *issue.Line <= math.MaxInt32 && issue.File != "" {
				f.Line = int(*issue.Line)
				f.EndLine = int(min(issue.last(), math.MaxInt32))
			} else {
				// There is no line that a program could jump to; what the reviewer said is
				// kept.
				f.Properties = append(f.Properties, report.Property{Name: "line", Value: strconv.FormatInt(*issue.Line, 10)})
			}
		}
		out = append(out, f)
	}
	return out
}

// rule is the id of the rule that all issues of one category come under.
func rule(category string) string {
	return "review-" + strings.ReplaceAll(strings.ToLower(category), " ", "-")
}

// rules explains the categories of the issues, in order of appearance.
func rules(issues []Finding) []report.Rule {
	var out []report.Rule
	seen := map[string]bool{}
	for _, issue := range issues {
		if id := rule(issue.Category); !seen[id] {
			seen[id] = true
			out = append(out, report.Rule{ID: id, Short: issue.Category + " issues found by the reviewer"})
		}
	}
	return out
}

// Words counts the issues in words.
func (c Counts) Words() string {
	if c.Total() == 0 {
		return "no issues"
	}
	return fmt.Sprintf("%d high, %d medium, %d low", c.High, c.Medium, c.Low)
}

func (t *TestResults) words() string {
	if t == nil {
		return "not reported"
	}
	var parts []string
	for _, count := range []struct {
		value *int64
		word  string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}, {t.Total, "total"}} {
		if count.value != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *count.value, count.word))
		}
	}
	return strings.Join(parts, ", ")
}

// Report lists what is new, still there and gone.
func (d Difference) Report() report.Report {
	r := report.Report{
		Name:    "review_diff",
		Title:   "Issues since the earlier review",
		Summary: fmt.Sprintf("%d new, %d still there, %d gone", len(d.New), len(d.Still), len(d.Gone)),
		Rules:   rules(slices.Concat(d.New, d.Still)),
	}
	table := report.NewTable("Issue", "Id", "Severity", "Category", "Title", "Place")
	for _, group := range []struct {
		name   string
		issues []Finding
		status report.Status
	}{{"new", d.New, report.Fail}, {"still there", d.Still, report.Warn}, {"gone", d.Gone, report.Pass}} {
		c := report.Case{Name: group.name, Status: report.None}
		for _, issue := range group.issues {
			table.Row(group.status, group.name, issue.ID, issue.Severity, issue.Category, issue.Title, issue.place())
			c.Status = group.status
		}
		if group.status != report.Pass {
			c.Findings = findings(group.issues)
		}
		r.AddCase(c)
	}
	if len(table.Rows) > 0 {
		r.Add(table)
	}
	return r
}

func (i Issue) place() report.Place {
	p := report.Place{File: i.File}
	if i.Line != nil && i.File != "" {
		p.Line = int(*i.Line)
	}
	return p
}

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
