package cell

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// probeName is the name by which the program knows that it is to try what a cell
// must refuse.
const probeName = "tidegate-probe"

// Here is what this machine has, asked for once. Whether it gives a program a network
// of its own, [Prove] finds out.
var Here = sync.OnceValue(func() System {
	return System{Name: "linux", ABI: landlockABI(), Filter: hasFilters(), Namespace: true}
})

// target is what a probe tries to reach.
type target struct {
	Policy Policy
	Secret string // a file or folder that it must not read
	Beside string // a file that it must not make
}

// Prove makes a cell and tries to break out of it: to read secret, to write beside
// the folder inside, to connect to a port, also by MPTCP and by fast open, and to
// make a unix socket. It returns the system with what it found out about it, or
// NOT_CONFINED with the reason. The folder inside must be there.
func Prove(s System, inside, secret string) (System, error) {
	hoped := s.Namespace
	s.Namespace = false
	if reason := s.Lacks(); reason != "" {
		return s, notConfined(s, reason)
	}
	inside = resolved(inside)
	t := target{Policy{System: s, Confined: true, Write: []string{inside}, Network: None}, secret, filepath.Join(filepath.Dir(inside), "beside")}
	task, err := json.Marshal(t)
	if err != nil {
		return s, err
	}
	// It is asked in a network of its own where there is one: so one start tells both.
	t.Policy.System.Namespace = hoped
	said, err := t.Policy.ask(string(task))
	if s.Namespace = hoped && err == nil; hoped && err != nil {
		t.Policy.System.Namespace = false
		said, err = t.Policy.ask(string(task))
	}
	switch {
	case err != nil:
		return s, notConfined(s, "the cell cannot be tried: "+err.Error())
	case said != "held":
		return s, notConfined(s, said)
	}
	return s, nil
}

// ask starts a probe and returns what it says.
func (p Policy) ask(task string) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer read.Close()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		write.Close()
		return "", err
	}
	const self = "/proc/self/exe"
	program := Program{Path: self, Args: []string{probeName, task}, Dir: "/", Files: [3]int{null, int(write.Fd()), null}, Listeners: -1}
	c := &calls{}
	flags, err := c.begin(p, program)
	if err == nil {
		err = c.become(program)
	}
	var pid int
	if err == nil {
		pid, err = c.fork(flags)
	}
	unix.Close(null)
	write.Close()
	if err != nil {
		return "", err
	}
	text := make([]byte, 4096)
	n, _ := read.Read(text)
	syscall.Wait4(pid, nil, 0, nil)
	if n == 0 {
		return "", fmt.Errorf("it said nothing")
	}
	return string(text[:n]), nil
}

func init() {
	if len(os.Args) == 2 && os.Args[0] == probeName {
		probe(os.Args[1])
	}
}

// probe says on standard output what the cell does not hold, or that it holds.
func probe(task string) {
	var t target
	said := "held"
	if err := json.Unmarshal([]byte(task), &t); err != nil {
		said = err.Error()
	} else if err := t.Policy.enter(); err != nil {
		said = err.Error()
	} else if open := t.breaks(); len(open) > 0 {
		said = "a program in it can " + strings.Join(open, ", ")
	}
	os.Stdout.WriteString(said)
	os.Exit(0)
}

// enter puts this thread into the cell.
func (p Policy) enter() error {
	runtime.LockOSThread()
	c := &calls{}
	defer c.close()
	if err := c.confine(p); err != nil {
		return err
	}
	if failed, errno := c.make(); errno != 0 {
		return c.list[failed].failure(errno)
	}
	return nil
}

// breaks are the ways out of the cell that this thread is in.
func (t target) breaks() (open []string) {
	try := func(what string, do func() error) {
		if err := do(); err != unix.EACCES && err != unix.EPERM {
			open = append(open, what)
		}
	}
	openFile := func(path string, flags int) func() error {
		return func() error {
			file, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
			if err == nil {
				unix.Close(file)
			}
			return err
		}
	}
	// Port 1 is closed: connecting is refused by the cell or by nobody who listens.
	port := &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}}
	socket := func(family, kind, protocol int, use func(fd int) error) func() error {
		return func() error {
			fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return use(fd)
		}
	}
	connect := func(fd int) error { return unix.Connect(fd, port) }
	try("read "+t.Secret, openFile(t.Secret, unix.O_RDONLY))
	try("write beside its folder", openFile(t.Beside, unix.O_WRONLY|unix.O_CREAT))
	try("connect to a port", socket(unix.AF_INET, unix.SOCK_STREAM, 0, connect))
	try("connect to a port by MPTCP", socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, connect))
	try("connect to a port by fast open", socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
		return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, port)
	}))
	try("send a datagram", socket(unix.AF_INET, unix.SOCK_DGRAM, 0, connect))
	try("make a unix socket", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(int) error { return nil }))
	return open
}
