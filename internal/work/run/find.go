package run

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// Kept is what a home keeps in folders: runs, or something like them.
type Kept struct {
	Noun string // what one is called
	File string // that its folder has
}

var keptRuns = Kept{"run", ManifestFile}

// Find is the path of the manifest of the run that a person names: by the path
// of its manifest or folder, by its id under home, or by a path relative to
// workdir. An id takes precedence over a relative path. It returns NOT_FOUND with
// the name and the places that were searched, and READ_FAILED where the caller may
// not look into such a place.
func Find(desk Desk, home, workdir, name string) (string, error) {
	return keptRuns.find(desk, home, workdir, name)
}

func (k Kept) find(desk Desk, home, workdir, name string) (string, error) {
	if err := CheckText(k.Noun, name); err != nil {
		return "", err
	}
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = []string{filepath.Clean(name)}
	} else {
		if CheckID(name) == nil && home != "" {
			candidates = append(candidates, filepath.Join(home, name))
		}
		candidates = append(candidates, filepath.Join(workdir, name))
	}
	var denied error
	for _, path := range candidates {
		manifest, err := k.fileAt(desk, path)
		switch {
		case err == nil:
			return manifest, nil
		case denied == nil && errors.Is(err, fs.ErrPermission):
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	if home == "" {
		home = "a home of " + k.Noun + "s, which is not known (set TIDEGATE_HOME),"
	}
	return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs(k.Noun, name, "searched", candidates),
		"there is no %s %q: neither an id under %s nor the folder of one", k.Noun, tidegate.Cut(name), home)
}

// fileAt is the path of the file that stands at path or in the folder there.
func (k Kept) fileAt(desk Desk, path string) (string, error) {
	file, err := desk.Reach.OpenFile(k.Noun, path)
	if err == nil {
		return path, file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	inFolder := filepath.Join(path, k.File)
	if file, err = desk.Reach.OpenFile(k.Noun, inFolder); err != nil {
		return "", err
	}
	return inFolder, file.Close()
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
	manifest, err = keptRuns.FindByBeginning(desk, home, workdir, name)
	return manifest, 0, err
}

// FindByBeginning is the path of the file of what a person names as [Find] takes names, or
// by the beginning of its id. It returns INVALID_ARGS for the beginning of several ids,
// NOT_FOUND and READ_FAILED.
func (k Kept) FindByBeginning(desk Desk, home, workdir, name string) (file string, err error) {
	file, err = k.find(desk, home, workdir, name)
	if tidegate.CodeOf(err) != tidegate.FileNotFound || CheckID(name) != nil || home == "" {
		return file, err
	}
	var ids []string
	if listed := k.Each(desk, home, func(_ *artifact.Folder, id string) {
		if strings.HasPrefix(id, name) {
			ids = append(ids, id)
		}
	}); listed != nil {
		return "", listed
	}
	switch len(ids) {
	case 0:
		return "", err
	case 1:
		return filepath.Join(home, ids[0], k.File), nil
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(k.Noun, name, k.Noun+"s", ids[:min(len(ids), 10)]),
		"%d %ss begin with %q: %s; type more of the id", len(ids), k.Noun, tidegate.Cut(name), tidegate.Cut(strings.Join(ids, ", ")))
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

// checkHome returns INVALID_ARGS unless home is an absolute path. An environment
// without a home folder for its user has none for runs either.
func checkHome(home string) error {
	if home == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("home", home),
			"the home of runs is not known: set TIDEGATE_HOME to the folder in which runs are to live")
	}
	return CheckPath("home", home)
}

// Each visits the folders in home that hold the file, in byte order. A home that does not
// exist has none. It returns READ_FAILED.
func (k Kept) Each(desk Desk, home string, visit func(folder *artifact.Folder, id string)) error {
	folder, err := desk.Reach.Open("home", home)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	defer folder.Close()
	entries, err := folder.List(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if CheckID(e.Name()) != nil {
			continue
		}
		if there, err := folder.Exists(e.Name() + "/" + k.File); err == nil && there {
			visit(folder, e.Name())
		}
	}
	return nil
}
