//go:build unix

package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// maxWriters is how many processes may write one file at the same time.
const maxWriters = 256

// createTemp makes a temporary file for target in the folder of target.
//
// Its name is one of a few that follow from the name of target, and its user
// holds an OS lock on it. So the next writer of the same target recognises, by
// its free lock, the file that a killed writer left, and removes it without
// looking through the folder.
func createTemp(root *os.Root, target string, mode fs.FileMode) (*os.File, string, error) {
	for slot := 0; slot < maxWriters; {
		name := tempName(target, slot)
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			if !removeAbandoned(root, name) {
				slot++
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		owned, err := owns(root, f, name)
		if owned {
			return f, name, nil
		}
		f.Close()
		if err != nil {
			root.Remove(name)
			return nil, "", err
		}
		slot++ // another process thought it abandoned before it was locked
	}
	return nil, "", errors.New("too many writers of one file")
}

// owns locks f and reports whether f is then still the file of that name.
func owns(root *os.Root, f *os.File, name string) (bool, error) {
	locked, err := tryLock(f)
	if err != nil || !locked {
		return false, err
	}
	there, err := root.Lstat(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(there, mine), err
}

// removeAbandoned removes a temporary file that nobody holds and reports
// whether the name may be tried again.
func removeAbandoned(root *os.Root, name string) bool {
	f, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	owned, err := owns(root, f, name)
	return owned && err == nil && root.Remove(name) == nil
}

// clearTemp removes what a killed writer of target left.
func clearTemp(root *os.Root, target string) { removeAbandoned(root, tempName(target, 0)) }

// moveTemp ends the life of a temporary file: it becomes target, or is removed
// when err or the renaming says that it must not.
func moveTemp(root *os.Root, temp *os.File, name, target string, err error) error {
	defer temp.Close() // and with it the lock, once the name is gone
	if err == nil {
		err = root.Rename(name, target)
	}
	if err != nil {
		root.Remove(name)
	}
	return err
}

// tempFolder is a folder in the making, beside its place. Like a temporary file
// it has one of a few names, and whoever makes it holds a lock: the one that
// will be the folder's own.
type tempFolder struct {
	root *os.Root
	name string
	lock *os.File
}

// createTempFolder makes an empty folder for target in the folder of target.
func createTempFolder(root *os.Root, target string) (*tempFolder, error) {
	for slot := range maxWriters {
		t := &tempFolder{root: root, name: tempName(target, slot)}
		made := root.Mkdir(t.name, folderMode)
		if made != nil && !errors.Is(made, fs.ErrExist) {
			return nil, made
		}
		owned, err := t.own()
		if owned {
			err = t.empty()
		}
		if owned && err == nil {
			return t, nil
		}
		t.close()
		if made == nil && err != nil && !errors.Is(err, fs.ErrNotExist) { // not there: another took it for abandoned
			root.RemoveAll(t.name)
			return nil, err
		}
	}
	return nil, errors.New("too many writers of one folder")
}

// sweepFolders removes the folders in the making in root that nobody makes any more.
func sweepFolders(root *os.Root) {
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, entry := range entries {
		if named, _ := path.Match(".tidegate-????????????-*.tmp", entry.Name()); !named || !entry.IsDir() {
			continue
		}
		t := &tempFolder{root: root, name: entry.Name()}
		if owned, err := t.own(); owned && err == nil {
			t.remove()
		}
		t.close()
	}
}

// own takes the lock in the folder and reports whether it then still is the
// lock of that folder.
func (t *tempFolder) own() (bool, error) {
	name := path.Join(t.name, lockName)
	info, err := t.root.Lstat(t.name)
	if err != nil || !info.IsDir() {
		return false, err
	}
	if t.lock, err = openRegular(t.root, name, os.O_RDWR|os.O_CREATE); err != nil {
		return false, err
	}
	return owns(t.root, t.lock, name)
}

// empty removes what a killed process left in the folder.
func (t *tempFolder) empty() error {
	dir, err := t.root.Open(t.name)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != lockName {
			if err := t.root.RemoveAll(path.Join(t.name, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rename gives the folder its own name.
func (t *tempFolder) rename(target string) error { return t.root.Rename(t.name, target) }

// remove removes the folder. The lock goes last, because without it anyone may
// take the folder.
func (t *tempFolder) remove() {
	if t.empty() == nil && t.root.Remove(path.Join(t.name, lockName)) == nil {
		t.root.Remove(t.name)
	}
}

func (t *tempFolder) close() {
	if t.lock != nil {
		t.lock.Close()
	}
}
