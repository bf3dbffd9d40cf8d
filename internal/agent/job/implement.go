package job

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
)

// Implementation is what an implementer is asked for: to change the files of a
// folder.
type Implementation struct {
	ID     string // of the job
	Folder string // where it works
	Brief  ImplementBrief
	// Touched says which files differ from those that the implementer found, and
	// which of them cannot be taken.
	Touched func(ctx context.Context) (files []string, forbidden []Forbidden, err error)
}

// Forbidden is a file that an implementer may not touch, or not leave as it is.
type Forbidden struct {
	File, Why string
	Code      tidegate.Code
}

// ImplementBrief is what the prompt of an implementer is made from. All of it was
// written by others.
type ImplementBrief struct {
	ChangeID  string
	Round     int64
	Documents [][2]string // name and text of what says what the change is to do
	Issues    string      // of the review before, "" in the first round
	Tests     string      // the command by which the work is tested, "" where there is none
	Protected []string    // what must stay as it is
}

// ImplementID is the id of the job that implements a round of a change.
func ImplementID(round int64) string { return fmt.Sprintf("implement.%d", round) }

var implementKind = kind{
	name: "implement", role: "implementer", format: "markdown", furnished: true,
	list: func(b *Board) ([]*Job, error) {
		var jobs []*Job
		if i := b.work.(*coding).change.Implement; i != nil {
			jobs = append(jobs, &Job{ID: i.ID, Title: "Implement the change", implement: i})
		}
		past, err := b.earlierRounds("implement", jobs)
		return append(past, jobs...), err
	},
	done: acceptedLast,
	prompt: func(_ context.Context, b *Board, j *Job) (draft, error) {
		text, err := fill("implement.md", j.implement.Brief)
		if err != nil {
			return draft{}, err
		}
		text, err = b.withLast(j, text)
		return draft{text: text, folder: j.implement.Folder}, err
	},
	judge: judgeImplementation,
	// What was done lies in the folder; the answer is kept with the attempt.
	accept: func(update, *Job, int, judgement) error { return nil },
}

// Said is the text of the last answer to a job, "" where there is none.
func (b *Board) Said(id string) string {
	j, err := b.Job(id)
	if err != nil || j.last() == nil || j.last().lastAnswer() == nil {
		return ""
	}
	data, err := b.Folder().Read(j.last().dir() + "/" + j.last().lastAnswer().Answer)
	if err != nil {
		return ""
	}
	text, _ := unwrap(data, j.kind.format)
	return strings.TrimSpace(text)
}

func judgeImplementation(ctx context.Context, _ *Board, j *Job, a answer) (judgement, error) {
	files, forbidden, err := j.implement.Touched(ctx)
	if err != nil {
		return judgement{}, err
	}
	var judged judgement
	for _, f := range forbidden {
		judged.faults = append(judged.faults, fault(string(f.Code), f.File+" was changed: "+f.Why, 0, "Make "+f.File+" what it was before, or remove it if it was not there."))
	}
	if len(files) == 0 && len(judged.faults) == 0 {
		judged.faults = append(judged.faults, fault(string(tidegate.Unchanged), "no file differs from what was there before", 0,
			"Change the files of the folder that you work in, so that they do what the change asks for."))
	}
	judged.text = strings.TrimSpace(a.text)
	return judged, nil
}
