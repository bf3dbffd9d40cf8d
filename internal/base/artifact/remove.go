package artifact

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/tidegate/tidegate"
)

// removedPrefix begins the name that a folder has while it is removed.
const removedPrefix = ".tidegate.removed-"

// RemoveFolder removes a folder in f with all that is in it. It is moved aside
// first, so that a reader sees it whole or not at all. This also removes what a
// process that was killed after that step left in f. A link is refused with
// PATH_NOT_ALLOWED: what it leads to would stay. It also returns NOT_FOUND and
// WRITE_FAILED.
func (f *Folder) RemoveFolder(name string) error {
	local, err := f.local(name)
	if err != nil {
		return err
	}
	info, err := f.root.Lstat(local)
	switch {
	case err != nil:
		return f.place(name).unreadable(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return f.place(name).notAllowed("it is a link; name the folder itself")
	case !info.IsDir():
		return tidegate.Errorf(tidegate.WriteFailed, f.place(name).details(), "not a folder: %s", f.place(name).path)
	}
	if err := f.root.Rename(local, removedPrefix+rand.Text()); err != nil {
		return f.place(name).unwritable(err)
	}
	if err := f.SweepRemoved(); err != nil {
		return err
	}
	return f.place(name).unwritable(syncFolder(f.root, "."))
}

// SweepRemoved removes what a process left in f that was killed in [Folder.RemoveFolder].
// It returns WRITE_FAILED and READ_FAILED.
func (f *Folder) SweepRemoved() error {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return f.place(".").unreadable(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), removedPrefix) {
			continue
		}
		if err := f.root.RemoveAll(entry.Name()); err != nil {
			return f.place(entry.Name()).unwritable(err)
		}
	}
	return nil
}

// Remove removes a file of f durably; one that is not there is removed already. It
// returns PATH_NOT_ALLOWED and WRITE_FAILED.
func (f *Folder) Remove(name string) error {
	local, err := f.local(name)
	if err != nil {
		return err
	}
	if err := f.root.Remove(local); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return f.place(name).unwritable(err)
	}
	return f.place(name).unwritable(syncFolder(f.root, path.Dir(local)))
}

// SyncAll makes durable what other programs wrote to the file system of f, where the
// system can do that. It returns WRITE_FAILED.
func (f *Folder) SyncAll() error {
	if !canSyncAll {
		return nil
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return f.place(".").unwritable(err)
	}
	defer dir.Close()
	return f.place(".").unwritable(syncAll(dir))
}

// Size counts the files in f and below it, and their bytes. It returns
// READ_FAILED.
func (f *Folder) Size() (files, bytes int64, err error) {
	err = fs.WalkDir(f.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	if err != nil {
		return 0, 0, f.place(".").unreadable(err)
	}
	return files, bytes, nil
}

// SizeOf adds up the files in a folder that others write to, except those in the folder
// that without names and the program's own. What went away meanwhile counts nothing.
func SizeOf(files fs.FS, without string) (int64, error) {
	var size int64
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it went away, or is not ours to look at
		case without != "" && name == without:
			return fs.SkipDir
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".tidegate"):
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size, err
}
