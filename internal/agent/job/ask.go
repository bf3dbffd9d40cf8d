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
	// OneAgent says that who wrote the answer may read it.
	OneAgent bool
}

// AskWriter is the role of who answers a further question.
const AskWriter = "writer"

// AskID is the id of the job that answers a further question in a round.
func AskID(round int64) string { return fmt.Sprintf("ask.%d", round) }

// AskedFile is where the accepted answer of a round lies, as it was judged.
func AskedFile(round int64) string { return run.JobDir(AskID(round)) + "/answer.md" }

var askKind = kind{
	name: "ask", role: AskWriter, format: "markdown",
	list: func(b *Board) ([]*Job, error) {
		asking := b.work.(*coding).change.Asking
		jobs := []*Job{{ID: AskID(asking.Round), Title: "Answer the question", round: asking.Round}}
		past, err := b.earlierRounds("ask", jobs)
		return append(past, jobs...), err
	},
	done: acceptedLast,
	prompt: func(_ context.Context, b *Board, j *Job) (draft, error) {
		text, err := b.withLast(j, b.present().(*coding).change.Asking.Prompt)
		return draft{text: text}, err
	},
	judge: func(ctx context.Context, b *Board, _ *Job, a answer) (judgement, error) {
		faults, err := b.present().(*coding).change.Asking.Judge(ctx, a.text)
		return judgement{faults: faultsOf(faults), text: a.text}, err
	},
	accept: func(u update, j *Job, _ int, judged judgement) error {
		return u.Write(AskedFile(j.round), []byte(judged.text))
	},
}
