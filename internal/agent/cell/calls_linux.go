package cell

import (
	"os"
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
