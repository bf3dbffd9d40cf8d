package codereview

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/forge"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/review"
)

// ReviewRun is how review run ended: the review, what it is of, and what it took.
type ReviewRun struct {
	review.Shown
	Schema  string        `json:"schema_version"`
	Nothing bool          `json:"nothing_to_review"` // no file that can be shown has changed
	Base    string        `json:"base"`              // the commit that was compared with, or the empty tree
	Head    *string       `json:"head"`              // the last commit, null before the first
	Paths   []string      `json:"paths"`             // the parts of the repository that were reviewed; empty for all of it
	LeftOut []git.LeftOut `json:"left_out"`

	Findings    []Finding           `json:"findings"`      // the issues, in their order
	Dropped     []review.Dropped    `json:"dropped"`       // findings that do not hold
	Closed      []string            `json:"closed"`        // ids of issues of the review before that are gone
	ForPerson   []review.Unanswered `json:"for_person"`    // what no reviewer answers for
	Decided     []forge.Dismissal   `json:"decided"`       // by persons on the forge, as this run read it
	NeedsPerson *string             `json:"needs_person"`  // why a person has to look
	Fails       *string             `json:"fails"`         // why the review does not pass
	Failing     []string            `json:"failing_tests"` // the names of tests that failed
	FailedNew   *int64              `json:"failed_new"`    // how many of them do not fail without the change; null where none were run
	Second      *reviews.Second     `json:"second_reader"` // who held the findings against the code; null where nobody was named
	Exit        int                 `json:"exit_status"`
	Spent       job.Spent           `json:"spent"`

	said string // by the tests that failed
}

// Finding is one finding, and whether it counts.
type Finding struct {
	review.Finding
	Counts bool   `json:"counts"`
	Spared string `json:"spared,omitempty"` // why it does not
}

// reviewOf is the review of a diff, before there is one.
func reviewOf(of *engine.CodeReview) ReviewRun {
	d := of.Whole()
	r := ReviewRun{Schema: reviewRunVersion, Base: d.Base, Paths: d.Parts, LeftOut: d.LeftOut, Findings: []Finding{},
		Dropped: []review.Dropped{}, Closed: []string{}, ForPerson: of.Unanswered(), Decided: []forge.Dismissal{},
		Failing: []string{}}
	if t := of.Tests(); t != nil {
		r.FailedNew = &t.FailedNew
		if t.Failed > 0 {
			r.Failing, r.said = t.Shown(), t.OwnWords()
		}
	}
	if d.Head != "" {
		r.Head = &d.Head
	}
	return r
}

// nothingToReview is the review of a diff without a file that can be shown. It
// approves nothing.
func nothingToReview(name string, of *engine.CodeReview) ReviewRun {
	r := reviewOf(of)
	r.Nothing = true
	r.ChangeID, r.Verdict, r.AgentdVerdict = name, review.Verdict("").String(), review.Verdict("").String()
	r.Agree, r.Complete = true, true
	r.Summary = "There is nothing to review: no file that can be shown differs from " + of.Whole().Since() + "."
	r.Issues, r.Warnings, r.Problems = []review.Finding{}, []string{}, []string{}
	r.askPerson(review.Policy{})
	return r
}

// reviewed is the review that agents wrote, once it is written where the person
// wants it. It returns GATE_BLOCKED where there is none.
func (s *session) reviewed(of *engine.CodeReview, out engine.CodeReviewOutcome, path string, policy review.Policy) (ReviewRun, error) {
	r := reviewOf(of)
	if out.WaitingFor != engine.ForNothing {
		help := "read the refused answers and their faults there, or name another agent with --reviewer"
		if out.Help != "" {
			help = out.Help
		}
		details := tidegate.Pairs("folder", filepath.Dir(path), "help", help)
		if out.Unavailable {
			details = append(details, dispatch.Unavailable(out.Reason)...)
		}
		return r, tidegate.Errorf(tidegate.GateBlocked, details, "there is no review: %s", out.Reason)
	}
	policy.Checked, policy.FailedNew = out.Checked, r.FailedNew
	decided := policy.Decide(out.Findings)
	data := review.FormatFindings(out.Review, decided, out.Warnings)
	if file := s.Call.Flag("output"); file != "" {
		if err := artifact.Everywhere.WriteFile("output", file, data); err != nil {
			return r, err
		}
		path = file
	}
	r.Shown, r.Spent = review.Show(path, data), out.Spent
	r.Dropped, r.Closed, r.Second = out.Dropped, out.Closed, out.Second
	r.Decided = append(r.Decided, s.decided...)
	if not := of.NotTested(); not != "" {
		r.Warnings = append(r.Warnings, "not tested: "+not)
	}
	for i, f := range decided {
		r.Issues[i] = f // with the ids that they have had from the beginning
		why := policy.Spares(f)
		r.Findings = append(r.Findings, Finding{f, why == "", why})
		if _, beyond := policy.Dismissed.Of(f); beyond != nil && why == "" {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is graver than what was dismissed as %s (%s): %s",
				f.ID, beyond.ID, beyond.Severity, beyond.Reason))
		}
	}
	r.decide(out.CodeReviewed, policy)
	return r, nil
}

// decide decides the exit status: where a person has to look, that goes before what
// counts.
func (r *ReviewRun) decide(reviewed job.CodeReviewed, policy review.Policy) {
	fails := policy.Fails(reviewed.Review, reviewed.Findings)
	if fails != "" {
		r.Fails, r.Exit = &fails, max(r.Exit, screen.ExitNotPassed)
	}
	r.askPerson(policy)
	nothing := len(reviewed.Findings)+len(reviewed.Dropped) == 0 && reviewed.Review.Verdict != review.Approved
	if nothing && fails == "" && r.NeedsPerson == nil && policy.FailOn != review.Never {
		r.needsPerson(fmt.Sprintf("the verdict is %s, and nothing says why: `tidegate review run --again` asks again",
			reviewed.Review.Verdict))
	}
}

// askPerson finds out what a person has to settle, and names the command that does it.
func (r *ReviewRun) askPerson(policy review.Policy) {
	var findings []review.Finding
	for _, f := range r.Findings {
		findings = append(findings, f.Finding)
	}
	why, ids := policy.ForPerson(findings, r.Dropped, r.ForPerson)
	if len(ids) == 0 {
		return
	}
	from := ""
	if r.Nothing {
		from = " --from FILE" // what --json wrote: the home keeps no review of nothing
	}
	all := strings.Join(ids, " ")
	r.needsPerson(fmt.Sprintf("%s. To settle it: `tidegate review dismiss %s%s --reason TEXT`", why, all, from))
}

func (r *ReviewRun) needsPerson(why string) { r.NeedsPerson, r.Exit = &why, screen.ExitNeedsPerson }

func (r ReviewRun) report() report.Report {
	if r.Nothing {
		return r.reportNothing()
	}
	shown := r.Shown
	var ids, spared, dropped []string
	shown.Issues = nil
	for _, f := range r.Findings {
		if f.Counts {
			shown.Issues = append(shown.Issues, f.Finding)
			ids = append(ids, f.ID+" "+f.Title)
		} else {
			spared = append(spared, fmt.Sprintf("%s %s (%s): %s", f.ID, f.Title, f.Severity, f.Spared))
		}
	}
	shown.Counts = review.CountsOf(shown.Issues)
	out := shown.ReportAs(r.Exit == 0, len(spared))
	for _, d := range r.Dropped {
		dropped = append(dropped, d.Title+": "+d.Why)
	}
	for _, list := range []struct {
		heading string
		items   []string
	}{{review.IDsHeading, ids}, {review.SparedHeading, spared}, {"Findings that do not hold", dropped}} {
		if len(list.items) > 0 {
			out.Add(report.Heading(list.heading), report.Bullets(list.items))
		}
	}
	if len(r.Failing) > 0 {
		out.Add(report.Heading("Failed tests"), report.Bullets(r.Failing), report.Preformatted(r.said))
	}
	review.AddUnanswered(&out, r.ForPerson, r.ReviewPath)
	if r.Second != nil {
		out.Add(report.Paragraph(secondReader(*r.Second)))
	}
	switch {
	case r.NeedsPerson != nil:
		out.Add(report.Paragraph("A person has to look: " + *r.NeedsPerson + "."))
	case r.Fails != nil:
		out.Add(report.Paragraph("It does not pass: " + *r.Fails + "."))
	}
	return out
}

// secondReader says in a sentence who held the findings against the code, and how it was tested.
func secondReader(s reviews.Second) string {
	if s.Why != "" {
		return fmt.Sprintf("The second reader, %s, has not read every finding: %s. What it has not read is not confirmed, and counts. Run it again with another --verify: that one alone is asked.", s.By, s.Why)
	}
	if s.Pairs.Asked == 0 {
		return fmt.Sprintf("The second reader, %s, could not be tested: a finding that it refutes still counts.", s.By)
	}
	return fmt.Sprintf("The second reader, %s, was tested with %s and missed %d.", s.By, report.Counted(s.Pairs.Asked, "pair"), s.Pairs.Missed)
}

func (r ReviewRun) reportNothing() report.Report {
	out := report.Report{Name: "review", Title: "Code review of " + r.ChangeID, Summary: "nothing to review", Status: report.PassIf(r.Exit == 0)}
	out.Add(report.Paragraph(r.Summary))
	out.AddCase(report.Case{Name: r.ChangeID, Status: out.Status, Note: r.Summary})
	review.AddUnanswered(&out, r.ForPerson, r.ReviewPath)
	var left []string
	for _, f := range r.LeftOut {
		left = append(left, f.File+": "+f.Why)
		out.Properties = append(out.Properties, report.Property{Name: "left_out", Value: f.File + ": " + f.Why})
	}
	if len(left) > 0 {
		out.Add(report.Heading("Left out"), report.Bullets(left))
	}
	return out
}

// showReview prints the review.
func (s *session) showReview(r ReviewRun) error {
	if path := s.Call.Flag("json"); path != "" {
		data, err := codec.MarshalLine(r)
		if err == nil {
			err = artifact.Everywhere.WriteFile("json", path, append(data, '\n'))
		}
		if err != nil {
			return err
		}
	}
	format := s.Call.Flag("format")
	switch format {
	case "json":
		return s.Line(r)
	case "markdown":
		if _, err := fmt.Fprintln(s.Call.Stdout, review.CommentMark(r.ChangeID)); err != nil {
			return tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
		}
	}
	return s.Call.Print(r.report(), format)
}
