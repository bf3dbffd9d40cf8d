package run

import (
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Find is the path of the manifest of the run that a person names: by the path
// of its manifest or folder, by its id under home, or by a path relative to
// workdir. An id takes precedence over a relative path. It returns NOT_FOUND with
// the name and the places that were searched, and READ_FAILED where the caller may
// not look into such a place.
func Find(desk Desk, home, workdir, name string) (string, error) {
	return store.Runs.Find(desk.Reach, home, workdir, name)
}

// FindByBeginning is [Find] for somebody who only looks: it also takes the beginning
// of the id of one run under home, and without a name it finds the run that was
// written last. Others says how many runs there were to choose from in that case. It
// returns INVALID_ARGS for the beginning of several ids, and NOT_FOUND.
func FindByBeginning(desk Desk, home, workdir, name string) (manifest string, others int, err error) {
	if name == "" {
		runs, err := Recent(desk, home)
		if err != nil {
			return "", 0, err
		}
		if len(runs) == 0 {
			return "", 0, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("home", home), "there is no run under %s", home)
		}
		return filepath.Join(home, runs[0].ID, ManifestFile), len(runs) - 1, nil
	}
	manifest, err = store.Runs.FindByBeginning(desk.Reach, home, workdir, name)
	return manifest, 0, err
}

// ByID is the path of the manifest of the run with that id under home, whether it
// exists or not. It returns INVALID_ARGS without a home, and for an id that no run
// can have.
func ByID(home, id string) (string, error) {
	if CheckID(id) != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("run", tidegate.Cut(id)), "run must be the id of a run, got %q", tidegate.Cut(id))
	}
	if err := checkHome(home); err != nil {
		return "", err
	}
	return filepath.Join(home, id, ManifestFile), nil
}

// checkHome returns INVALID_ARGS unless home is an absolute path.
func checkHome(home string) error {
	if err := store.CheckHome(home); err != nil {
		return err
	}
	return CheckPath("home", home)
}
