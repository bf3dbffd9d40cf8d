// Package setclock runs a program of Go under a clock that a test sets forward and back
// while the program runs, as a person or a time server sets that of a machine: the time of
// day jumps, and durations go on. The program is the built one; only the name of the
// function is changed by which it would read the clock past the kernel.
package setclock

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tidegate/tidegate/internal/test/must"
)

// Copy copies a program and makes the copy ask the kernel for the time.
func Copy(t testing.TB, program, to string) {
	t.Helper()
	data := must.Get(os.ReadFile(program))(t)
	// Both names have a length that stays.
	changed := bytes.ReplaceAll(data, []byte("__vdso_clock_gettime"), []byte("__none_clock_gettime"))
	changed = bytes.ReplaceAll(changed, []byte("__kernel_clock_gettime"), []byte("__nobody_clock_gettime"))
	must.Do(t, os.WriteFile(to, changed, 0o700))
}

// Off says by how much the clock of a program is off from that of the machine when the
// program looks at it for the nth time. It is called by one goroutine.
type Off func(look int) time.Duration

// variable makes the test binary start the program of its arguments.
const variable = "TIDEGATE_TEST_SETCLOCK"

// Start starts a program that [Copy] made, with what is set in the command, under a clock
// that is off. It skips the test where the kernel does not allow that.
func Start(t testing.TB, command *exec.Cmd, off Off) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pair := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	defer unix.Close(pair[0])
	far := os.NewFile(uintptr(pair[1]), "socket")
	command.Args = append([]string{self, command.Path}, command.Args[1:]...)
	command.Path = self
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, variable+"=1")
	command.ExtraFiles = []*os.File{far}
	err = command.Start()
	far.Close()
	if err != nil {
		t.Fatal(err)
	}
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	var fds []int
	if messages, parsed := unix.ParseSocketControlMessage(rights[:n]); err == nil && parsed == nil && len(messages) == 1 {
		fds, _ = unix.ParseUnixRights(&messages[0])
	}
	if len(fds) != 1 {
		command.Process.Kill()
		command.Wait()
		t.Skip("the kernel does not let others answer for it")
	}
	go off.answer(fds[0])
}

// notice is what the kernel says of a call: struct seccomp_notif.
type notice struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

const (
	receiveNotice = 0xc0502100
	sendReply     = 0xc0182101
)

// answer answers what time it is until no program is left that asks.
func (off Off) answer(listener int) {
	defer unix.Close(listener)
	for look := 1; ; {
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		} else if err != nil || ready[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notice
		if _, _, failed := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), receiveNotice, uintptr(unsafe.Pointer(&n))); failed != 0 {
			continue // it was killed meanwhile
		}
		now := time.Now().Add(off(look))
		look++
		said := binary.NativeEndian.AppendUint64(nil, uint64(now.Unix()))
		said = binary.NativeEndian.AppendUint64(said, uint64(now.Nanosecond()))
		r := reply{id: n.id}
		if memory, err := os.OpenFile("/proc/"+strconv.Itoa(int(n.pid))+"/mem", os.O_WRONLY, 0); err != nil {
			r.err = -int32(unix.EPERM)
		} else {
			if _, err := memory.WriteAt(said, int64(n.args[1])); err != nil {
				r.err = -int32(unix.EFAULT)
			}
			memory.Close()
		}
		unix.Syscall(unix.SYS_IOCTL, uintptr(listener), sendReply, uintptr(unsafe.Pointer(&r)))
	}
}

func init() {
	if os.Getenv(variable) == "" {
		return
	}
	err := becomeProgram()
	fmt.Fprintln(os.Stderr, "setclock:", err)
	os.Exit(127)
}

// becomeProgram gives the right to answer for the kernel to the test, and becomes the
// program.
func becomeProgram() error {
	const socket = 3
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	number, clock := uint32(unix.SYS_CLOCK_GETTIME), uint32(unix.CLOCK_REALTIME)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // the lower half of the first argument
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: clock, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if failed != 0 {
		return failed
	}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.Close(int(listener))
	unix.Close(socket)
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	return syscall.Exec(os.Args[1], os.Args[1:], environ)
}
