//go:build unix

package artifact

import (
	"os"
	"syscall"
)

// hasOtherName reports whether an open file has more than one name.
func hasOtherName(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1, nil
}
