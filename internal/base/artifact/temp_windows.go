package artifact

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
)

// createTemp makes a temporary file for target in the folder of target. Windows
// does not rename open files, so a lock cannot mark it as in use until the end;
// its name is random, and what a killed writer left stays.
func createTemp(root *os.Root, target string, mode fs.FileMode) (*os.File, string, error) {
	for {
		name := tempName(target, rand.Text())
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
}

// clearTemp does nothing here: what a killed writer left stays.
func clearTemp(*os.Root, string) {}

// moveTemp ends the life of a temporary file: it becomes target, or is removed
// when err or the renaming says that it must not.
func moveTemp(root *os.Root, temp *os.File, name, target string, err error) error {
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(name, target)
	}
	if err != nil {
		root.Remove(name)
	}
	return err
}

// tempFolder is a folder in the making, beside its place.
type tempFolder struct {
	root *os.Root
	name string
}

// createTempFolder makes an empty folder for target in the folder of target.
func createTempFolder(root *os.Root, target string) (*tempFolder, error) {
	name := tempName(target, rand.Text())
	return &tempFolder{root, name}, root.Mkdir(name, folderMode)
}

// sweepFolders does nothing here, as clearTemp.
func sweepFolders(*os.Root) {}

// rename gives the folder its own name.
func (t *tempFolder) rename(target string) error { return t.root.Rename(t.name, target) }

func (t *tempFolder) remove() { t.root.RemoveAll(t.name) }

func (t *tempFolder) close() {}
