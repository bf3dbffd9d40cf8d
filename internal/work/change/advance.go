package change

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// Advance moves a change on by the review that was kept last. APPROVED completes
// it, when no issue is High, no test failed and, in a git repository, the files
// are those that were reviewed; otherwise it needs a person. NEEDS_FIX begins
// another fix round, as long as the limit that a person set (2 by default) allows
// one; beyond it, and for MAJOR_ISSUES, the change needs a person, and STATE.yaml
// says why. From then on only [Resume] moves it on. One review counts for one
// round, however often it is advanced. A complete change stays as it is, unless
// the last review does not approve it, which opens it again. A change without a
// kept review is moved by its REVIEW.md, and by a person only.
//
// It returns INVALID_ARGS for a bad id; NOT_FOUND naming the folder, STATE.yaml
// or REVIEW.md; SCHEMA_VALIDATION_FAILED for a STATE.yaml that cannot be
// understood; GATE_BLOCKED, with what is allowed, for any other phase, for a
// REVIEW.md that is not the review that was kept, for one whose verdict is not
// clear to every reader, and for an agent where only a person decides; TAMPERED
// when the log, a kept review or the limit is not as it was written;
// INVALID_STATE when STATE.yaml cannot be changed in place; LOCK_HELD,
// CANCELLED, READ_FAILED and WRITE_FAILED.
func Advance(ctx context.Context, desk run.Desk, project, id string) (Advanced, error) {
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return Advanced{}, err
	}
	defer folder.Close()
	for {
		// Reading the tree takes time, so it is done before the lock is taken.
		now, err := treeToCompare(ctx, desk, project, folder, id)
		if err != nil {
			return Advanced{}, err
		}
		result, err := advance(ctx, desk, folder, id, now)
		if !errors.Is(err, errTreeNeeded) {
			return result, err
		}
	}
}

// errTreeNeeded means that a review that approves arrived between the look at the
// tree and the lock.
var errTreeNeeded = errors.New("the tree must be read first")

// treeToCompare is the tree as it is, where the next move depends on it, otherwise
// nil. A folder without a state gets no lock file, so what is wrong with the state
// is reported here.
func treeToCompare(ctx context.Context, desk run.Desk, project string, folder *artifact.Folder, id string) (*git.Tree, error) {
	s, err := readState(folder)
	if err != nil {
		return nil, err
	}
	r, err := readRecord(desk, folder, id)
	if err != nil {
		return nil, err
	}
	last := r.last()
	if last == nil || !slices.Contains(reviewedPhases, s.phase) {
		return nil, nil
	}
	data, err := readIfThere(folder, historyName(last.number))
	if err != nil || review.Read(data).Verdict != review.Approved {
		return nil, err
	}
	t, err := git.ReadTree(ctx, desk, project, s.worktree)
	return &t, err
}

func advance(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, now *git.Tree) (Advanced, error) {
	v, err := enter(ctx, desk, folder, id, nil)
	if err != nil {
		return Advanced{}, err
	}
	defer v.leave()
	s, r := v.s, v.r
	result := Advanced{
		ChangeID: id, From: s.phase, Phase: s.phase, Iteration: s.iteration, MaxRounds: int(r.maxRounds()),
		NeedsPerson: s.needsPerson, StatePath: v.path(stateFile), ReviewPath: v.path(reviewFile),
	}
	if s.phase != Complete && !slices.Contains(reviewedPhases, s.phase) {
		return Advanced{}, blocked(id, s, "advances only from "+Implementing+", "+Testing+" or "+CodeReviewing, reviewedPhases)
	}
	if err := r.checkFiles(folder, id); err != nil {
		return Advanced{}, err
	}
	if err := r.checkLimit(folder, id, s); err != nil {
		return Advanced{}, err
	}
	if s.phase == Complete {
		again, err := reopens(folder, r)
		if err != nil {
			return Advanced{}, err
		}
		if !again {
			result.Message = "change " + id + " is already complete"
			return result, nil
		}
	}
	j, err := judge(ctx, folder, r, id)
	if err != nil {
		return Advanced{}, err
	}
	if j.needsTree() && s.needsPerson == "" && r.needsPerson == "" {
		if now == nil || now.Worktree != s.worktree {
			return Advanced{}, errTreeNeeded
		}
		if why := now.Differs(j.tree); why != "" {
			j.doubts = append(j.doubts, why)
		}
	}
	m := decide(s, r, j)
	m.describe(&result, j)
	if len(m.edits) == 0 {
		return result, nil
	}
	result.Changed = true
	return result, v.commit(ctx, m, "change_advance", j, nil)
}

// reopens reports whether the review that was kept last revokes the completion of
// a change.
func reopens(folder *artifact.Folder, r *record) (bool, error) {
	last := r.last()
	if last == nil {
		return false, nil
	}
	data, err := folder.Read(historyName(last.number))
	return review.Read(data).Verdict != review.Approved, err
}

// blocked is GATE_BLOCKED for a phase from which a move does not begin.
func blocked(id string, s *state, rule string, allowed []string) error {
	return tidegate.Errorf(tidegate.GateBlocked,
		tidegate.Pairs("change_id", id, "phase", s.written, "allowed", allowed, "next", nextStep(id, s.phase)),
		"change %s is in phase %s and %s", id, s.written, rule)
}

// readState reads STATE.yaml. It returns NOT_FOUND naming it.
func readState(folder *artifact.Folder) (*state, error) {
	path := filepath.Join(folder.Path(), stateFile)
	text, err := readIfThere(folder, stateFile)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("state_path", path), "the change has no STATE.yaml, which `tidegate change start` makes: %s", path)
	}
	return parseState(path, text)
}
