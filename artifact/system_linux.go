package artifact

import (
	"os"

	"golang.org/x/sys/unix"
)

const canSyncAll = true

// syncAll makes durable whatever was written to the file system of f.
func syncAll(f *os.File) error { return onDescriptor(f, unix.Syncfs) }
