package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ChangesDir is where the changes of a project live.
func ChangesDir(desk run.Desk) string { return desk.ChangesFolder() + "/changes" }

// OpenProject opens the project folder. It returns INVALID_ARGS for a relative
// path and NOT_FOUND when there is no such folder.
func OpenProject(desk run.Desk, project string) (*artifact.Folder, error) {
	if !filepath.IsAbs(project) {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("project", tidegate.Cut(project)),
			"project must be the absolute path of a folder, got %q", tidegate.Cut(project))
	}
	return desk.Reach.Open("project", project)
}

// InRepository reports whether dir lies in a git repository. It does without git
// as long as it can look at the folders above.
func InRepository(ctx context.Context, desk run.Desk, dir string) bool {
	for above := dir; ; above = filepath.Dir(above) {
		there, err := HoldsRepository(desk, above)
		switch {
		case err != nil:
			return InWorkTree(ctx, dir) == nil
		case there:
			return true
		case above == filepath.Dir(above):
			return false
		}
	}
}

// InWorkTree asks git whether dir lies in the work tree of its repository, which
// the repository itself can place elsewhere. It fails when dir does not.
func InWorkTree(ctx context.Context, dir string) error {
	answer, err := Ask(ctx, dir, "rev-parse", "--is-inside-work-tree")
	if err == nil && string(bytes.TrimSpace(answer)) != "true" {
		err = errors.New("the work tree of the repository is elsewhere")
	}
	return err
}

// HoldsRepository reports whether dir has a .git of whatever kind. It fails when
// the folder cannot be looked at.
func HoldsRepository(desk run.Desk, dir string) (bool, error) {
	folder, err := desk.Reach.Open("project", dir)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	_, err = fs.Lstat(folder.FS(), ".git")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
