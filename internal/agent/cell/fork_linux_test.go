package cell

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestEachCallCounts has each call fail that must not, one after the other: the program
// is not started then, the error is that of the call, and nothing is left of the process.
// This thread stays as it was, then and when the program is started.
func TestEachCallCounts(t *testing.T) {
	system := must.Get(Prove(Here(), t.TempDir(), t.TempDir()))(t)
	ends := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	read, write := must.Both(os.Pipe())(t)
	defer read.Close()
	defer write.Close()
	program := Program{Path: "/bin/echo", Args: []string{"echo", "started"}, Dir: "/", Files: [3]int{0, int(write.Fd()), 2}, Listeners: ends[0]}
	policy := Policy{System: system, Confined: true, Read: []string{"/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache"}, Network: Model, Listen: []string{"127.0.0.1:4711"}, MaxFile: 1 << 20}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	free := thisThread(t)
	const noSuchCall = 9999
	counted := 0
	unix.SetNonblock(ends[1], true)
	closeDoors := func() {
		for doors, err := receive(ends[1]); err == nil; doors, err = receive(ends[1]) {
			for _, door := range doors {
				unix.Close(door)
			}
		}
	}
	countEach := func() {
		for failing, left := 0, 1; left > 0; failing++ {
			before := openFiles(t)
			c := &calls{}
			flags, err := c.begin(policy, program)
			if err == nil {
				err = c.confine(policy)
			}
			if err == nil {
				err = c.become(program)
			}
			if err != nil {
				t.Fatal(err)
			}
			if left = len(c.list) - failing - 1; !c.list[failing].may {
				counted++
				c.list[failing].number = noSuchCall
				if _, err := c.fork(flags); !errors.Is(err, syscall.ENOSYS) || c.failed != failing {
					t.Errorf("call %d, %s: got %v of call %d", failing, c.list[failing].name, err, c.failed)
				}
			}
			c.close()
			closeDoors()
			if after := openFiles(t); after != before {
				t.Fatalf("call %d, %s: %d files are open, and were %d", failing, c.list[failing].name, after, before)
			}
		}
	}
	countEach()
	program.Net = new(Net)
	defer program.Net.Close()
	countEach() // it is made
	pid := must.Get(Start(policy, program))(t)
	syscall.Wait4(pid, nil, 0, nil)
	closeDoors()
	countEach() // and handed on
	if now := thisThread(t); now != free {
		t.Errorf("whoever starts a program is\n%s, and was\n%s", now, free)
	}
	if counted < 50 {
		t.Errorf("%d calls count", counted)
	}
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a process is left: %d, %v", pid, err)
	}
	said := make([]byte, 100)
	if n, _ := read.Read(said); string(said[:n]) != "started\n" {
		t.Errorf("it said %q", said[:n])
	}
}

// TestANetworkThatNobodyCanHandOn: a program is started all the same where the files of its
// network cannot be opened, and the next one has another.
func TestANetworkThatNobodyCanHandOn(t *testing.T) {
	system := must.Get(Prove(Here(), t.TempDir(), t.TempDir()))(t)
	if !system.Namespace {
		t.Skip("this system gives a program no network of its own")
	}
	program := Program{Path: "/bin/true", Args: []string{"true"}, Files: [3]int{0, 1, 2}, Listeners: -1, Net: new(Net)}
	policy := Policy{System: system, Confined: true, Read: []string{"/usr"}, Network: None}
	before := openFiles(t)
	for lost := range 3 {
		c := &calls{}
		flags, err := c.begin(policy, program)
		if err == nil {
			err = c.become(program)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.list {
			if c.list[i].path == "/proc/self/net/sockstat" || c.list[i].path == "/proc/self/ns/net" && lost > 0 || lost > 1 && c.list[i].name == "sendmsg" {
				c.list[i].number = 9999 // no call has it
			}
		}
		pid := must.Get(c.fork(flags))(t)
		if files, err := receive(c.net); err == nil {
			t.Errorf("%d files came", len(files))
		}
		c.close()
		syscall.Wait4(pid, nil, 0, nil)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, and were %d", after, before)
	}
}

// TestFilesThatGotLost: a program that is given part of a network's files would be in this
// machine's.
func TestFilesThatGotLost(t *testing.T) {
	ends := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	before := openFiles(t)
	var room unix.Rlimit
	must.Do(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &room))
	for _, spare := range []int{0, 1, 2} {
		must.Do(t, unix.Sendmsg(ends[0], []byte{3}, unix.UnixRights(0, 1, 2), nil, 0))
		next, err := unix.Dup(0) // the first number that is free
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(next)
		must.Do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(next + spare), Max: room.Max}))
		files, err := receive(ends[1])
		must.Do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &room))
		if err == nil || len(files) > 0 {
			t.Errorf("with room for %d: %v, %v", spare, files, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("with room for %d: %d files are open, and were %d", spare, after, before)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list := must.Get(os.ReadDir("/proc/self/fd"))(t)
	return len(list)
}

// thisThread is what a process that shares its memory could have changed of this thread.
func thisThread(t *testing.T) string {
	t.Helper()
	var said strings.Builder
	status := must.Get(os.ReadFile("/proc/thread-self/status"))(t)
	limits := must.Get(os.ReadFile("/proc/thread-self/limits"))(t)
	said.Write(limits)
	said.WriteString(strings.Join(regexp.MustCompile(`(?m)^(Umask|[UG]id|Groups|Sig(Blk|Ign|Cgt)|Cap...|NoNewPrivs|Seccomp|Seccomp_filters):.*\n`).FindAllString(string(status), -1), ""))
	for _, link := range []string{"cwd", "ns/net", "ns/ipc", "ns/user"} {
		to := must.Get(os.Readlink("/proc/thread-self/" + link))(t)
		said.WriteString(to + "\n")
	}
	dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	bits, _ := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	fmt.Fprintln(&said, dumpable, bits, unix.Getpgrp())
	return said.String()
}
