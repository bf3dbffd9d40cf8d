package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// CodeVerify is what a reader of findings is asked about: a part of them, held against
// the code.
type CodeVerify struct {
	ID string // of the job
	// Checks are what is asked in an attempt, by its number: each has other controls.
	Checks func(attempt int) []review.Check
}

// VerifierRole is the role of who reads findings against the code. The roles of those who
// are asked when it is unfit begin with it.
const VerifierRole = "code_verifier"

// ControlSeed draws the seed by which controls are planted among findings: who reads
// them cannot know it.
func ControlSeed() string { return rand.Text() }

// CodeVerifyID is the id of the job that reads a part of the findings of a review.
func CodeVerifyID(part int) string { return fmt.Sprintf("code_verify.%d", part) }

// VerifyFindings is the kind of the jobs that hold findings against the code.
func VerifyFindings(asked []CodeVerify) Kind {
	return Kind{kind: codeVerifyKind, waits: true, list: func() ([]*Job, error) {
		var jobs []*Job
		for _, v := range asked {
			jobs = append(jobs, &Job{ID: v.ID, Title: "Hold the findings against the code", task: v})
		}
		return jobs, nil
	}}
}

// done reports whether the same findings were read.
func (v CodeVerify) done(j *Job) bool {
	if j.last() == nil {
		return false
	}
	text, err := review.ChecksPrompt(v.Checks(j.last().Number))
	return err == nil && j.answeredTo(func(prompt string) bool { return prompt == text })
}

// prompt does not show a refused answer: it would show the controls.
func (v CodeVerify) prompt(_ context.Context, j *Job) (draft, error) {
	text, err := review.ChecksPrompt(v.Checks(j.next()))
	return draft{text: text}, err
}

func (v CodeVerify) judge(_ context.Context, _ *Job, a answer) (judgement, error) {
	doc, err := codec.Parse([]byte(a.text))
	if err != nil {
		return notJSON(err), nil
	}
	checked, faults := review.JudgeChecks(v.Checks(a.attempt.Number), doc)
	return judgement{faults: remarkFaults(faults), result: checksResult(checked)}, nil
}

// missesFindings reports whether a reader of findings may read no more: at least two of its
// answers, and more than a third, confirmed what is not so.
func missesFindings(attempts []*Attempt) bool {
	judged, missed := 0, 0
	for _, a := range attempts {
		if last := a.lastAnswer(); last != nil && last.Judged {
			judged++
			if a.missedPair() {
				missed++
			}
		}
	}
	return missed > 1 && 3*missed > judged
}

// noteUnfit logs that a reader of findings reads no more, where its attempt a, which is judged
// at this moment, makes it so.
func (b *Board) noteUnfit(u update, j *Job, a *Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	others := slices.DeleteFunc(b.readings(j.Kind, a.reader()), func(other *Attempt) bool { return other.JobID == a.JobID && other.Number == a.Number })
	if missesFindings(append(others, a)) {
		u.Log(run.EventUnfit, "READER_UNFIT", tidegate.Pairs("job_id", j.ID, "attempt", a.Number, "reader", a.reader()))
	}
}

// checksResult is what was said of findings.
type checksResult []review.Checked

func (v checksResult) take(u update, j *Job, _ int) error {
	return u.WriteJSON(codeVerifyFile(j.ID), v)
}

func codeVerifyFile(jobID string) string { return run.JobDir(jobID) + "/checked.json" }

// Checked are the verdicts about findings, all of which must be accepted. It returns
// READ_FAILED.
func (b *Board) Checked() ([]review.Checked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []review.Checked{}
	for _, id := range b.order {
		if _, is := b.jobs[id].task.(CodeVerify); !is {
			continue
		}
		var part []review.Checked
		if err := b.jobs[id].readTaken(codeVerifyFile(id), &part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}
