package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
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

// makeFolders makes the folders in order, durably. One that is there by now is
// as good.
func makeFolders(root *os.Root, dirs []string) error {
	for _, dir := range dirs {
		if err := root.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
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
