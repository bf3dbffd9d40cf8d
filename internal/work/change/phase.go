package change

import "slices"

// The phases of a change, as they are written.
const (
	Clarifying     = "clarifying"
	Drafting       = "drafting"
	SpecsGenerated = "specs_generated"
	TasksGenerated = "tasks_generated"
	Planned        = "planned"
	Implementing   = "implementing"
	Testing        = "testing"
	CodeReviewing  = "code_reviewing"
	Complete       = "complete"
	Merging        = "merging"
	Archived       = "archived"
	Rejected       = "rejected"
)

// Phases are all phases in the order of a change's life.
var Phases = []string{Clarifying, Drafting, SpecsGenerated, TasksGenerated, Planned,
	Implementing, Testing, CodeReviewing, Complete, Merging, Archived, Rejected}

// otherNames are the names that files also use for a phase.
var otherNames = map[string]string{
	"proposed":    Drafting,
	"challenged":  Planned,
	"implemented": Complete,
}

// phaseNamed is the phase that a file means by name.
func phaseNamed(name string) (phase string, ok bool) {
	if phase, ok = otherNames[name]; ok {
		return phase, true
	}
	return name, slices.Contains(Phases, name)
}

var (
	// reviewedPhases are those from which a review moves a change on.
	reviewedPhases = []string{Implementing, Testing, CodeReviewing}
	// startedPhases are those in which a change has been started already.
	startedPhases = reviewedPhases
	// endedPhases are those that nothing follows.
	endedPhases = []string{Archived, Rejected}
)

// nextStep says what moves a change on from a phase.
func nextStep(id, phase string) string {
	switch {
	case phase == Planned:
		return "tidegate change start " + id
	case slices.Contains(reviewedPhases, phase):
		return "tidegate review create PAYLOAD"
	case phase == Complete:
		return "merge the change"
	case phase == Merging:
		return "finish the merge"
	case slices.Contains(endedPhases, phase):
		return "nothing: the change has ended"
	}
	return "finish the plan and set the phase to " + Planned
}
