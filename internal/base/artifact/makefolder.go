package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// missingFolders lists what has to be made for the folder dir to exist in
// root, the outermost first.
func missingFolders(root *os.Root, dir string) ([]string, error) {
	var missing []string
	for ; dir != "."; dir = path.Dir(dir) {
		info, err := root.Stat(dir)
		if err == nil && !info.IsDir() {
			return nil, errNoFolder
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing, nil
}

// makeMissing makes the folder dir and those above it as far as they are missing,
// durably, and returns those that were.
func (f *Folder) makeMissing(dir string) ([]string, error) {
	missing, err := missingFolders(f.root, dir)
	if err == nil {
		err = makeFolders(f.root, missing, f.newFolderMode())
	}
	return missing, err
}

// makeFolders makes the folders in order, durably. One that exists by then is
// fine.
func makeFolders(root *os.Root, dirs []string, mode fs.FileMode) error {
	for _, dir := range dirs {
		if err := root.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := syncFolder(root, path.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// removeFolders takes back what makeFolders made, as far as it is there and
// empty.
func removeFolders(root *os.Root, dirs []string) error {
	for _, dir := range slices.Backward(dirs) {
		// A folder that is not empty fails with ErrExist.
		if err := root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// makeAbove makes a folder and those above it as far as they are missing,
// durably, and returns those that it made.
func makeAbove(dir string) ([]string, error) {
	var missing []string
	for {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
	slices.Reverse(missing)
	for i, dir := range missing {
		err := os.Mkdir(dir, folderMode)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return missing[:i], err
		}
		if err := syncPath(filepath.Dir(dir)); err != nil {
			return missing[:i+1], err
		}
	}
	return missing, nil
}

// removeAbove takes back what makeAbove made, as far as nobody uses it by now.
func removeAbove(made []string, failed bool) {
	if failed {
		for _, dir := range slices.Backward(made) {
			os.Remove(dir)
		}
	}
}
