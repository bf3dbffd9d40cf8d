package cell

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a system call that is made later, where nothing else can be done: between
// fork and exec.
type call struct {
	name   string // for errors
	path   string // what it is about; "" for nothing
	number uintptr
	args   [6]uintptr
	on     *int32 // holds its first argument, which an earlier call returned; nil: args does
	into   *int32 // takes what it returns; nil: nobody does
	may    bool   // fail
}

// failure is the error of a call that failed.
func (c call) failure(errno syscall.Errno) error {
	if c.path != "" {
		return &os.PathError{Op: c.name, Path: c.path, Err: errno}
	}
	return os.NewSyscallError(c.name, errno)
}

// calls are what a process does to become a program in its cell.
type calls struct {
	list  []call
	kept  []any // what the arguments point to
	files []int // open for the calls
	net   int   // of these, where the files of a [Net] come from; 0: nowhere

	// Of a fork: the signals that its thread did not take, and the call that failed.
	before uint64
	failed int
	errno  syscall.Errno
}

const sizeOfMask = 8 // of signals, as the kernel has it

// add adds a call, which is there to be changed until the next one is added.
func (c *calls) add(name string, number uintptr, args ...uintptr) *call {
	next := call{name: name, number: number}
	copy(next.args[:], args)
	c.list = append(c.list, next)
	return &c.list[len(c.list)-1]
}

// close closes the files that are open for the calls.
func (c *calls) close() {
	for _, file := range c.files {
		unix.Close(file)
	}
}

// at is where something is that an argument points to. It stays there.
func at[T any](c *calls, value *T) uintptr {
	c.kept = append(c.kept, value)
	return uintptr(unsafe.Pointer(value))
}

// text is where a string is, with a zero behind it.
func (c *calls) text(s string) (uintptr, error) {
	pointer, err := syscall.BytePtrFromString(s)
	if err != nil {
		return 0, err
	}
	return at(c, pointer), nil
}

// texts is where a list of strings is.
func (c *calls) texts(list []string) (uintptr, error) {
	pointers, err := syscall.SlicePtrFromStrings(list)
	if err != nil {
		return 0, err
	}
	return at(c, &pointers[0]), nil
}

// make makes the calls one after the other, on this thread, until one fails that must
// not. It is what a forked process can do: it allocates nothing, takes no lock and needs
// no more stack.
//
//go:nosplit
//go:norace
func (c *calls) make() (failed int, errno syscall.Errno) {
	for i := range c.list {
		next := &c.list[i]
		first := next.args[0]
		if next.on != nil {
			first = uintptr(*next.on)
		}
		result, _, errno := syscall.RawSyscall6(next.number, first, next.args[1], next.args[2], next.args[3], next.args[4], next.args[5])
		if errno != 0 && !next.may {
			return i, errno
		}
		if next.into != nil {
			*next.into = int32(result)
		}
	}
	return 0, 0
}

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
