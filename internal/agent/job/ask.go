package job

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Asking is a further question about finished reports as its writer is asked.
type Asking struct {
	Round  int64 // counted from 1: an answer that readers do not confirm is written again
	Prompt string
	// Judge says what is wrong with an answer by rule.
	Judge func(ctx context.Context, text string) ([]evidence.Fault, error)
}

// AskWriter is the role of who answers a further question.
const AskWriter = "writer"

// AskID is the id of the job that answers a further question in a round.
func AskID(round int64) string { return fmt.Sprintf("ask.%d", round) }

// AskedFile is where the accepted answer of a round lies, as it was judged.
func AskedFile(round int64) string { return run.JobDir(AskID(round)) + "/answer.md" }

// Ask is the kind of the job that answers a further question.
func Ask(asked Asking) Kind {
	return Kind{kind: askKind, waits: true, rounds: true, list: func() ([]*Job, error) {
		return []*Job{{ID: AskID(asked.Round), Title: "Answer the question", round: asked.Round, task: asked}}, nil
	}}
}

func (Asking) done(j *Job) bool { return j.lastAccepted() }

func (q Asking) prompt(_ context.Context, j *Job) (draft, error) {
	text, err := j.withLast(q.Prompt)
	return draft{text: text}, err
}

func (q Asking) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	faults, err := q.Judge(ctx, a.text)
	return judgement{faults: faultsOf(faults), result: askResult(a.text)}, err
}

// askResult is an answer to a further question, as it was judged.
type askResult string

func (a askResult) take(u update, j *Job, _ int) error { return u.Write(AskedFile(j.round), []byte(a)) }
