package job

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

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

var codeVerifyKind = kind{
	name: "code_verify", role: VerifierRole, format: "json",
	list: func(b *Board) ([]*Job, error) {
		var jobs []*Job
		for _, v := range b.work.(*coding).change.Verify {
			jobs = append(jobs, &Job{ID: v.ID, Title: "Hold the findings against the code", verify: &v})
		}
		return jobs, nil
	},
	// The same findings must have been read.
	done: func(b *Board, j *Job) bool {
		if !acceptedLast(b, j) {
			return false
		}
		text, err := review.ChecksPrompt(j.verify.Checks(j.last().Number))
		answered, readErr := b.work.Folder().Read(j.last().dir() + "/prompt.md")
		return err == nil && readErr == nil && string(answered) == text && b.logged(j, codec.DigestBytes(answered))
	},
	// A refused answer is no part of the next prompt: it would show the controls.
	prompt: func(_ context.Context, b *Board, j *Job) (draft, error) {
		next := 1
		if last := j.last(); last != nil {
			next = last.Number + 1
		}
		text, err := review.ChecksPrompt(j.verify.Checks(next))
		return draft{text: text}, err
	},
	judge: func(_ context.Context, _ *Board, j *Job, a answer) (judgement, error) {
		doc, err := codec.Parse([]byte(a.text))
		if err != nil {
			return judgement{faults: []Fault{fault(string(tidegate.InvalidJSON), err.Error(), 0, "Answer with one JSON object and nothing else.")}}, nil
		}
		checked, faults := review.JudgeChecks(j.verify.Checks(a.attempt.Number), doc)
		return judgement{faults: remarkFaults(faults), checked: checked}, nil
	},
	accept: func(u update, j *Job, _ int, judged judgement) error {
		return u.WriteJSON(codeVerifyFile(j.ID), judged.checked)
	},
}

func codeVerifyFile(jobID string) string { return run.JobDir(jobID) + "/checked.json" }

// Checked are the verdicts about findings, all of which must be accepted. It returns
// READ_FAILED.
func (b *Board) Checked() ([]review.Checked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []review.Checked{}
	for _, id := range b.order {
		if b.jobs[id].verify == nil {
			continue
		}
		data, err := b.work.Folder().Read(codeVerifyFile(id))
		if err != nil {
			return nil, err
		}
		var part []review.Checked
		if err := json.Unmarshal(data, &part); err != nil {
			return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", codeVerifyFile(id)), "%s cannot be read: %w", codeVerifyFile(id), err)
		}
		all = append(all, part...)
	}
	return all, nil
}
