package job

import (
	"time"

	"github.com/tidegate/tidegate/internal/rule/evidence"
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
	Kind      string  `json:"kind" jsonschema:"perspectives, wave1, wave2, summary, outline, section, synthesis, verify or review"`
	State     State   `json:"state" enum:"open,leased,accepted,exhausted"`
	Attempt   int     `json:"attempt" jsonschema:"the number of the last attempt, 0 before the first"`
	TriesLeft int     `json:"tries_left"`
	Title     string  `json:"title"`
	Holder    *string `json:"holder" jsonschema:"who has it, null when nobody does"`
	ExpiresAt *string `json:"expires_at" jsonschema:"when the lease ends, null when there is none"`

	perspective string           // of which perspective, "" for a job of the whole run
	wave        run.Stage        // of the output that it is about
	round       int64            // of review
	section     int              // of the template, for a part of a long report
	part        evidence.Part    // that a second reader is asked
	unread      bool             // the part has a sentence without a verdict
	byPerson    bool             // a person answers it
	drawn       *string          // the seed that an attempt had which is done again
	recorded    *recordedAttempt // that the next attempt repeats, nil for none
	edits       bool             // it is answered by edits of the draft before
	past        bool             // of an earlier round of a change
	implement   *Implementation
	asked       *CodeReview // what a reviewer of code is asked about
	verify      *CodeVerify // what a reader of findings is asked about
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

// next is the number of the next attempt.
func (j *Job) next() int {
	if last := j.last(); last != nil {
		return last.Number + 1
	}
	return 1
}

// format is that of its answer: markdown or json.
func (j *Job) format() string {
	if j.edits {
		return "json"
	}
	return j.kind.format
}

// maxGivenBack is how many tries of a job are given back at most.
const maxGivenBack = 10

// triesLeft counts the attempts that were used up: those that ended without an
// accepted answer, except those that are given back.
func (j *Job) triesLeft(tries int, now time.Time) int {
	used, back := 0, 0
	for _, a := range j.attempts {
		switch {
		case a == j.last() && j.ranOut(now):
			used++
		case a.Number <= j.after || a.Outcome == "" || a.Outcome == OutcomeAccepted:
		case a.givesBack() && back < maxGivenBack:
			back++
		default:
			used++
		}
	}
	return max(0, tries-used)
}

// ranOut reports whether the last attempt has used its try, although nobody has
// closed it: its lease has run out, and no answer waits to be judged. An attempt of a
// home goes on with the next home.
func (j *Job) ranOut(now time.Time) bool {
	last := j.last()
	if last == nil || last.Number <= j.after || last.Outcome != "" || j.lease == nil || j.lease.Home || j.lease.Lives(now) {
		return false
	}
	answer := last.lastAnswer()
	return answer == nil || answer.Judged
}

// Now reports whether a run in that stage waits for the job.
func (j *Job) Now(stage run.Stage) bool { return j.kind.now(stage) }
