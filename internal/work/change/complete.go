package change

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

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
