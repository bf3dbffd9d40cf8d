//go:build unix

package artifact

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps the opening of a FIFO from waiting for its other end. For a
// regular file it has no effect.
const nonblock = syscall.O_NONBLOCK

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

// tryShare is tryLock for a lock that others may share, and that an exclusive
// one holds off.
func tryShare(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock at once, even while a child process that is just
// being started has a copy of the descriptor.
func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	return onDescriptor(f, func(fd int) error {
		for {
			if err := unix.Flock(fd, how); err != unix.EINTR {
				return err
			}
		}
	})
}

// onDescriptor makes a system call on an open file.
func onDescriptor(f *os.File, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := conn.Control(func(fd uintptr) { failure = call(int(fd)) }); err != nil {
		return err
	}
	return failure
}

// hasOtherName reports whether an open file has more than one name.
func hasOtherName(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1, nil
}

// numbersOf are the device of an open file and its number there.
func numbersOf(f *os.File) (device, number uint64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		device, number = uint64(stat.Dev), uint64(stat.Ino)
	}
	return device, number, nil
}

// syncNames syncs an open folder. Some file systems cannot, and say so with
// EINVAL or ENOTSUP: there only the order of operations helps.
func syncNames(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// isRunning reports whether there is a process of that number.
func isRunning(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
