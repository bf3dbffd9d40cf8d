//go:build !linux

package artifact

import (
	"errors"
	"io/fs"
	"os"
)

const canSyncAll = false

func syncAll(*os.File) error { return errors.ErrUnsupported }

// parentOf is the process that started a process, as far as it is known: here
// only the parent of this process.
func parentOf(pid int) (int, bool) { return os.Getppid(), pid == os.Getpid() }

// stampOf is the stamp of a file that was looked at; told is false where the
// system has none.
func stampOf(fs.FileInfo, error) (s stamp, told bool) { return stamp{}, false }
