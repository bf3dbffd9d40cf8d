package artifact

import (
	"errors"
	"io/fs"
)

// IsLink reports whether name itself is a symbolic link; what is not there is
// none. It returns PATH_NOT_ALLOWED and READ_FAILED.
func (f *Folder) IsLink(name string) (bool, error) {
	local, err := f.local(name)
	if err != nil {
		return false, err
	}
	info, err := f.root.Lstat(local)
	switch {
	case err == nil:
		return info.Mode()&fs.ModeSymlink != 0, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, f.place(name).unreadable(err)
}
