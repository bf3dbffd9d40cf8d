package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
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
	Open      []string    // their ids
	Tests     string      // the command by which the work is tested, "" where there is none
	Protected []string    // what must stay as it is
}

// ImplementID is the id of the job that implements a round of a change.
func ImplementID(round int64) string { return fmt.Sprintf("implement.%d", round) }

// Implement is the kind of the job that changes files: none where nothing is asked for.
func Implement(asked *Implementation) Kind {
	return Kind{kind: implementKind, waits: true, rounds: true, list: func() ([]*Job, error) {
		if asked == nil {
			return nil, nil
		}
		return []*Job{{ID: asked.ID, Title: "Implement the change", task: asked}}, nil
	}}
}

func (*Implementation) done(j *Job) bool { return j.lastAccepted() }

func (i *Implementation) prompt(_ context.Context, j *Job) (draft, error) {
	text, err := fill("implement.md", i.Brief)
	if err != nil {
		return draft{}, err
	}
	text, err = j.withLast(text)
	return draft{text: text, folder: i.Folder}, err
}

// Declined is an issue that an implementer says is none.
type Declined struct{ ID, Reason string }

// ReadDeclined reads what an answer declines; none where it is no document that does.
func ReadDeclined(answer string) []Declined {
	text, _ := driver.Unwrap([]byte(answer), "json")
	doc, err := codec.Parse([]byte(text))
	if err != nil {
		return nil
	}
	var list []Declined
	for _, d := range doc.Get("declined").Elems() {
		list = append(list, Declined{d.Get("id").Str(), strings.TrimSpace(d.Get("reason").Str())})
	}
	return list
}

// judge judges the files, or what the answer declines where none differs. What was done lies in the folder, and the answer is kept with the
// attempt: nothing else is taken.
func (i *Implementation) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	files, forbidden, err := i.Touched(ctx)
	if err != nil {
		return judgement{}, err
	}
	var judged judgement
	for _, f := range forbidden {
		judged.faults = append(judged.faults, fault(string(f.Code), f.File+" was changed: "+f.Why, 0, "Make "+f.File+" what it was before, or remove it if it was not there."))
	}
	declined := ReadDeclined(a.text)
	for _, d := range declined {
		if !slices.Contains(i.Brief.Open, d.ID) || d.Reason == "" {
			judged.faults = append(judged.faults, fault(string(tidegate.SchemaValidationFailed), fmt.Sprintf("%q is declined without a reason, or is no issue of the review", tidegate.Cut(d.ID)), 0,
				"Name an id of the review's issues, and say why it is none."))
		}
	}
	if len(files) == 0 && len(declined) == 0 && len(judged.faults) == 0 {
		judged.faults = append(judged.faults, fault(string(tidegate.Unchanged), "no file differs from what was there before", 0,
			"Change the files of the folder that you work in, so that they do what the change asks for."))
	}
	return judged, nil
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
	text, _ := driver.Unwrap(data, j.answerFormat())
	return strings.TrimSpace(text)
}
