package artifact

import (
	"os"

	"golang.org/x/sys/unix"
)

const canSyncAll = true

// syncAll makes durable whatever was written to the file system of f.
func syncAll(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := conn.Control(func(fd uintptr) { failure = unix.Syncfs(int(fd)) }); err != nil {
		return err
	}
	return failure
}
