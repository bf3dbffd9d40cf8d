package job

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
)

// ReadAgain is the reading of an attempt at a part of an audited report as it would be
// kept, judged again from the answer that lies beside it, with the controls that the seed
// of the attempt plants. It returns READ_FAILED, and INVALID_STATE for an answer that would
// not be accepted, or that answers another prompt.
func ReadAgain(folder *artifact.Folder, asks *reading.Questions, part evidence.Part, attempt int) ([]byte, error) {
	j := readingJob(1, readingTask{part: part})
	a, err := readAttempt(folder, j.ID, attempt)
	if err != nil {
		return nil, err
	}
	asked, err := (&questions{Questions: asks}).asAsked(part.Number, a)
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
		if given, faults := asked.Judge([]byte(AsJudged(verifyKind.name, answer))); len(faults) == 0 {
			given.Refuses = given.Refuses && part.Look == 1
			return codec.MarshalFile(readingResult{given, part}.document(j, attempt))
		}
	}
	return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", j.ID, "attempt", attempt), "attempt %d at %s would not be accepted", attempt, j.ID)
}
