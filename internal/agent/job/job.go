package job

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
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

	kind        *Kind
	task        task             // what it asks for; nil for a job that is not asked for any more
	role        string           // that does it, "" for that of its kind
	format      string           // of its answer, "" for that of its kind
	perspective string           // of which perspective, "" for a job of the whole work
	wave        run.Stage        // of the output that it is about
	round       int64            // of review
	byPerson    bool             // a person answers it
	drawn       *string          // the seed that an attempt had which is done again
	recorded    *recordedAttempt // that the next attempt repeats, nil for none

	folder   *artifact.Folder // of the record that keeps it
	done     bool             // the work has what the job is to write
	attempts []*Attempt
	lease    *run.Lease
	after    int    // the last attempt that does not count any more
	note     string // of the person who gave the tries again
	asOf     int    // the line of the log up to which all this is known, 0 when that is unknown
	tally    tally
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

// answerFormat is markdown or json.
func (j *Job) answerFormat() string { return cmp.Or(j.format, j.kind.format) }

// lastAccepted reports whether the last attempt was accepted and still counts.
func (j *Job) lastAccepted() bool {
	last := j.last()
	return last != nil && last.Number > j.after && last.Outcome == OutcomeAccepted
}

// lastRefused finds the last answer that was judged and refused, nil when there is none
// that counts.
func (j *Job) lastRefused() (*lastAnswer, error) {
	for _, a := range slices.Backward(j.attempts) {
		if a.Number <= j.after && j.note == "" {
			return nil, nil
		}
		for _, s := range slices.Backward(a.Submissions) {
			if !s.Judged || len(s.Faults) == 0 {
				continue
			}
			text, err := j.folder.Read(a.dir() + "/" + s.Answer)
			if err != nil {
				return nil, err
			}
			return &lastAnswer{string(text), s.Faults}, nil
		}
	}
	return nil, nil
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

// Now reports whether the work waits for the job.
func (j *Job) Now() bool { return j.kind.waits }
