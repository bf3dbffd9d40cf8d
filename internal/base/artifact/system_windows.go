package artifact

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// nonblock does nothing on Windows, where no name in a folder is a FIFO.
const nonblock = 0

// tryLock takes the exclusive OS lock of f and reports whether it got it. The
// lock belongs to the handle, not to the process, so that it also holds off
// other goroutines.
func tryLock(f *os.File) (bool, error) {
	err := onHandle(f, func(h windows.Handle) error {
		return windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// tryShare is tryLock for a lock that others may share, and that an exclusive
// one holds off.
func tryShare(f *os.File) (bool, error) {
	err := onHandle(f, func(h windows.Handle) error {
		return windows.LockFileEx(h, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock.
func unlock(f *os.File) error {
	return onHandle(f, func(h windows.Handle) error {
		return windows.UnlockFileEx(h, 0, 1, 0, new(windows.Overlapped))
	})
}

// hasOtherName reports whether an open file has more than one name.
func hasOtherName(f *os.File) (bool, error) {
	var info windows.ByHandleFileInformation
	err := onHandle(f, func(h windows.Handle) error { return windows.GetFileInformationByHandle(h, &info) })
	return info.NumberOfLinks > 1, err
}

// numbersOf are the device of an open file and its number there.
func numbersOf(f *os.File) (device, number uint64, err error) {
	var info windows.ByHandleFileInformation
	err = onHandle(f, func(h windows.Handle) error { return windows.GetFileInformationByHandle(h, &info) })
	return uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), err
}

// onHandle makes a system call on an open file.
func onHandle(f *os.File, call func(windows.Handle) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := conn.Control(func(fd uintptr) { failure = call(windows.Handle(fd)) }); err != nil {
		return err
	}
	return failure
}

// syncNames does nothing on Windows, which cannot sync a folder.
func syncNames(*os.File) error { return nil }

// isRunning reports whether there is a process of that number, and true when that
// cannot be found out.
func isRunning(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(process)
	const stillActive = 259
	var code uint32
	return windows.GetExitCodeProcess(process, &code) != nil || code == stillActive
}
