package replay

import (
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// compareRepair compares the prompt by which a refused answer was to be repaired
// with the one that the faults give, where the run keeps one. An agent without the
// session of the answer was shown the prompt of the attempt before it.
func (s *scene) compareRepair(id string, number, n int, again string) error {
	name := fmt.Sprintf("%s/prompt-%d.md", run.AttemptDir(id, number), n+1)
	kept, err := s.kept.Folder().Read(name)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	first, err := s.kept.Folder().Read(run.AttemptDir(id, number) + "/prompt.md")
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	if whole := string(first) + "\n" + again; string(kept) == whole {
		again = whole
	}
	s.step(name, firstDifference(kept, []byte(again)))
	return nil
}

func attemptFile(id string, number int) string { return run.AttemptDir(id, number) + "/attempt.json" }

// keptAttempt is an attempt as the run keeps it.
func (s *scene) keptAttempt(id string, number int) (*codec.Value, error) {
	name := attemptFile(id, number)
	data, err := s.kept.Folder().Read(name)
	if err != nil {
		return nil, err
	}
	return codec.ParseFile("path", s.kept.Path(name), data)
}

// compareAttempt compares what an attempt keeps of a verdict with the verdict that
// comes out.
func (s *scene) compareAttempt(id string, number, n int, again any, fields ...string) error {
	name := attemptFile(id, number)
	doc, err := s.keptAttempt(id, number)
	if err != nil {
		return err
	}
	submissions := doc.Get("submissions").Elems()
	if n < 1 || n > len(submissions) {
		s.step(name, "it does not keep the answer")
		return nil
	}
	made := codec.Of(again)
	difference := ""
	for _, key := range fields {
		was, is := submissions[n-1].Get(key), made.Get(key)
		if was.Len() == 0 && is.Len() == 0 {
			continue
		}
		if codec.Digest(was) != codec.Digest(is) && difference == "" {
			difference = key + " of answer " + submissions[n-1].Get("answer").Str() + " are " + shown(was) + " and come out as " + shown(is)
		}
	}
	s.step(name, difference)
	return nil
}
