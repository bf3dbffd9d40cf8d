package change

import (
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

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
