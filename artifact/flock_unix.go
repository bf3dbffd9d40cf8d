//go:build unix

package artifact

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the exclusive OS lock of f and reports whether it got it. The
// lock belongs to the open file, not to the process, so that it also holds off
// other goroutines.
func tryLock(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives the lock back at once, even while a child process that is just
// being started has a copy of the descriptor.
func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := conn.Control(func(fd uintptr) {
		for {
			if failure = unix.Flock(int(fd), how); failure != unix.EINTR {
				return
			}
		}
	}); err != nil {
		return err
	}
	return failure
}
