//go:build unix

package artifact

import (
	"errors"
	"os"
	"syscall"
)

// syncNames syncs an open folder. Some file systems cannot, and say so with
// EINVAL or ENOTSUP: there the order of operations is all that can be had.
func syncNames(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
