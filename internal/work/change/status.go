package change

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// StatusOf says where a change stands. It returns INVALID_ARGS for a bad id,
// NOT_FOUND naming the folder or STATE.yaml, SCHEMA_VALIDATION_FAILED for a
// STATE.yaml that cannot be understood, and READ_FAILED.
func StatusOf(ctx context.Context, desk run.Desk, project, id string) (Status, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return Status{}, err
	}
	defer folder.Close()
	s, err := readState(folder)
	if err != nil {
		return Status{}, err
	}
	numbers, err := history(folder)
	if err != nil {
		return Status{}, err
	}
	r, err := readRecord(desk, folder, id)
	if err != nil {
		return Status{}, err
	}
	status := Status{
		ChangeID: id, Phase: s.phase, PhaseInFile: s.written, Iteration: s.iteration, NeedsPerson: cmp.Or(r.needsPerson, s.needsPerson),
		LastAction: s.lastAction, UpdatedAt: s.updatedAt, Reviews: len(numbers),
		StatePath: filepath.Join(folder.Path(), stateFile), Been: r.been,
	}
	if status.Review, err = currentReview(folder, r, id, s); err != nil {
		return Status{}, err
	}
	status.Next, err = next(ctx, folder, r, id, s)
	return status, err
}

// next says what moves a change on. A review that has not moved it yet comes
// before another one.
func next(ctx context.Context, folder *artifact.Folder, r *record, id string, s *state) (string, error) {
	resume := "tidegate change resume " + id + " --accept --reason TEXT"
	if code := tidegate.CodeOf(r.checkFiles(folder, id)); code == tidegate.Tampered {
		return "a person looks at what was changed; then " + resume, nil
	}
	if s.phase == Complete {
		again, err := reopens(folder, r)
		if err != nil || again {
			return "tidegate change advance " + id, err
		}
	}
	switch {
	case s.phase == Complete && r.worktree != nil:
		return "tidegate change merge " + id, nil
	case !slices.Contains(reviewedPhases, s.phase):
		return nextStep(id, s.phase), nil
	case r.cause == causeLimit:
		return "a person decides: " + resume + ", or tidegate change start " + id + " --max-rounds N", nil
	case r.needsPerson != "" || s.needsPerson != "":
		return "a person decides: " + resume, nil
	}
	j, err := judge(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal}), folder, r, id)
	switch {
	case err != nil: // there is no review that could move it
		return nextStep(id, s.phase), nil
	case j.counted(s, r):
		return "fix what the review found; then " + nextStep(id, s.phase), nil
	}
	return "tidegate change advance " + id, nil
}

// currentReview is what REVIEW.md says, nil when there is none. What keeps it
// from moving the change is among its problems.
func currentReview(folder *artifact.Folder, r *record, id string, s *state) (*ReviewStatus, error) {
	data, err := readIfThere(folder, reviewFile)
	if data == nil || err != nil {
		return nil, err
	}
	shown := review.Show(filepath.Join(folder.Path(), reviewFile), data)
	current := &ReviewStatus{
		Path: shown.ReviewPath, Verdict: shown.Verdict, AgentdVerdict: shown.AgentdVerdict,
		Complete: shown.Complete, Issues: shown.Counts, Problems: shown.Problems,
	}
	doubts := []error{r.checkFiles(folder, id), r.checkLimit(folder, id, s)}
	if last := r.last(); last != nil && doubts[0] == nil {
		doubts = append(doubts, lastKept(folder, r, last.number, data))
		if s.phase == Complete && r.phase != Complete {
			current.Problems = append(current.Problems, "STATE.yaml says complete, but the log of the change does not")
		}
	}
	for _, doubt := range doubts {
		if doubt != nil {
			current.Problems = append(current.Problems, tidegate.AsError(doubt).Message)
		}
	}
	return current, nil
}

// All lists the changes of a project in byte order of their ids. A change whose
// files cannot be read or understood is listed with the reason. It returns
// INVALID_ARGS for a relative project, NOT_FOUND when the project is not a folder,
// and READ_FAILED.
func All(desk run.Desk, project string) (List, error) {
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return List{}, err
	}
	defer root.Close()
	found, err := root.List(git.ChangesDir(desk))
	if err != nil {
		return List{}, err
	}
	list := List{Changes: []ListEntry{}}
	for _, entry := range found {
		id := entry.Name()
		if !review.ValidChangeID(id) {
			continue
		}
		folder, err := root.Folder(git.ChangesDir(desk) + "/" + id)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue // a file among the folders
		}
		if err != nil {
			list.Changes = append(list.Changes, ListEntry{ChangeID: id, Problem: tidegate.AsError(err).Message})
			continue
		}
		list.Changes = append(list.Changes, listed(desk, folder, id))
		folder.Close()
	}
	return list, nil
}

func listed(desk run.Desk, folder *artifact.Folder, id string) ListEntry {
	entry := ListEntry{ChangeID: id}
	note := func(err error) {
		if err != nil && entry.Problem == "" {
			entry.Problem = tidegate.AsError(err).Message
		}
	}
	s, err := readState(folder)
	note(err)
	r, recordErr := readRecord(desk, folder, id)
	note(recordErr)
	if err == nil && recordErr == nil {
		entry.Phase, entry.Iteration, entry.NeedsPerson = s.phase, s.iteration, cmp.Or(r.needsPerson, s.needsPerson)
		note(r.checkFiles(folder, id))
	}
	data, err := readIfThere(folder, reviewFile)
	note(err)
	if data != nil {
		entry.Verdict = review.Read(data).Verdict.String()
	}
	if data != nil && recordErr == nil && r.last() != nil && entry.Problem == "" {
		note(lastKept(folder, r, r.last().number, data))
	}
	numbers, err := history(folder)
	note(err)
	entry.Reviews = len(numbers)
	return entry
}

// ReviewOf is the path of the REVIEW.md of a change; ok says whether the project
// has the change.
func ReviewOf(desk run.Desk, project, id string) (path string, ok bool) {
	folder, err := open(desk, project, id)
	if err != nil {
		return "", false
	}
	defer folder.Close()
	return filepath.Join(folder.Path(), reviewFile), true
}

// ShowReview reads the REVIEW.md at an absolute path, by our own rule and by
// Agentd's. It returns NOT_FOUND and READ_FAILED.
func ShowReview(desk run.Desk, path string) (review.Shown, error) {
	data, err := desk.Reach.ReadFile("review_path", path)
	if err != nil {
		return review.Shown{}, err
	}
	return review.Show(path, data), nil
}
