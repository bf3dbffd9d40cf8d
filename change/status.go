package change

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/review"
)

// StatusOf says where a change stands. It returns INVALID_ARGS for a bad id,
// NOT_FOUND naming the folder or STATE.yaml, SCHEMA_VALIDATION_FAILED for a
// STATE.yaml that cannot be understood, and READ_FAILED.
func StatusOf(ctx context.Context, project, id string) (Status, error) {
	folder, err := open(ctx, project, id)
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
	status := Status{
		ChangeID: id, Phase: s.phase, PhaseInFile: s.written, Iteration: s.iteration, NeedsPerson: s.needsPerson,
		LastAction: s.lastAction, UpdatedAt: s.updatedAt, Reviews: len(numbers),
		Next: next(folder, id, s), StatePath: filepath.Join(folder.Path(), stateFile),
	}
	status.Review, err = currentReview(folder)
	return status, err
}

// next says what moves a change on. A review that has not moved it yet comes
// before another one.
func next(folder *artifact.Folder, id string, s *state) string {
	if s.needsPerson != "" {
		return "a person decides; then a new review, or tidegate change advance " + id + " with more --max-rounds"
	}
	if !slices.Contains(reviewedPhases, s.phase) {
		return nextStep(id, s.phase)
	}
	_, identity, err := readReview(folder, id)
	switch {
	case err != nil: // there is no review that could move it
		return nextStep(id, s.phase)
	case identity == s.counted:
		return "mend what the review found; then " + nextStep(id, s.phase)
	}
	return "tidegate change advance " + id
}

// currentReview is what REVIEW.md says, nil when there is none.
func currentReview(folder *artifact.Folder) (*ReviewStatus, error) {
	data, err := readIfThere(folder, reviewFile)
	if data == nil || err != nil {
		return nil, err
	}
	shown := review.Show(filepath.Join(folder.Path(), reviewFile), data)
	return &ReviewStatus{
		Path: shown.ReviewPath, Verdict: shown.Verdict, AgentdVerdict: shown.AgentdVerdict,
		Complete: shown.Complete, Issues: shown.Counts, Problems: shown.Problems,
	}, nil
}

// All lists the changes of a project in byte order of their ids. A change whose
// files cannot be read or understood is listed with the reason. It returns
// INVALID_ARGS for a relative project, NOT_FOUND when the project is no folder,
// and READ_FAILED.
func All(ctx context.Context, project string) (List, error) {
	root, err := openProject(ctx, project)
	if err != nil {
		return List{}, err
	}
	defer root.Close()
	found, err := root.List(changesDir)
	if err != nil {
		return List{}, err
	}
	list := List{Changes: []ListEntry{}}
	for _, entry := range found {
		id := entry.Name()
		if !review.ValidChangeID(id) {
			continue
		}
		folder, err := root.Folder(changesDir + "/" + id)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue // a file among the folders
		}
		if err != nil {
			list.Changes = append(list.Changes, ListEntry{ChangeID: id, Problem: tidegate.AsError(err).Message})
			continue
		}
		list.Changes = append(list.Changes, listed(folder, id))
		folder.Close()
	}
	return list, nil
}

func listed(folder *artifact.Folder, id string) ListEntry {
	entry := ListEntry{ChangeID: id}
	note := func(err error) {
		if err != nil && entry.Problem == "" {
			entry.Problem = tidegate.AsError(err).Message
		}
	}
	s, err := readState(folder)
	note(err)
	if err == nil {
		entry.Phase, entry.Iteration, entry.NeedsPerson = s.phase, s.iteration, s.needsPerson
	}
	current, err := currentReview(folder)
	note(err)
	if current != nil {
		entry.Verdict = current.Verdict
	}
	numbers, err := history(folder)
	note(err)
	entry.Reviews = len(numbers)
	return entry
}

// ShowReview reads the REVIEW.md at an absolute path, by our own rule and by
// Agentd's. It returns NOT_FOUND and READ_FAILED.
func ShowReview(ctx context.Context, path string) (review.Shown, error) {
	data, err := artifact.ReadFile(ctx, "review_path", path)
	if err != nil {
		return review.Shown{}, err
	}
	return review.Show(path, data), nil
}
