package job

import (
	"github.com/tidegate/tidegate/internal/work/run"
)

// State says whether a job can be taken.
type State string

// The states.
const (
	Open      State = "open"
	Leased    State = "leased"
	Accepted  State = "accepted"
	Exhausted State = "exhausted" // its tries are used up: the run needs a person
)

// Job is one thing that an agent must write. The fields that are shown stand in
// the order of job_list.
type Job struct {
	ID        string  `json:"job_id"`
	Kind      string  `json:"kind" jsonschema:"perspectives, wave1, wave2, summary, synthesis or review"`
	State     State   `json:"state" enum:"open,leased,accepted,exhausted"`
	Attempt   int     `json:"attempt" jsonschema:"the number of the last attempt, 0 before the first"`
	TriesLeft int     `json:"tries_left"`
	Title     string  `json:"title"`
	Holder    *string `json:"holder" jsonschema:"who has it, null when nobody does"`
	ExpiresAt *string `json:"expires_at" jsonschema:"when the lease ends, null when there is none"`

	perspective string    // of which perspective, "" for a job of the whole run
	wave        run.Stage // of the output that it is about
	round       int64     // of review
	past        bool      // of an earlier round of a change
	implement   *Implementation
	asked       *CodeReview // what a reviewer of code is asked about
	kind        *kind
	done        bool // the run has what the job is to write
	attempts    []*Attempt
	lease       *run.Lease
	after       int    // the last attempt that does not count any more
	note        string // of the person who gave the tries again
	asOf        int    // the line of the log up to which all this is known, 0 when that is unknown
	tally       tally
}

// last is the last attempt, nil before the first.
func (j *Job) last() *Attempt {
	if len(j.attempts) == 0 {
		return nil
	}
	return j.attempts[len(j.attempts)-1]
}

// maxGivenBack is how many tries of a job are given back at most.
const maxGivenBack = 10

// triesLeft counts the attempts that were used up: those that ended without an
// accepted answer, except those that are given back.
func (j *Job) triesLeft(tries int) int {
	used, back := 0, 0
	for _, a := range j.attempts {
		switch {
		case a.Number <= j.after || a.Outcome == "" || a.Outcome == OutcomeAccepted:
		case a.givesBack() && back < maxGivenBack:
			back++
		default:
			used++
		}
	}
	return max(0, tries-used)
}

// Now reports whether a run in that stage waits for the job.
func (j *Job) Now(stage run.Stage) bool { return j.kind.now(stage) }
