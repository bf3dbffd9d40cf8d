package change

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/review"
)

// Report says what was written where.
func (c Created) Report() report.Report {
	r := report.Report{Name: "review_create", Title: "Review of " + c.ChangeID, Summary: c.Message}
	r.Add(report.Fields{
		{Name: "Verdict", Value: c.Verdict, Mark: verdictMark(c.Verdict)},
		{Name: "Issues", Value: counts(c.Issues)},
		{Name: "File", Value: c.ReviewPath},
	})
	addWarnings(&r, c.Warnings)
	return r
}

// Report says where the review moved the change.
func (a Advanced) Report() report.Report {
	r := report.Report{Name: "change_advance", Title: "Change " + a.ChangeID, Summary: a.Message, Status: report.PassIf(a.Passed())}
	fields := report.Fields{}
	if a.Verdict != "" {
		fields = append(fields, report.Field{Name: "Verdict", Value: a.Verdict, Mark: verdictMark(a.Verdict)})
	}
	phase := a.Phase
	if a.From != a.Phase {
		phase = a.From + " → " + a.Phase
	}
	fields = append(fields, report.Field{Name: "Phase", Value: phase},
		report.Field{Name: "Iteration", Value: strconv.FormatInt(a.Iteration, 10)})
	c := report.Case{Name: a.ChangeID, File: a.ReviewPath, Status: r.Status, Note: a.Message}
	if a.NeedsPerson != "" {
		fields = append(fields, report.Field{Name: "Needs a person", Value: a.NeedsPerson, Mark: report.Warn})
		c.Findings = []report.Finding{{Rule: "needs-person", Message: a.NeedsPerson}}
	}
	r.Add(fields)
	r.AddCase(c)
	return r
}

// Report says what the decision of a person led to.
func (r Resumed) Report() report.Report {
	out := report.Report{Name: "change_resume", Title: "Change " + r.ChangeID, Summary: r.Message}
	phase := r.Phase
	if r.From != r.Phase {
		phase = r.From + " → " + r.Phase
	}
	out.Add(report.Fields{{Name: "Phase", Value: phase}, {Name: "Iteration", Value: strconv.FormatInt(r.Iteration, 10)}, {Name: "Reason", Value: r.Reason}})
	return out
}

// Report says that the change is under way.
func (s Started) Report() report.Report {
	r := report.Report{Name: "change_start", Title: "Change " + s.ChangeID, Summary: s.Message}
	r.Add(report.Fields{{Name: "Phase", Value: s.Phase}, {Name: "File", Value: s.StatePath}})
	addWarnings(&r, s.Warnings)
	return r
}

// Report shows the state, the review and the next step.
func (s Status) Report() report.Report {
	r := report.Report{Name: "change_status", Title: "Change " + s.ChangeID, Summary: "next: " + s.Next}
	phase := s.Phase
	if s.PhaseInFile != s.Phase {
		phase += " (STATE.yaml says " + s.PhaseInFile + ")"
	}
	fields := report.Fields{{Name: "Phase", Value: phase}, {Name: "Iteration", Value: strconv.FormatInt(s.Iteration, 10)}}
	if s.NeedsPerson != "" {
		fields = append(fields, report.Field{Name: "Needs a person", Value: s.NeedsPerson, Mark: report.Warn})
	}
	for _, f := range []report.Field{{Name: "Last action", Value: s.LastAction}, {Name: "Updated", Value: s.UpdatedAt}} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	if s.Review == nil {
		fields = append(fields, report.Field{Name: "Review", Value: "none"})
	} else {
		issues := "issues not known"
		if s.Review.Complete {
			issues = counts(s.Review.Issues)
		}
		fields = append(fields, report.Field{Name: "Review", Value: s.Review.Verdict + ", " + issues, Mark: verdictMark(s.Review.Verdict)})
		if s.Review.AgentdVerdict != s.Review.Verdict {
			fields = append(fields, report.Field{Name: "Agentd reads", Value: s.Review.AgentdVerdict, Mark: report.Warn})
		}
	}
	r.Add(append(fields, report.Field{Name: "Reviews kept", Value: strconv.Itoa(s.Reviews)}))
	if s.Review != nil && len(s.Review.Problems) > 0 {
		r.Add(report.Heading("Problems with REVIEW.md"), report.Bullets(s.Review.Problems))
	}
	return r
}

// Report is a table of the changes.
func (l List) Report() report.Report {
	r := report.Report{Name: "change_list", Title: "Changes", Summary: report.Counted(len(l.Changes), "change")}
	if len(l.Changes) == 0 {
		return r
	}
	table := report.NewTable("Change", "Phase", ">Iteration", "Verdict", ">Reviews", "Note")
	for _, c := range l.Changes {
		note := c.Problem
		if c.NeedsPerson != "" {
			note = "needs a person: " + c.NeedsPerson
		}
		iteration := ""
		if c.Phase != "" {
			iteration = strconv.FormatInt(c.Iteration, 10)
		}
		table.Row(report.None, c.ChangeID, c.Phase, iteration, c.Verdict, c.Reviews, note)
	}
	r.Add(table)
	return r
}

// Report is a table of the reviews.
func (l ReviewList) Report() report.Report {
	r := report.Report{Name: "review_list", Title: "Reviews of " + l.ChangeID, Summary: report.Counted(len(l.Reviews), "review")}
	if l.ChangeID == "" {
		r.Title = "Reviews that belong to no change"
	}
	if len(l.Reviews) == 0 {
		return r
	}
	table := report.NewTable(">Number", "Verdict", ">High", ">Medium", ">Low", "Commit", "At", "File")
	if l.ChangeID == "" {
		table = report.NewTable("Id", "Name", "Verdict", ">High", ">Medium", ">Low", "Commit", "At")
	}
	for _, entry := range l.Reviews {
		cells := []any{entry.Verdict, "?", "?", "?", fmt.Sprintf("%.12s", entry.Commit), entry.CreatedAt}
		if entry.Complete {
			cells[1], cells[2], cells[3] = entry.Issues.High, entry.Issues.Medium, entry.Issues.Low
		}
		if l.ChangeID == "" {
			table.Row(report.None, append([]any{entry.ID, entry.Name}, cells...)...)
		} else {
			table.Row(report.None, append(append([]any{entry.Number}, cells...), report.Place{File: entry.Path})...)
		}
	}
	r.Add(table)
	return r
}

// Report lists the issues that are new, still there and gone.
func (d DiffResult) Report() report.Report {
	r := d.Difference.Report()
	r.Title = fmt.Sprintf("Change %s: review %d against review %d", d.ChangeID, d.To, d.From)
	switch {
	case d.ChangeID == "":
		r.Title = "Review " + strings.Join(d.Reviews, " against ")
	case d.From == 0:
		r.Title = fmt.Sprintf("Change %s: review %d, the first", d.ChangeID, d.To)
	}
	return r
}

func addWarnings(r *report.Report, warnings []string) {
	if len(warnings) > 0 {
		r.Add(report.Heading("Warnings"), report.Bullets(warnings))
	}
}

func verdictMark(verdict string) report.Status {
	return report.PassIf(verdict == string(review.Approved))
}

func counts(c review.Counts) string {
	return fmt.Sprintf("%d high, %d medium, %d low", c.High, c.Medium, c.Low)
}
