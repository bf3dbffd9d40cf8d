package change

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate"
)

// The files of a change folder.
const (
	stateFile  = "STATE.yaml"
	reviewFile = "REVIEW.md"
)

// The keys of STATE.yaml that the package reads or writes.
const (
	keyPhase       = "phase"
	keyIteration   = "iteration"
	keyUpdatedAt   = "updated_at"
	keyLastAction  = "last_action"
	keyNeedsPerson = "needs_person"
	keyCounted     = "counted_review"
	keyMaxRounds   = "max_rounds"
	keyWorktree    = "worktree"
)

// state is what STATE.yaml says.
type state struct {
	doc         *document
	phase       string // by its present name
	written     string // the phase as the file spells it
	iteration   int64
	lastAction  string
	updatedAt   string
	needsPerson string // why a person is needed; "" when none is
	counted     string // the review that the last fix round was counted for
	maxRounds   *int64 // the limit of fix rounds; nil when the file gives none
	worktree    string // where the change is implemented; "" for the project
}

// parseState reads a STATE.yaml. It demands what the package uses and ignores
// the rest. It returns SCHEMA_VALIDATION_FAILED with the place in details.path.
func parseState(path string, text []byte) (*state, error) {
	wrong := func(at, format string, args ...any) error {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("state_path", path, "path", at),
			filepath.Base(path)+": "+format, args...)
	}
	doc, err := parseDocument(text)
	if err != nil {
		return nil, wrong("$", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	s := &state{doc: doc, iteration: 1}
	phase := doc.get(keyPhase)
	if phase == nil {
		return nil, wrong("$.phase", "phase is missing; it must be one of %s", strings.Join(Phases, ", "))
	}
	s.written = phase.Value
	var known bool
	if s.phase, known = phaseNamed(phase.Value); !known || phase.Kind != yaml.ScalarNode {
		return nil, wrong("$.phase", "phase must be one of %s, got %q", strings.Join(Phases, ", "), tidegate.Cut(phase.Value))
	}
	count := func(key string) (*int64, error) {
		n := doc.get(key)
		if n == nil {
			return nil, nil
		}
		number, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || number < 0 || number > math.MaxInt32 || n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
			return nil, wrong("$."+key, "%s must be an integer from 0 to 2147483647, got %q", key, tidegate.Cut(n.Value))
		}
		return &number, nil
	}
	iteration, err := count(keyIteration)
	if err != nil {
		return nil, err
	}
	if iteration != nil {
		s.iteration = max(*iteration, 1) // the first is 1; a file that counts from 0 means the same
	}
	if s.maxRounds, err = count(keyMaxRounds); err != nil {
		return nil, err
	}
	for _, field := range []struct {
		key string
		to  *string
	}{{keyLastAction, &s.lastAction}, {keyUpdatedAt, &s.updatedAt}, {keyNeedsPerson, &s.needsPerson}, {keyCounted, &s.counted}, {keyWorktree, &s.worktree}} {
		n := doc.get(field.key)
		if n == nil {
			continue
		}
		if n.Kind != yaml.ScalarNode {
			return nil, wrong("$."+field.key, "%s must be a text", field.key)
		}
		*field.to = n.Value
	}
	return s, nil
}

// fresh is the STATE.yaml of a change that had none. It is planned, and begins
// with the move that follows.
func fresh(id string, now time.Time) []byte {
	at := tidegate.Stamp(now)
	return []byte("change_id: " + edit{value: id}.written() + "\nschema_version: '2.0'\ncreated_at: " + at + "\nupdated_at: " + at +
		"\nphase: " + Planned + "\niteration: 1\nlast_action: null\n")
}

// What last_action says after a move, where the file has that key.
const (
	actionStarted  = "change-started"
	actionApproved = "review-approved"
	actionNeedsFix = "review-needs-fix"
	actionPerson   = "needs-person"
	actionAccepted = "accepted-by-person"
	actionLimit    = "max-rounds-set"
	actionRebased  = "rebased"
	actionMerged   = "merged"
	actionAbandon  = "abandoned"
)

// edited is the text of the state with the edits made. updated_at and
// last_action follow where the file has them.
func (s *state) edited(path, action string, now time.Time, edits []edit) ([]byte, error) {
	if s.doc.find(keyUpdatedAt) >= 0 {
		edits = append(edits, edit{key: keyUpdatedAt, value: tidegate.Stamp(now), bare: true})
	}
	if s.doc.find(keyLastAction) >= 0 {
		edits = append(edits, edit{key: keyLastAction, value: action})
	}
	text, err := s.doc.apply(keyPhase, edits)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("state_path", path),
			"STATE.yaml cannot be changed in place: %v", err)
	}
	return text, nil
}

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
