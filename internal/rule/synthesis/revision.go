package synthesis

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// InputsDigest is the digest by which the earlier system names a review.
func (r Review) InputsDigest(runID string) string {
	return codec.Digest(tidegate.D("schema", "review_factory_run.inputs.v1", "run_id", runID, "decision", r.Decision,
		"findings_count", len(r.Findings), "directives_count", len(r.Directives)))
}

// Revision asks what follows a review.
type Revision struct {
	RunID         string
	Decision      string
	GateE         string // the status of gate E
	Iteration     int    // the review's round, from 1
	MaxIterations int
}

// Next is what follows: advance to finalize, revise in synthesis, or escalate to a
// person. A run may go back as often as its limit says, as the stage table counts
// it.
func (r Revision) Next() (action, stage string) {
	switch {
	case r.Decision == ReviewPass && r.GateE == "pass":
		return "advance", "finalize"
	case r.Iteration > r.MaxIterations:
		return "escalate", "review"
	}
	return "revise", "synthesis"
}

// InputsDigest covers what the answer follows from.
func (r Revision) InputsDigest() string {
	return codec.Digest(tidegate.D("schema", "revision_control.inputs.v1", "run_id", r.RunID, "decision", r.Decision,
		"gate_e_status", r.GateE, "current_iteration", r.Iteration, "max_review_iterations", r.MaxIterations))
}
