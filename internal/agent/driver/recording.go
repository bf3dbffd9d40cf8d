package driver

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
)

// Recording is an agent whose answers were kept earlier. It answers what it was asked
// then, and nothing else.
type Recording struct {
	Question string // that it was made on, "" where that is not known
	// Attempt is the attempt.json that it has for an attempt at a job, nil for none.
	Attempt func(jobID string, attempt int) []byte
	// Seed is the file with the seed of a round that it has, nil for none.
	Seed func(round int64) []byte
}

// MadeFrom is what an attempt was asked about, as far as answers to it cannot stand for
// answers to something else.
type MadeFrom struct {
	Question    string   `json:"question"`
	Kind        string   `json:"kind,omitzero"`
	Perspective string   `json:"perspective,omitzero"`
	Contract    string   `json:"contract,omitzero"`  // the digest of the perspective
	Documents   []string `json:"documents,omitzero"` // the digests of the person's own
}

// Answers returns RECORDING_DIFFERS where the recording was made on another question.
func (r *Recording) Answers(question string) error {
	if r == nil || r.Question == "" || r.Question == question {
		return nil
	}
	return differs("", "question", fmt.Sprintf("the recorded agents were asked another question: %q", tidegate.Cut(r.Question)))
}

// MayAnswer returns RECORDING_DIFFERS where an attempt of the recording was asked something
// else than what is asked here. One that does not say what it was made from was made on the
// recording's question.
func (r *Recording) MayAnswer(jobID string, number int, asked *MadeFrom) error {
	var kept struct {
		MadeFrom *MadeFrom `json:"made_from"`
	}
	if json.Unmarshal(r.Attempt(jobID, number), &kept) != nil {
		kept.MadeFrom = nil // there is none, or it is not one of a run
	}
	was := kept.MadeFrom
	if was == nil && r.Question != "" {
		was = &MadeFrom{Question: r.Question}
	}
	switch {
	case was == nil || asked == nil:
		return nil
	case was.Question != asked.Question:
		return differs(jobID, "question", fmt.Sprintf("the recorded answer to %s is about another question: %q", jobID, tidegate.Cut(was.Question)))
	case was.Kind == "": // all that is known is the question
		return nil
	case was.Kind != asked.Kind:
		return differs(jobID, "kind", fmt.Sprintf("the recorded answer to %s is one to a job of the kind %q", jobID, tidegate.Cut(was.Kind)))
	case was.Perspective != asked.Perspective || was.Contract != asked.Contract:
		return differs(jobID, "perspective", fmt.Sprintf("the recorded answer to %s kept to another contract", jobID))
	case !slices.Equal(was.Documents, asked.Documents):
		return differs(jobID, "documents", fmt.Sprintf("the recorded answer to %s is about other documents of yours", jobID))
	}
	return nil
}

func differs(jobID, what, message string) error {
	return tidegate.Errorf(tidegate.RecordingDiffers, tidegate.Pairs("job_id", jobID, "differs", what), "%s", message)
}
