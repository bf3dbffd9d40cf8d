package change

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Abandon ends a change that has not ended: it becomes rejected. Its worktree and its
// branch stay until [Clean]. It is a person's decision.
//
// It returns GATE_BLOCKED for an agent and for a change that has ended, and otherwise
// what [Resume] returns.
func Abandon(ctx context.Context, desk run.Desk, project, id string) error {
	if err := byPerson(ctx, id, "abandons a change", "tidegate change abandon "+id); err != nil {
		return err
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return err
	}
	defer folder.Close()
	v, d, signature, err := enterToDecide(ctx, desk, folder, id, "change_abandon", func(*decision) {})
	if err != nil {
		return err
	}
	defer v.leave()
	if slices.Contains(endedPhases, v.s.phase) {
		return blocked(id, v.s, "has ended already", nil)
	}
	if err := v.r.admits(d); err != nil {
		return err
	}
	if err := v.r.checkFiles(folder, id); err != nil {
		return err
	}
	m := newMove(v.s, v.r)
	m.phase, m.event, m.action = Rejected, eventAbandoned, actionAbandon
	m.edit(v.s)
	return v.commit(ctx, m, "change_abandon", judged{}, d.details(signature))
}

// Removed is what [Clean] removed of a change.
type Removed struct {
	ChangeID string
	Branch   string
	Commit   string // to which the branch led
	Worktree string
}

// Clean removes the worktrees and branches of changes that have ended: those that were
// abandoned or merged, by whatever means. A worktree that is not the project's any more
// and a branch that leads elsewhere than to our last commit stay.
//
// It returns GATE_BLOCKED for an agent, INVALID_ARGS, NOT_FOUND, READ_FAILED and
// WRITE_FAILED.
func Clean(ctx context.Context, desk run.Desk, project string) ([]Removed, error) {
	if err := byPerson(ctx, "", "removes worktrees and branches", "tidegate change clean"); err != nil {
		return nil, err
	}
	list, err := All(desk, project)
	if err != nil {
		return nil, err
	}
	var removed []Removed
	for _, entry := range list.Changes {
		if entry.Problem != "" || entry.Phase != Complete && !slices.Contains(endedPhases, entry.Phase) {
			continue
		}
		one, err := clean(ctx, desk, project, entry)
		if err != nil {
			return removed, err
		}
		if one != nil {
			removed = append(removed, *one)
		}
	}
	return removed, nil
}

// clean removes the worktree and the branch of one change, nil where there is nothing
// to remove.
func clean(ctx context.Context, desk run.Desk, project string, entry ListEntry) (*Removed, error) {
	folder, err := open(desk, project, entry.ChangeID)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, err := readRecord(desk, folder, entry.ChangeID)
	if err != nil {
		return nil, err
	}
	w := r.worktree
	if w == nil || w.Branch != branchOf(entry.ChangeID) {
		return nil, nil
	}
	w.project = project
	answer, err := git.Ask(ctx, project, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.Branch)
	if err != nil {
		return nil, nil // it is gone already
	}
	at := strings.TrimSpace(string(answer))
	if entry.Phase != Rejected {
		reviewed, err := reviewedCommit(folder, r)
		if err != nil {
			return nil, err
		}
		merged := r.phase == Archived // the log says so: squashed, it has no commit of the branch
		if at != reviewed || !merged && !isAncestor(ctx, project, at, "HEAD") {
			return nil, nil
		}
	}
	if there, err := git.HoldsRepository(desk, w.Path); err == nil && there {
		if err := w.intact(ctx, desk); err != nil {
			return nil, err
		}
		if _, err := git.Ask(ctx, project, "worktree", "remove", "--force", w.Path); err != nil {
			return nil, notRemoved(w, err)
		}
		if err := w.begin(desk); err != nil {
			return nil, err
		}
	}
	if _, err := git.Ask(ctx, project, "worktree", "prune"); err != nil {
		return nil, notRemoved(w, err)
	}
	if _, err := git.Ask(ctx, project, "branch", "--quiet", "-D", "--", w.Branch); err != nil {
		return nil, notRemoved(w, err)
	}
	return &Removed{entry.ChangeID, w.Branch, at, filepath.Clean(w.Path)}, nil
}

func notRemoved(w *Worktree, err error) error {
	return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("worktree", w.Path, "branch", w.Branch), "what is left of the branch %s cannot be removed: %w", cmp.Or(w.Branch, w.Path), err)
}

// A worktree counts only while a file beside it says that it is complete. The file goes
// before anything of the worktree is written by this program and comes back when that is
// done, so that no kill leaves half a worktree that is taken for a whole one.
const completeSuffix = ".complete"

// beside does something in the folder in which the worktree lies, where it has that name.
func (w *Worktree) beside(desk run.Desk, do func(folder *artifact.Folder, name string) error) error {
	folder, err := desk.Reach.Open("worktrees", filepath.Dir(w.Path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(folder, filepath.Base(w.Path))
}

// isComplete reports whether the worktree is there and complete.
func (w *Worktree) isComplete(desk run.Desk) (complete bool, err error) {
	err = w.beside(desk, func(folder *artifact.Folder, name string) (err error) {
		if complete, err = folder.Exists(name + completeSuffix); complete {
			_, missing := fs.Lstat(folder.FS(), name)
			complete = missing == nil
		}
		return err
	})
	return complete, artifact.UnlessMissing(err)
}

// begin says that the worktree is not complete from here on.
func (w *Worktree) begin(desk run.Desk) error {
	return w.beside(desk, func(folder *artifact.Folder, name string) error { return folder.Remove(name + completeSuffix) })
}

// completed says that the worktree is complete, once that is durable.
func (w *Worktree) completed(desk run.Desk) error {
	return w.beside(desk, func(folder *artifact.Folder, name string) error {
		if err := folder.SyncAll(); err != nil {
			return err
		}
		return folder.Write(name+completeSuffix, []byte(w.head+"\n"))
	})
}

// removeRest removes a worktree that is not complete. It returns INVALID_STATE for one
// that lies elsewhere than at ours.
func (w *Worktree) removeRest(desk run.Desk, ours string) error {
	return artifact.UnlessMissing(w.beside(desk, func(folder *artifact.Folder, name string) error {
		if err := folder.Remove(name + completeSuffix); err != nil {
			return err
		}
		if _, err := fs.Lstat(folder.FS(), name); errors.Is(err, fs.ErrNotExist) {
			return folder.SweepRemoved()
		}
		if w.Path != ours {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("worktree", w.Path, "expected", ours),
				"the worktree %s is not complete, and this home makes it at %s: remove the folder, and the next `tidegate change run` makes it again", w.Path, ours)
		}
		if err := folder.RemoveFolder(name); err != nil {
			if _, still := fs.Lstat(folder.FS(), name); still == nil {
				return err
			}
		}
		return nil // what could not be removed yet lies aside, and is swept another time
	}))
}
