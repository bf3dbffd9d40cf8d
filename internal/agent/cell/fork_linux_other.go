//go:build linux && !amd64 && !arm64

package cell

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// vfork makes a process with a copy of this one's memory: that it failed, and could not
// become another program, is known by its exit alone.
//
//go:nosplit
//go:norace
func vfork(flags uintptr) (pid int) {
	first, second := flags&^unix.CLONE_VM, uintptr(0)
	if runtime.GOARCH == "s390x" {
		first, second = second, first
	}
	made, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, first, second, 0, 0, 0, 0)
	if errno != 0 {
		return -int(errno)
	}
	return int(made)
}
