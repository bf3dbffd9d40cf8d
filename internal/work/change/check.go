package change

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// CheckInput names a review and what it is about.
type CheckInput struct {
	PayloadPath string `json:"payload_path" path:"absolute" jsonschema:"absolute path of the JSON document that the reviewer answered with"`
	Base        string `json:"base,omitzero" jsonschema:"the revision to compare with; where the branch left its upstream or the main branch when absent"`
	Committed   bool   `json:"committed,omitzero" jsonschema:"leave out what is not committed"`
	TestOutput  string `json:"test_output,omitzero" path:"absolute" jsonschema:"absolute path of what the project's tests wrote: go test -json, JUnit XML, TAP or any text"`
	TestStatus  int    `json:"test_status,omitzero" jsonschema:"the exit status of the test command"`
}

// Checked is what a review is worth.
type Checked struct {
	OK       codec.True     `json:"ok"`
	Pass     bool           `json:"pass"`
	ChangeID string         `json:"change_id"`
	Verdict  string         `json:"verdict"`
	Base     string         `json:"base" jsonschema:"the commit that the files are compared with"`
	Issues   review.Counts  `json:"issues"`
	Faults   []CheckedFault `json:"faults" jsonschema:"what keeps the review from being accepted"`
	Warnings []string       `json:"warnings"`
}

// CheckedFault is one thing that the reviewer must change.
type CheckedFault struct {
	Path    string `json:"path" jsonschema:"where in the document"`
	Message string `json:"message"`
	Change  string `json:"change" jsonschema:"what to change"`
}

// CheckReview judges a reviewer's answer by the files and the tests that it is
// about, as [review.Judge] does. It writes nothing.
//
// It returns INVALID_ARGS for a document that is not a review, INVALID_JSON,
// NOT_FOUND and READ_FAILED, and the errors of [ReadDiff].
func CheckReview(ctx context.Context, desk run.Desk, project string, in CheckInput) (Checked, error) {
	doc, err := desk.Reach.ReadJSON("payload_path", in.PayloadPath)
	if err != nil {
		return Checked{}, err
	}
	var earlier Earlier
	if id := doc.Get("change_id").Str(); review.ValidChangeID(id) {
		if earlier, err = EarlierReview(desk, project, id); err != nil {
			return Checked{}, err
		}
	}
	p, faults, err := review.ParseAnswer(doc, earlier.Issues)
	if err != nil {
		return Checked{}, err
	}
	a, err := openAsked(ctx, desk, project, AskInput{ChangeID: p.ChangeID, Base: in.Base, Committed: in.Committed, TestOutput: in.TestOutput, TestStatus: in.TestStatus})
	if err != nil {
		return Checked{}, err
	}
	defer a.Close()
	more, warnings, err := review.Judge(ctx, &p, review.Reviewed{Text: a.Text, Shown: review.Touch(a.Files).Has,
		Tests: a.tests, Parses: Parses})
	if err != nil {
		return Checked{}, err
	}
	faults = append(faults, more...)
	c := Checked{Pass: len(faults) == 0, ChangeID: p.ChangeID, Verdict: string(p.Verdict), Base: a.Base, Issues: p.Counts(), Warnings: p.Warnings}
	for _, f := range faults {
		c.Faults = append(c.Faults, CheckedFault{f.Path, f.Message, f.Change})
	}
	for _, w := range warnings {
		c.Warnings = append(c.Warnings, w.Path+": "+w.Message)
	}
	return c, nil
}

// Passed reports whether the review can be accepted, whatever its verdict.
func (c Checked) Passed() bool { return c.Pass }

// Report lists what the reviewer must change.
func (c Checked) Report() report.Report {
	status := report.PassIf(c.Pass)
	r := report.Report{Name: "review_check", Title: "Check of the review of " + c.ChangeID, Status: status, Summary: "the review can be accepted"}
	if !c.Pass {
		r.Summary = report.Counted(len(c.Faults), "fault")
	}
	r.Add(report.Fields{{Name: "Verdict", Value: c.Verdict}, {Name: "Issues", Value: counts(c.Issues)}, {Name: "Base", Value: c.Base}})
	var findings []report.Finding
	for _, f := range c.Faults {
		findings = append(findings, report.Finding{Rule: "review-answer", Title: f.Path, Message: f.Message, Help: f.Change})
	}
	if len(findings) > 0 {
		r.Add(report.Heading("Faults"), report.Findings{})
	}
	r.AddCase(report.Case{Name: c.ChangeID, Status: status, Findings: findings})
	addWarnings(&r, c.Warnings)
	return r
}
