package job

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/step"
)

// auditVerifyKind is the second reader of a report that is audited, and of an answer: it is
// asked and tested as that of a run is.
var auditVerifyKind = kind{
	name: verifyKind.name, role: verifyKind.role, format: verifyKind.format,
	list: func(b *Board) ([]*Job, error) {
		var jobs []*Job
		c, round := b.work.(*coding).change, int64(1)
		if c.Asking != nil {
			round = c.Asking.Round
		}
		if c.Questions != nil {
			for _, p := range c.Questions.Claims.Parts {
				jobs = append(jobs, &Job{ID: step.VerifyJob(round, p.Number), Title: fmt.Sprintf("Read part %d of the report", p.Number), round: round, part: p})
			}
		}
		past, err := b.earlierRounds(verifyKind.name, jobs)
		return append(past, jobs...), err
	},
	done:   func(_ *Board, j *Job) bool { return j.past || j.readEnough() },
	prompt: verifyPrompt,
	judge:  judgeReading,
	accept: func(u update, j *Job, attempt int, judged judgement) error {
		return u.WriteJSON(step.ReadingFile(j.ID, attempt), readingOf(j, attempt, judged))
	},
}

// ReadAgain is the reading of an attempt at a part of an audited report as it would be
// kept, judged again from the answer that lies beside it, with the controls that the seed
// of the attempt plants. It returns READ_FAILED, and INVALID_STATE for an answer that would
// not be accepted, or that answers another prompt.
func ReadAgain(folder *artifact.Folder, asks *reading.Questions, part evidence.Part, attempt int) ([]byte, error) {
	j := &Job{ID: step.VerifyJob(1, part.Number), round: 1, part: part}
	a, err := readAttempt(folder, j.ID, attempt)
	if err != nil {
		return nil, err
	}
	asked, err := a.asked(asks, part.Number)
	if err != nil {
		return nil, err
	}
	prompt, err := folder.Read(a.dir() + "/prompt.md")
	if err != nil {
		return nil, err
	}
	if last := a.lastAnswer(); last != nil && strings.HasPrefix(string(prompt), asked.Prompt()) {
		answer, err := folder.Read(a.dir() + "/" + last.Answer)
		if err != nil {
			return nil, err
		}
		if given, faults := asked.Judge([]byte(AsJudged(auditVerifyKind.name, answer))); len(faults) == 0 {
			given.Refuses = given.Refuses && part.Look == 1
			return codec.MarshalFile(readingOf(j, attempt, judgement{reading: &step.Reading{Judged: given}}))
		}
	}
	return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", j.ID, "attempt", attempt), "attempt %d at %s would not be accepted", attempt, j.ID)
}
