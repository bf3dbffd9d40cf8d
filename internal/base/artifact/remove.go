package artifact

import (
	"crypto/rand"
	"io/fs"
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
	return f.place(name).unwritable(syncFolder(f.root, "."))
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
