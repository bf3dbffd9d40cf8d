package cell

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fork starts a process that makes the calls, the last of which makes it another
// program, and waits until it has. It fails as the call did that failed.
func (c *calls) fork(flags uintptr) (pid int, err error) {
	flags |= unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)
	parent := uintptr(os.Getpid())
	// While others have files open that are not closed on exec, no process may be made.
	syscall.ForkLock.Lock()
	// Go's handlers would run in the new process, too.
	runtime.LockOSThread()
	all := ^uint64(0)
	setMask(&all, &c.before)
	pid = c.forkAndMake(flags, parent)
	setMask(&c.before, nil)
	runtime.UnlockOSThread()
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(c)
	switch {
	case pid < 0:
		return 0, os.NewSyscallError("clone", syscall.Errno(-pid))
	case c.errno != 0:
		syscall.Wait4(pid, nil, 0, nil)
		return 0, c.list[c.failed].failure(c.errno)
	}
	return pid, nil
}

// setMask sets the signals that this thread does not take.
func setMask(to, before *uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(before)), sizeOfMask, 0, 0)
}

// forkAndMake forks, and makes the calls in the new process, which never returns. It is
// as [calls.make] is, and has its frame to itself: see [vfork].
//
//go:noinline
//go:nosplit
//go:norace
func (c *calls) forkAndMake(flags, parent uintptr) (pid int) {
	if pid = vfork(flags); pid != 0 {
		return pid
	}
	// It ends with the thread that started it, which may have ended already.
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if above, _, _ := syscall.RawSyscall6(unix.SYS_GETPPID, 0, 0, 0, 0, 0, 0); above == parent {
		c.failed, c.errno = c.make()
	}
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, 127, 0, 0, 0, 0, 0)
	}
}

// takeSignals has the process take signals as a started program does: this program's
// handlers are gone, what it ignores stays ignored, and what this thread took before the
// fork it takes again.
func (c *calls) takeSignals() {
	const ignored = 1
	// As the kernel has it: the handler, flags, a way back and a mask, which takes two
	// words where they are short.
	var none, is [5]uintptr
	handler := at(c, &none)
	for signal := uintptr(1); signal <= 64; signal++ {
		_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, signal, 0, uintptr(unsafe.Pointer(&is)), sizeOfMask, 0, 0)
		// This program may catch what nobody catches yet before it forks.
		if errno == 0 && is[0] != ignored {
			c.add("rt_sigaction", unix.SYS_RT_SIGACTION, signal, handler, 0, sizeOfMask).may = true
		}
	}
	c.add("rt_sigprocmask", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, at(c, &c.before), 0, sizeOfMask)
}
