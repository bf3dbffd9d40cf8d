package review

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Imported is what `review import` answers: the review that other tools' findings
// make, alone or together with the review of a change.
type Imported struct {
	OK         codec.True `json:"ok"`
	Message    string     `json:"message"`
	ChangeID   string     `json:"change_id" jsonschema:"empty when the review belongs to no change"`
	Verdict    string     `json:"verdict" jsonschema:"NEEDS_FIX when an issue is High, else UNKNOWN, because tools alone approve nothing; of a change, the worse of this and the verdict of its review"`
	ReviewPath string     `json:"review_path" jsonschema:"absolute path of the REVIEW.md that was written, empty when none was"`
	Tools      []string   `json:"tools" jsonschema:"that found the issues, by their own names"`
	Summary    string     `json:"summary"`
	Counts     Counts     `json:"counts"`
	Issues     []Finding  `json:"issues"`
	LeftOut    []string   `json:"left_out" jsonschema:"what was not taken from the files, and why"`
}

// NewImported is the answer for a review that has not been written anywhere. Tools alone
// approve nothing: where they found nothing to be fixed the verdict is UNKNOWN.
func NewImported(p Payload, f Foreign) Imported {
	p = Clean(p)
	if p.ChangeID == "" && p.Verdict == Approved {
		p.Verdict = ""
	}
	message := fmt.Sprintf("%s: %s, %s", strings.Join(f.Tools, ", "), p.Verdict, report.Counted(len(p.Issues), "issue"))
	if p.Verdict == "" {
		message += "; tools alone approve nothing"
	}
	return Imported{
		Message:  message,
		ChangeID: p.ChangeID, Verdict: p.Verdict.String(), Tools: f.Tools, Summary: p.Summary,
		Counts: p.Counts(), Issues: Identify(p.Issues), LeftOut: f.LeftOut,
	}
}

// Passed reports whether nothing has to be fixed.
func (i Imported) Passed() bool {
	return i.Verdict == string(Approved) || i.Verdict == Verdict("").String()
}

// Report shows the issues as `review show` does.
func (i Imported) Report() report.Report {
	status := report.PassIf(i.Passed())
	if i.Verdict == Verdict("").String() {
		status = report.None
	}
	r := report.Report{
		Name: "review_import", Title: "Imported review", Summary: i.Message, Status: status, Rules: rules(i.Issues),
		Properties: []report.Property{{Name: "verdict", Value: i.Verdict}},
	}
	name := "review"
	if i.ChangeID != "" {
		r.Title, name = "Imported review of "+i.ChangeID, i.ChangeID
	}
	fields := report.Fields{{Name: "Verdict", Value: i.Verdict, Mark: status}, {Name: "Issues", Value: i.Counts.Words()}}
	if i.ReviewPath != "" {
		fields = append(fields, report.Field{Name: "File", Value: i.ReviewPath})
	}
	r.Add(fields)
	if len(i.Issues) > 0 {
		r.Add(report.Heading("Issues"), report.Findings{})
	}
	if len(i.LeftOut) > 0 {
		r.Add(report.Heading("Left out"), report.Bullets(i.LeftOut))
	}
	r.AddCase(report.Case{Name: name, Status: status, Note: i.Verdict, Findings: findings(i.Issues)})
	return r
}
