package change

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
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

// Created is the result of [CreateReview].
type Created struct {
	OK         codec.True    `json:"ok"`
	Message    string        `json:"message"`
	ChangeID   string        `json:"change_id"`
	Verdict    string        `json:"verdict"`
	ReviewPath string        `json:"review_path"` // absolute
	Issues     review.Counts `json:"issues"`
	Warnings   []string      `json:"warnings"`
}

// Advanced is the result of [Advance].
type Advanced struct {
	OK          codec.True `json:"ok"`
	Message     string     `json:"message"`
	ChangeID    string     `json:"change_id"`
	Verdict     string     `json:"verdict"` // "" when the change was complete before
	From        string     `json:"from"`    // the phase before
	Phase       string     `json:"phase"`   // the phase after
	Iteration   int64      `json:"iteration"`
	MaxRounds   int        `json:"max_rounds"`
	NeedsPerson string     `json:"needs_person"` // why; "" when no person is needed
	Changed     bool       `json:"changed"`      // STATE.yaml was written
	StatePath   string     `json:"state_path"`
	ReviewPath  string     `json:"review_path"`
}

// Passed reports whether the change is complete.
func (a Advanced) Passed() bool { return a.Phase == Complete }

// Resumed is the result of [Resume].
type Resumed struct {
	OK        codec.True `json:"ok"`
	Message   string     `json:"message"`
	ChangeID  string     `json:"change_id"`
	Verdict   string     `json:"verdict"` // of the review; "" when it did not matter
	From      string     `json:"from"`    // the phase before
	Phase     string     `json:"phase"`   // the phase after
	Iteration int64      `json:"iteration"`
	Reason    string     `json:"reason"`
	Changed   bool       `json:"changed"`
	StatePath string     `json:"state_path"`
}

// Started is the result of [Start].
type Started struct {
	OK        codec.True `json:"ok"`
	Message   string     `json:"message"`
	ChangeID  string     `json:"change_id"`
	From      string     `json:"from"` // the phase before; "" when there was none
	Phase     string     `json:"phase"`
	Changed   bool       `json:"changed"`
	StatePath string     `json:"state_path"`
	Warnings  []string   `json:"warnings"`
}

// Status is where a change stands.
type Status struct {
	OK          codec.True    `json:"ok"`
	ChangeID    string        `json:"change_id"`
	Phase       string        `json:"phase"`         // by its present name
	PhaseInFile string        `json:"phase_in_file"` // as STATE.yaml spells it
	Iteration   int64         `json:"iteration"`
	NeedsPerson string        `json:"needs_person"` // why; "" when no person is needed
	LastAction  string        `json:"last_action"`
	UpdatedAt   string        `json:"updated_at"`
	Review      *ReviewStatus `json:"review"`  // null without REVIEW.md
	Reviews     int           `json:"reviews"` // how many are kept
	Next        string        `json:"next"`    // what moves the change on
	StatePath   string        `json:"state_path"`
	Been        []string      `json:"-"` // the phases that the log says it was in
}

// ReviewStatus is what REVIEW.md says.
type ReviewStatus struct {
	Path          string        `json:"review_path"`
	Verdict       string        `json:"verdict"`
	AgentdVerdict string        `json:"agentd_verdict"`
	Complete      bool          `json:"complete"`
	Issues        review.Counts `json:"issues"`
	Problems      []string      `json:"problems"`
}

// List is the changes of a project.
type List struct {
	OK      codec.True  `json:"ok"`
	Changes []ListEntry `json:"changes"`
}

// ListEntry is one change of a [List]. What cannot be known is empty.
type ListEntry struct {
	ChangeID    string `json:"change_id"`
	Phase       string `json:"phase"`
	Iteration   int64  `json:"iteration"`
	Verdict     string `json:"verdict"` // of REVIEW.md
	NeedsPerson string `json:"needs_person"`
	Reviews     int    `json:"reviews"`
	Problem     string `json:"problem"` // why the change cannot be read
}

// ReviewList is the reviews of a change, oldest first.
type ReviewList struct {
	OK       codec.True    `json:"ok"`
	ChangeID string        `json:"change_id"` // "" for reviews that belong to no change
	Reviews  []ReviewEntry `json:"reviews"`
}

// ReviewEntry is one review of a [ReviewList].
type ReviewEntry struct {
	ID            string        `json:"id,omitempty"` // of a review that belongs to no change
	Number        int           `json:"number"`
	Name          string        `json:"name,omitempty"` // of a review that belongs to no change: its branch, where nobody named it
	Commit        string        `json:"commit"`         // the last one of what was reviewed, "" where it is not known
	CreatedAt     string        `json:"created_at"`
	Path          string        `json:"review_path"`
	Verdict       string        `json:"verdict"`
	AgentdVerdict string        `json:"agentd_verdict"`
	Complete      bool          `json:"complete"` // its issues can be read
	Issues        review.Counts `json:"issues"`
}

// DiffResult is what became of the issues between two reviews.
type DiffResult struct {
	OK       codec.True `json:"ok"`
	ChangeID string     `json:"change_id"` // "" for reviews that belong to no change
	Reviews  []string   `json:"reviews"`   // their ids, the earlier first
	From     int        `json:"from"`      // 0 when To is the first review
	To       int        `json:"to"`
	review.Difference
}
