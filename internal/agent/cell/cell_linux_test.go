package cell_test

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/sys/unix"
)

// tries are what a program in a cell tries. Each says what became of it.
var tries = map[string]func(arg string) error{
	"read": func(path string) error { _, err := os.ReadFile(path); return err },
	"list": func(path string) error { _, err := os.ReadDir(path); return err },
	"write": func(path string) error {
		return os.WriteFile(path, []byte("x"), 0o600)
	},
	"truncate": func(path string) error { return os.Truncate(path, 0) },
	"remove":   func(path string) error { return os.Remove(path) },
	"link": func(path string) error {
		old, at, _ := strings.Cut(path, " ")
		return os.Link(old, at)
	},
	"visit": func(address string) error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = io.ReadAll(conn) // until it is sent away
		return err
	},
	"connect": func(address string) error {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err
	},
	"mptcp": func(port string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, func(fd int) error { return unix.Connect(fd, loopback(port)) })
	},
	"fast open": func(port string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, loopback(port)) })
	},
	"fast open by sendmsg": func(port string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
			return unix.Sendmsg(fd, []byte("x"), nil, loopback(port), unix.MSG_FASTOPEN)
		})
	},
	"udp":     func(string) error { return withSocket(unix.AF_INET, unix.SOCK_DGRAM, 0, nil) },
	"raw":     func(string) error { return withSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, nil) },
	"unix":    func(string) error { return withSocket(unix.AF_UNIX, unix.SOCK_STREAM, 0, nil) },
	"vsock":   func(string) error { return withSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0, nil) },
	"netlink": func(string) error { return withSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, nil) },
	"uevents": func(string) error {
		return withSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT, nil)
	},
	"pair":  func(string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"serve": func(address string) error { return serve(cmp.Or(address, "127.0.0.1:0")) },
	"take": func(port string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Bind(fd, loopback(port)) })
	},
	"hide a server": func(address string) error {
		server, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		file, err := server.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		// In a message to itself, from which it is taken by nobody, also once the program has ended.
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(int(file.Fd()), pair[0], pair[1]), nil, 0)
	},
	"pair that sends anywhere": func(path string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
	},
	"raw pair":             func(string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_RAW, 0); return err },
	"pair of another kind": func(string) error { _, err := unix.Socketpair(unix.AF_TIPC, unix.SOCK_STREAM, 0); return err },
	"socket of another kind": func(string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_ULP, "smc") })
	},
	"lease": func(path string) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	},
	"end memory": func(id string) error {
		n, _ := strconv.Atoi(id)
		_, err := unix.SysvShmCtl(n, unix.IPC_RMID, nil)
		return err
	},
	"end messages": call(unix.SYS_MSGCTL, 0, unix.IPC_RMID),
	"limits": func(pid string) error {
		n, _ := strconv.Atoi(pid)
		return unix.Prlimit(n, unix.RLIMIT_CPU, &unix.Rlimit{Cur: 1000, Max: 1000}, nil)
	},
	"own limits":          func(string) error { return unix.Prlimit(0, unix.RLIMIT_CPU, nil, new(unix.Rlimit)) },
	"userfaultfd":         call(unix.SYS_USERFAULTFD, 1, 0),
	"priority":            of(func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) }),
	"priority of a group": of(func(group int) error { return unix.Setpriority(unix.PRIO_PGRP, group, 19) }),
	"priority of a user":  of(func(user int) error { return unix.Setpriority(unix.PRIO_USER, user, 19) }),
	"priority of files":   of(func(pid int) error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 3<<13)("") }),
	"files of a user":     of(func(user int) error { return call(unix.SYS_IOPRIO_SET, 3, uintptr(user), 3<<13)("") }),
	"processors": of(func(pid int) error {
		var all unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return err
		}
		return unix.SchedSetaffinity(pid, &all)
	}),
	"scheduler": of(func(pid int) error {
		return call(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid), unix.SCHED_BATCH, at(new(int32)))("")
	}),
	"scheduler's numbers": of(func(pid int) error { return call(unix.SYS_SCHED_SETPARAM, uintptr(pid), at(new(int32)))("") }),
	"scheduler's values":  of(func(pid int) error { return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0) }),
	"watch": func(folder string) error {
		fd, err := unix.InotifyInit1(0)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, folder, unix.IN_ALL_EVENTS)
		}
		return asRefusal(unix.ENOSPC, err)
	},
	"watch by fanotify":               call(unix.SYS_FANOTIFY_INIT, unix.FAN_REPORT_FID, 0),
	"mark by fanotify":                call(unix.SYS_FANOTIFY_MARK, ^uintptr(0), 0),
	"user namespace":                  func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"clone":                           func(string) error { return child(uintptr(unix.SIGCHLD)) },
	"clone to another user namespace": func(string) error { return child(unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)) },
	"clone3":                          func(string) error { return asRefusal(unix.ENOSYS, call(unix.SYS_CLONE3, 0, 0)("")) },
	"namespaces of another":           call(unix.SYS_SETNS, ^uintptr(0), 0),
	"tree of mounts":                  func(path string) error { _, err := unix.OpenTree(unix.AT_FDCWD, path, 0); return err },
	"change mounts":                   call(unix.SYS_MOUNT_SETATTR, ^uintptr(0), 0),
	"attribute": func(path string) error {
		return asRefusal(unix.EOPNOTSUPP, unix.Setxattr(path, "user.tidegate", []byte("x"), 0))
	},
	"read attributes": func(path string) error {
		_, err := unix.Listxattr(path, nil)
		return asRefusal(unix.EOPNOTSUPP, err)
	},
	"memory": func(id string) error {
		n, _ := strconv.Atoi(id)
		_, err := unix.SysvShmAttach(n, 0, unix.SHM_RDONLY)
		return err
	},
	"messages": call(unix.SYS_MSGGET, 0, unix.IPC_CREAT),
	"network": func(string) error {
		space, err := os.Readlink("/proc/self/ns/net")
		return cmp.Or(err, errors.New(space))
	},
	"queues of others": func(string) error {
		queues, err := os.ReadFile("/proc/sysvipc/msg")
		if lines := strings.Count(string(queues), "\n"); err == nil && lines == 1 { // the head of the table
			err = syscall.EPERM
		}
		return err
	},
	"paste": call(unix.SYS_IOCTL, 0, unix.TIOCLINUX),
	"be called": func(string) error {
		return withSocket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Listen(fd, 1) })
	},
	"io_uring":  call(unix.SYS_IO_URING_SETUP, 1, 0),
	"ptrace":    call(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0),
	"vm":        call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid()), 0),
	"keyctl":    call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, 0),
	"bpf":       call(unix.SYS_BPF, 99, 0),
	"perf":      call(unix.SYS_PERF_EVENT_OPEN, 0, 0),
	"getfd":     call(unix.SYS_PIDFD_GETFD, ^uintptr(0), 0),
	"sticky":    call(unix.SYS_IOCTL, 0, unix.TIOCSTI),
	"foreign":   call(0x40000000+unix.SYS_GETPID, 0, 0),
	"seteuid":   func(string) error { return unix.Setresuid(65534, 65534, 65534) },
	"core file": func(string) error { return limited(unix.RLIMIT_CORE) },
	"big file": func(path string) error {
		signalIgnored()
		return os.WriteFile(path, make([]byte, 2<<20), 0o600)
	},
	"mark": func(string) error {
		if below, _ := cell.Below("none"); below {
			return syscall.EPERM
		}
		return nil
	},
	"change places": func(string) error {
		// What it reads is its third stream, where it writes its first, and it says nothing.
		pid, err := cell.Start(cell.Policy{System: cell.Here()}, cell.Program{Path: "/bin/sh", Args: []string{"sh", "-c", "cat 3>&0 <&2 >&3"}, Files: [3]int{1, 2, 0}, Listeners: -1})
		if err == nil {
			_, err = syscall.Wait4(pid, nil, 0, nil)
		}
		unix.Close(1)
		return err
	},
	"hand on where nobody may enter": func(string) error { return handOnRefused() },
	"own": func(path string) error {
		if _, owns := cell.Below("none"); !owns(path) {
			return syscall.EPERM
		}
		return nil
	},
	"hide the mark": func(string) error { return hideMark() },
	"own what it says": func(path string) error {
		if err := forgeMark(path); err != nil {
			return err
		}
		if below, owns := cell.Below("none"); !below || !owns(path) {
			return syscall.EPERM
		}
		return nil
	},
	"signal": func(pid string) error {
		n, _ := strconv.Atoi(pid)
		return syscall.Kill(n, 0)
	},
	"end all": func(string) error { return endAll() },
	"state":   func(string) error { return state() },
	"below": func(what string) error { // in a child of its own
		child := exec.Command("/proc/self/exe")
		child.Env = []string{"TRY=" + what}
		out, err := child.Output()
		if err != nil {
			return err
		}
		return said(string(out))
	},
}

func call(number uintptr, args ...uintptr) func(string) error {
	return func(string) error {
		var all [6]uintptr
		copy(all[:], args)
		if _, _, errno := unix.Syscall6(number, all[0], all[1], all[2], all[3], all[4], all[5]); errno != 0 {
			return errno
		}
		return nil
	}
}

// at is where something is that an argument points to.
func at[T any](value *T) uintptr { return uintptr(unsafe.Pointer(value)) }

// of tries something with a number.
func of(do func(n int) error) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		return cmp.Or(err, do(n))
	}
}

// asRefusal is err, and a refusal where a cell gives it the form of another error, by which
// programs take another way.
func asRefusal(form syscall.Errno, err error) error {
	if err == form {
		return syscall.EPERM
	}
	return err
}

// child makes a process that ends at once.
func child(flags uintptr) error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	switch {
	case errno != 0:
		return errno
	case pid == 0:
		unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
	_, err := syscall.Wait4(int(pid), nil, 0, nil)
	return err
}

func withSocket(family, kind, protocol int, use func(fd int) error) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil && use != nil {
		err = use(fd)
	}
	return err
}

func loopback(port string) *unix.SockaddrInet4 {
	n, _ := strconv.Atoi(port)
	return &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}
}

func serve(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err == nil {
		_, err = io.ReadAll(conn) // until it is sent away
		conn.Close()
	}
	return err
}

func limited(what int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(what, &limit); err != nil || limit.Max == 0 {
		return syscall.EPERM
	}
	return nil
}

func signalIgnored() {
	// A write past the limit is an error then, and not the end.
	action := struct{ handler, flags, restorer, mask uintptr }{handler: 1}
	unix.Syscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGXFSZ), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}

// hideMark loads filters that answer every prctl with success, or with the error
// that a kernel has for a question that it does not know, and asks for the mark.
func hideMark() error {
	for _, answer := range []uint32{unix.SECCOMP_RET_ERRNO, unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL), unix.SECCOMP_RET_TRACE} {
		program := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PRCTL, Jf: 1},
			{Code: unix.BPF_RET, K: answer},
			{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
		}
		loaded := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&loaded))); errno != 0 {
			return fmt.Errorf("the filter cannot be loaded: %w", errno)
		}
	}
	if below, _ := cell.Below("none"); below {
		return syscall.EPERM
	}
	return nil
}

// forgeMark loads a filter that says by the rules of the mark that a folder is the agent's:
// beside what the mark says, as its only folder, and as one more.
func forgeMark(folder string) error {
	digest := sha256.Sum256([]byte(folder))
	refused := []uint32{0xffff<<8 | 1, 0xffff<<8 | 2, 0xffff<<8 | 3}
	for place := range 3 * 16 {
		refused = append(refused, uint32(place)<<8|uint32(digest[place%16]))
	}
	for _, of := range [][]uint32{refused[:2], refused[3:], refused[:1], refused[2:]} {
		program := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PRCTL, Jt: 1},
			{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 8*3},
		}
		for _, question := range of {
			program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: question, Jf: 1}, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | 1})
		}
		program = append(program, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW})
		loaded := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&loaded))); errno != 0 {
			return fmt.Errorf("the filter cannot be loaded: %w", errno)
		}
		if _, owns := cell.Below("none"); owns(folder) {
			return nil
		}
	}
	return nil
}

// handOnRefused starts programs in one network where namespaces can be made and not
// entered, as below a service manager that restricts them.
func handOnRefused() error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SETNS, Jf: 1},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	loaded := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&loaded))); errno != 0 {
		return errno
	}
	policy := cell.Policy{System: cell.Here(), Confined: true, Network: cell.None, Read: []string{"/usr"}}
	var handedOn cell.Net
	for range 3 {
		pid, err := cell.Start(policy, cell.Program{Path: "/usr/bin/true", Args: []string{"true"}, Files: [3]int{0, 1, 2}, Listeners: -1, Net: &handedOn})
		if err != nil {
			return fmt.Errorf("not started: %v", err)
		}
		syscall.Wait4(pid, nil, 0, nil)
	}
	return nil
}

// endAll ends every process that it can reach, once it is enclosed: one that has left it,
// and none that was there before.
func endAll() error {
	runtime.LockOSThread()
	if !cell.Enclose() {
		return errors.New("it is not enclosed")
	}
	out, err := exec.Command("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		return err
	}
	unix.Kill(-1, unix.SIGKILL)
	for {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(out)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return nil
		}
	}
}

// state is what this process was made, as an error.
func state() error {
	var said []string
	for file := 3; file < 1024; file++ { // before this program opens any
		if _, err := unix.FcntlInt(uintptr(file), unix.F_GETFD, 0); err == nil {
			said = append(said, fmt.Sprintf("file %d", file))
		}
	}
	var death int32
	unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&death)), 0, 0, 0)
	bits, _ := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	said = append(said, fmt.Sprintf("leads its group: %v, death: %v, bits: %d", unix.Getpgrp() == os.Getpid(), unix.Signal(death), bits))
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if name, value, _ := strings.Cut(line, ":\t"); strings.HasPrefix(name, "Cap") || name == "NoNewPrivs" || name == "Seccomp" {
			said = append(said, name+" "+strings.TrimLeft(value, "0"))
		}
	}
	return errors.New(strings.Join(said, ", "))
}

// try tries a list of things, one a line, and says of each what became of it.
func try(list string) {
	for line := range strings.SplitSeq(list, "\n") {
		what, arg, _ := strings.Cut(line, ":")
		err := tries[what](arg)
		switch {
		case err == nil:
			fmt.Println("done")
		case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EXDEV): // so Landlock refuses a link
			fmt.Println("refused")
		default:
			fmt.Println(err)
		}
	}
}

func said(out string) error {
	switch out = strings.TrimSpace(out); out {
	case "done":
		return nil
	case "refused":
		return syscall.EPERM
	default:
		return errors.New(out)
	}
}

// house is a folder with one that is allowed and one that is not.
type house struct {
	dir, work, secret, program string
	listener                   net.Listener
	policy                     cell.Policy
	net                        *cell.Net
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{dir: t.TempDir()}
	h.work, h.secret = filepath.Join(h.dir, "work"), filepath.Join(h.dir, "secret")
	h.program = filepath.Join(h.dir, "bin", "program")
	for _, err := range []error{
		os.Chmod(h.dir, 0o755), os.Chmod(filepath.Dir(h.dir), 0o755), os.Mkdir(h.work, 0o777), os.Chmod(h.work, 0o777), os.Mkdir(h.secret, 0o777), os.Mkdir(filepath.Dir(h.program), 0o755),
		os.WriteFile(filepath.Join(h.secret, "file"), []byte("secret"), 0o666), os.Chmod(filepath.Join(h.secret, "file"), 0o666), os.Chmod(h.secret, 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	self := must.Get(os.Executable())(t)
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(h.program, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.listener.Close() })
	h.policy = cell.Policy{
		System: withoutNetwork(), Confined: true, Network: cell.None,
		Read: []string{filepath.Dir(h.program), "/proc", "/lib", "/lib64", "/usr/lib"}, Write: []string{h.work}, Devices: []string{"/dev/null"},
		MaxFile: 1 << 20, Own: []string{h.work},
	}
	return h
}

// withoutNetwork is this machine, as if it gave no program a network of its own.
func withoutNetwork() cell.System {
	s := cell.Here()
	s.Namespace = false
	return s
}

func (h *house) port() string {
	_, port, _ := net.SplitHostPort(h.listener.Addr().String())
	return port
}

// run lets a program in the cell try things, and returns what became of each.
func (h *house) run(t *testing.T, list ...string) []string {
	t.Helper()
	out := saidBy(t, func(stdout int) (int, error) {
		return cell.Start(h.policy, cell.Program{
			Path: h.program, Args: []string{h.program}, Dir: h.work, Env: []string{"TRY=" + strings.Join(list, "\n"), "SECRET=of a stranger"}, Files: [3]int{0, stdout, 2}, Listeners: -1, Net: h.net,
		})
	})
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(list) {
		t.Fatalf("it said %q", out)
	}
	return lines
}

// saidBy is what a program says on its standard output until it ends.
func saidBy(t *testing.T, start func(stdout int) (pid int, err error)) string {
	t.Helper()
	read, write := must.Both(os.Pipe())(t)
	defer read.Close()
	pid, err := start(int(write.Fd()))
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(read)
	syscall.Wait4(pid, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// inbox is a unix socket of the person's that takes datagrams.
func (h *house) inbox(t *testing.T) string {
	t.Helper()
	at := filepath.Join(h.work, "inbox")
	os.Remove(at)
	l := must.Get(net.ListenPacket("unixgram", at))(t)
	t.Cleanup(func() { l.Close() })
	return at
}

// share is a try of memory that the person's programs share.
func (h *house) share(t *testing.T) string {
	t.Helper()
	id := must.Get(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600))(t)
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return fmt.Sprintf("memory:%d", id)
}

// check is [house.run] for things of which each must be done or refused.
func (h *house) check(t *testing.T, want string, list ...string) {
	t.Helper()
	for i, got := range h.run(t, list...) {
		if got != want {
			t.Errorf("%s: %s, want %s", list[i], got, want)
		}
	}
}

// asUser calls the test once more as the user nobody, where this is root.
func asUser(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 || os.Getenv("AS_USER") != "" {
		return
	}
	t.Run("as a user", func(t *testing.T) {
		dir, err := os.MkdirTemp("/tmp", "cell") // TMPDIR may be root's alone
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		os.Chmod(dir, 0o755)
		program := filepath.Join(dir, "test")
		self, err := os.ReadFile("/proc/self/exe")
		if err == nil {
			err = os.WriteFile(program, self, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		temp := filepath.Join(dir, "temp")
		os.Mkdir(temp, 0o777)
		os.Chmod(temp, 0o777)
		name, _, _ := strings.Cut(t.Name(), "/")
		command := exec.Command(program, "-test.run=^"+name+"$", "-test.v")
		command.Dir = temp
		command.Env = []string{"AS_USER=1", "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH")}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// scheduled are tries of what a process may change of itself and of no other.
var scheduled = []string{"priority", "priority of files", "processors", "scheduler", "scheduler's numbers", "scheduler's values"}

func TestWhatACellHolds(t *testing.T) {
	h := newHouse(t)
	file := filepath.Join(h.secret, "file")
	stranger := exec.Command("sleep", "1000")
	stranger.Env = []string{"SECRET=1"}
	must.Do(t, stranger.Start())
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	environ := fmt.Sprintf("read:/proc/%d/environ", stranger.Process.Pid)
	limits := fmt.Sprintf("limits:%d", stranger.Process.Pid)
	memory := h.share(t)
	shared := strings.TrimPrefix(memory, "memory:")
	refused := []string{
		"read:" + file, "list:" + h.secret, "list:" + h.dir, "list:/", "write:" + filepath.Join(h.secret, "made"), "write:" + file, "truncate:" + file, "remove:" + file,
		"write:" + filepath.Join(h.dir, "beside"), "read:/etc/passwd", "link:" + file + " " + filepath.Join(h.work, "linked"),
		environ, "read:/proc/self/../" + strconv.Itoa(os.Getpid()) + "/environ",
		"connect:" + h.listener.Addr().String(), "mptcp:" + h.port(), "fast open:" + h.port(), "fast open by sendmsg:" + h.port(), "udp", "raw", "unix", "vsock", "uevents",
		"io_uring", "ptrace", "vm", "keyctl", "bpf", "perf", "getfd", "sticky", "paste", "foreign", "core file", "pair that sends anywhere:" + h.inbox(t), "raw pair", "pair of another kind", "socket of another kind", "lease:" + h.program, "end memory:" + shared, "end messages", limits, "userfaultfd", "messages", "be called", memory, "mark", "hide the mark",
		"below:read:" + file, "below:mark", "below:unix",
		"watch:" + h.secret, "watch by fanotify", "mark by fanotify", "user namespace", "clone to another user namespace", "clone3", "namespaces of another", "tree of mounts:" + h.work, "change mounts",
		"attribute:" + file, "read attributes:" + file, "priority of a group:0", "priority of a user:0", "files of a user:0",
	}
	for _, what := range scheduled {
		refused = append(refused, fmt.Sprintf("%s:%d", what, stranger.Process.Pid))
	}
	if os.Getuid() == 0 {
		refused = append(refused, "seteuid")
	}
	if h.policy.System.ABI >= 6 {
		refused = append(refused, fmt.Sprintf("signal:%d", stranger.Process.Pid))
	}
	h.check(t, "refused", refused...)
	made := filepath.Join(h.work, "made")
	h.check(t, "done", "write:"+made, "read:"+made, "truncate:"+made, "link:"+made+" "+made+"2", "remove:"+made, "list:"+h.work, "read:/proc/self/environ", "read:/proc/meminfo", "read:/dev/null",
		"netlink", "pair", "own limits", "clone", "below:write:"+made, "own:"+h.work, "own:"+filepath.Join(h.work, "a/b"), "below:own:"+made)
	for _, what := range scheduled {
		h.check(t, "done", what+":0")
	}
	h.check(t, "refused", "own:"+h.dir, "own:"+h.secret, "own:/")
	if got := h.run(t, "big file:"+made); got[0] == "done" {
		t.Error("a file grew past the limit")
	}
	asUser(t)
}

func TestANetworkOfItsOwn(t *testing.T) {
	h := newHouse(t)
	h.needsNetwork(t)
	handedOn := new(cell.Net)
	defer handedOn.Close()
	for _, h.net = range []*cell.Net{nil, handedOn, handedOn} {
		h.check(t, "done", "serve")
		h.check(t, "refused", "udp", "unix", "mptcp:"+h.port(), "pair that sends anywhere:"+h.inbox(t), fmt.Sprintf("limits:%d", os.Getppid()))
		if got := h.run(t, h.share(t), "messages"); !strings.Contains(got[0], "invalid argument") || got[1] != "done" {
			t.Errorf("memory of another, and messages of its own: %s", got)
		}
		for _, way := range h.run(t, "connect:"+h.listener.Addr().String()) {
			if !strings.Contains(way, "connection refused") {
				t.Errorf("connecting to a port of the machine: %s", way)
			}
		}
	}
	asUser(t)
}

// passOn has what this thread starts inherit a capability, until it is taken back.
func passOn(t *testing.T) (back func()) {
	t.Helper()
	runtime.LockOSThread()
	header, held := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	err := unix.Capget(&header, &held[0])
	if err == nil {
		held[0].Inheritable = 1 << unix.CAP_CHOWN
		err = unix.Capset(&header, &held[0])
	}
	if err == nil {
		err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_CHOWN, 0, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		held[0].Inheritable = 0
		if err := unix.Capset(&header, &held[0]); err != nil { // which is then not inherited either
			t.Error(err)
		}
		runtime.UnlockOSThread()
	}
}

// TestAProcessHasNothingLeft looks at a process in its cell: it has no capability and can
// get none, no file but its streams, and it ends with whoever started it.
func TestAProcessHasNothingLeft(t *testing.T) {
	h := newHouse(t)
	system := must.Get(cell.Prove(cell.Here(), h.work, h.secret))(t)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	back := func() {}
	if os.Getuid() == 0 {
		back = passOn(t)
	}
	handedOn := new(cell.Net)
	defer handedOn.Close()
	for i, alone := range []bool{false, system.Namespace, system.Namespace, system.Namespace} {
		h.policy.System.Namespace = alone
		if i > 1 {
			h.net = handedOn
		}
		want := "leads its group: true, death: killed, bits: 3, CapInh , CapPrm , CapEff , CapBnd , CapAmb , NoNewPrivs 1, Seccomp 2"
		got := h.run(t, "state")[0]
		if os.Getuid() != 0 && !alone { // it has no right to give up what it could have got
			want = strings.Replace(want, "bits: 3", "bits: 0", 1)
			got = regexp.MustCompile("CapBnd [0-9a-f]*").ReplaceAllString(got, "CapBnd ")
		}
		if got != want {
			t.Errorf("program %d, alone %v: %s, want %s", i, alone, got, want)
		}
	}
	back()
	asUser(t)
}

func TestPorts(t *testing.T) {
	h := newHouse(t)
	h.policy.Network = cell.Model
	port, _ := strconv.Atoi(h.port())
	h.policy.Ports = []int{port}
	other := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer other.Close()
	h.check(t, "done", "connect:"+h.listener.Addr().String())
	h.check(t, "refused", "connect:"+other.Addr().String(), "serve", "mptcp:"+h.port())
}

func TestAnUnconfinedProgramIsMarked(t *testing.T) {
	h := newHouse(t)
	h.policy = cell.Policy{System: withoutNetwork(), Own: []string{h.dir, h.work}}
	h.check(t, "done", "read:"+filepath.Join(h.secret, "file"), "unix", "udp", "connect:"+h.listener.Addr().String(), "own:"+h.secret)
	h.check(t, "refused", "mark", "below:mark", "hide the mark", "own:/etc", "own what it says:/etc")
	if below, _ := cell.Below("none"); below {
		t.Error("this test is marked")
	}
	asUser(t)
}

// TestOneCallEndsAll is about what a supervisor does to what an agent has left.
func TestOneCallEndsAll(t *testing.T) {
	if cell.Here().ABI < 6 {
		t.Skip("the kernel cannot keep signals in")
	}
	stranger := exec.Command("sleep", "1000")
	must.Do(t, stranger.Start())
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	program := exec.Command("/proc/self/exe")
	program.Env = []string{"TRY=end all", "PATH=" + os.Getenv("PATH")}
	if out, err := program.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "done" {
		t.Errorf("got %s, %v", out, err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", stranger.Process.Pid)); err != nil || strings.Contains(string(stat), ") Z ") {
		t.Error("a stranger was ended")
	}
	asUser(t)
}

// TestOlderKernels takes from the kernel what older ones do not have.
func TestOlderKernels(t *testing.T) {
	h := newHouse(t)
	here := cell.Here()
	for _, test := range []struct {
		name, reason string
		system       cell.System
	}{
		{"none", "no Landlock", cell.System{Name: "linux", Filter: true}},
		{"ABI 1", "ABI 1", cell.System{Name: "linux", ABI: 1, Filter: true}},
		{"no filter", "seccomp", cell.System{Name: "linux", ABI: here.ABI}},
		{"elsewhere", "darwin", cell.System{Name: "darwin"}},
		{"ABI 3", "", cell.System{Name: "linux", ABI: 3, Filter: true}},
		{"ABI 5", "", cell.System{Name: "linux", ABI: 5, Filter: true}},
		{"this one", "", here},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := cell.Prove(test.system, h.work, filepath.Join(h.secret, "file"))
			if test.reason != "" {
				if tidegate.CodeOf(err) != tidegate.NotConfined || !strings.Contains(err.Error(), test.reason) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			h.policy.System = system
			h.policy.System.Namespace = false
			h.check(t, "refused", "read:"+filepath.Join(h.secret, "file"), "connect:"+h.listener.Addr().String(), "unix", "udp", "mark")
			if weak := system.Weak(); (weak != "") != (system.ABI < 6) {
				t.Errorf("weak: %q", weak)
			}
		})
	}
	if entries, _ := os.ReadDir(h.dir); len(entries) != 3 {
		t.Errorf("the probe left %v", entries)
	}
}

// TestAProbeThatGetsOutIsNotConfined gives the probe a secret that the policy allows.
func TestAProbeThatGetsOutIsNotConfined(t *testing.T) {
	h := newHouse(t)
	if _, err := cell.Prove(cell.Here(), h.work, h.work); tidegate.CodeOf(err) != tidegate.NotConfined || !strings.Contains(err.Error(), "can read "+h.work) {
		t.Errorf("got %v", err)
	}
}

func TestForbiddenInsideAllowed(t *testing.T) {
	dir := t.TempDir()
	home, ssh, other := filepath.Join(dir, "home"), filepath.Join(dir, "me", ".ssh"), filepath.Join(dir, "other")
	for _, folder := range []string{filepath.Join(home, "worktrees", "w"), ssh, other} {
		must.Do(t, os.MkdirAll(folder, 0o700))
	}
	link := filepath.Join(dir, "link")
	must.Do(t, os.Symlink(filepath.Dir(ssh), link))
	forbidden := []cell.Forbidden{{Path: home, What: "the home"}, {Path: ssh, What: "your keys"}}
	for allowed, names := range map[string]string{
		dir: home, home: home, ssh: ssh, filepath.Dir(ssh): ssh, link: ssh, filepath.Join(home, "run"): home, "/": home, other: "",
		filepath.Join(home, "worktrees", "w"): "", filepath.Join(home, "worktrees", "w", "new"): "",
	} {
		for _, p := range []cell.Policy{{Confined: true, Read: []string{allowed}}, {Confined: true, Write: []string{allowed}}} {
			_, err := p.Checked(nil, forbidden, filepath.Join(home, "worktrees", "w"))
			if names == "" && err != nil || names != "" && (tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), allowed)) {
				t.Errorf("%s: got %v", allowed, err)
			}
		}
	}
	if _, err := (cell.Policy{Read: []string{home}}).Checked(nil, forbidden); err != nil {
		t.Errorf("an unconfined program: %v", err)
	}
}

// TestALinkGivesNothing: what a path leads to may be changed after it was checked.
func TestALinkGivesNothing(t *testing.T) {
	h := newHouse(t)
	link := filepath.Join(h.dir, "link")
	must.Do(t, os.Symlink(h.secret, link))
	asked := h.policy
	asked.Read = append(slices.Clone(asked.Read), link)
	h.policy = asked
	h.check(t, "refused", "read:"+filepath.Join(h.secret, "file"))
	checked := must.Get(asked.Checked(nil, nil))(t)
	h.policy = checked
	h.check(t, "done", "read:"+filepath.Join(h.secret, "file"))
	os.Rename(h.secret, h.secret+"2")
	must.Do(t, os.Symlink(h.secret+"2", h.secret))
	h.check(t, "refused", "read:"+filepath.Join(h.secret+"2", "file"))
}

// TestWhatMayBeReadIsNamedOnce: each path costs every program that is started.
func TestWhatMayBeReadIsNamedOnce(t *testing.T) {
	dir := t.TempDir()
	tools := filepath.Join(dir, "tools")
	must.Do(t, os.MkdirAll(filepath.Join(tools, "bin"), 0o700))
	link := filepath.Join(dir, "link")
	must.Do(t, os.Symlink(tools, link))
	p := cell.Policy{Confined: true, Read: []string{filepath.Join(link, "bin"), tools + "2", tools, link, tools, filepath.Join(link, "none", "yet"), filepath.Join(dir, "none")}}
	p, err := p.Checked(nil, nil)
	if err != nil || !slices.Equal(p.Read, []string{filepath.Join(dir, "none"), tools, tools + "2"}) {
		t.Errorf("got %q, %v", p.Read, err)
	}
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	h := newHouse(t)
	before, _ := os.ReadDir("/proc/self/fd")
	for path, want := range map[string]string{h.program: "permission denied", filepath.Join(h.work, "none"): "no such file", "/bin/cat": "permission denied"} {
		h.policy.Read = nil
		_, err := cell.Start(h.policy, cell.Program{Path: path, Args: []string{path}, Dir: h.work, Files: [3]int{0, 1, 2}, Listeners: -1})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := cell.Start(h.policy, cell.Program{Path: h.program, Args: []string{h.program}, Env: []string{"A=\x00"}, Files: [3]int{0, 1, 2}, Listeners: -1}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a variable that cannot be: %v", err)
	}
	if after, _ := os.ReadDir("/proc/self/fd"); len(after) != len(before) {
		t.Errorf("%d files are open, and were %d", len(after), len(before))
	}
}

// TestAProgramStartsAsAnyOther: a cell changes nothing that it does not have to. The test
// runs below a shell, because Go has raised the limit of open files of this process.
func TestAProgramStartsAsAnyOther(t *testing.T) {
	if os.Getenv("BELOW_A_SHELL") == "" {
		out, err := exec.Command("sh", "-c", `ulimit -Sn 321 && trap '' HUP && BELOW_A_SHELL=1 exec "$0" -test.run="^$1\$" -test.v`, os.Args[0], t.Name()).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGTERM)
	defer signal.Stop(taken)
	args := []string{"/bin/grep", "-hE", "^Sig(Blk|Ign|Cgt)|^Max open files", "/proc/self/status", "/proc/self/limits"}
	want := saidBy(t, func(stdout int) (int, error) {
		return syscall.ForkExec(args[0], args, &syscall.ProcAttr{Files: []uintptr{0, uintptr(stdout), 2}})
	})
	if !strings.Contains(want, " 321 ") || !strings.Contains(want, "SigIgn:\t0000000000000001") {
		t.Errorf("bare: %s", want)
	}
	policy := cell.Policy{System: withoutNetwork(), Confined: true, Network: cell.None, Read: []string{"/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc"}}
	for _, confined := range []bool{false, true} {
		policy.Confined = confined
		if got := saidBy(t, func(stdout int) (int, error) {
			return cell.Start(policy, cell.Program{Path: args[0], Args: args, Files: [3]int{0, stdout, 2}, Listeners: -1})
		}); got != want {
			t.Errorf("confined %v:\n%sbare:\n%s", confined, got, want)
		}
	}
}

// TestStreamsThatChangePlaces: the streams of a program may have each other's numbers.
func TestStreamsThatChangePlaces(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	command := exec.Command(os.Args[0])
	command.Env = []string{"TRY=change places"}
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader("in"), write, os.Stderr
	err = command.Run()
	write.Close()
	if out, _ := io.ReadAll(read); err != nil || string(out) != "in" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestListenersAreHandedOver(t *testing.T) {
	h := newHouse(t)
	h.needsNetwork(t)
	h.policy.Network, h.policy.Listen = cell.Model, []string{"127.0.0.1:4711", "127.0.0.1:4712"}
	lines, doors := h.visit(t, "127.0.0.1:4711", "127.0.0.1:4712", "127.0.0.1:4713")
	if lines[0] != "done" || lines[1] != "done" || !strings.Contains(lines[2], "refused") {
		t.Errorf("it said %q", lines)
	}
	for _, door := range doors {
		door.Close()
	}
	h.policy.Listen[1] = h.policy.Listen[0]
	if _, err := cell.Start(h.policy, cell.Program{Path: h.program, Args: []string{h.program}, Files: [3]int{0, 1, 2}, Listeners: -1}); err == nil || !strings.Contains(err.Error(), "bind 127.0.0.1:4711: address already in use") {
		t.Errorf("an address that is taken: %v", err)
	}
}

// TestANetworkIsHandedOn: one program after the other has the same network and its doors
// there, and queues of messages of its own. None finds what was left of a socket, whoever's
// and however.
func TestANetworkIsHandedOn(t *testing.T) {
	h := newHouse(t)
	h.needsNetwork(t)
	h.net = new(cell.Net)
	defer h.net.Close()
	h.policy.Network = cell.Model
	const door, server = "127.0.0.1:4711", "127.0.0.1:4712"
	network := func(has []string) string {
		t.Helper()
		if has[0] != "refused" || has[1] != "done" {
			t.Errorf("it found queues of the one before: %q", has)
		}
		return has[2]
	}
	visit := func() (network string, doors []net.Listener) {
		t.Helper()
		h.policy.Listen = []string{door}
		lines, doors := h.visit(t, door, server)
		h.policy.Listen = nil
		if lines[0] != "done" || !strings.Contains(lines[1], "refused") {
			t.Errorf("it found %q", lines)
		}
		return lines[4], doors
	}
	for what, leave := range map[string]func() (network string){
		"a door that is open": func() string {
			network, doors := visit()
			t.Cleanup(func() { doors[0].Close() })
			return network
		},
		"a connection that a door has ended": func() string {
			network, doors := visit()
			doors[0].Close()
			return network
		},
		"a connection that it has ended": func() string { return h.run(t, "serve:"+server, "network")[1] },
		"a server that it has hidden":    func() string { return h.run(t, "hide a server:"+server, "network")[1] },
	} {
		first := network(h.run(t, "queues of others", "messages", "network"))
		if second := network(h.run(t, "queues of others", "messages", "network")); second != first {
			t.Errorf("nothing was left, and the next is in %s, not in %s", second, first)
		}
		if third := leave(); third != first {
			t.Errorf("nothing was left, and the next is in %s, not in %s", third, first)
		}
		lines := h.run(t, "connect:"+door, "connect:"+server, "take:4711", "take:4712")
		if !strings.Contains(lines[0], "connection refused") || !strings.Contains(lines[1], "connection refused") || lines[2] != "done" || lines[3] != "done" {
			t.Errorf("%s was left: the next found %q", what, lines)
		}
	}
	asUser(t)
}

// TestANetworkThatCannotBeHandedOn: the next program has another then.
func TestANetworkThatCannotBeHandedOn(t *testing.T) {
	newHouse(t).needsNetwork(t)
	program := exec.Command("/proc/self/exe")
	program.Env = []string{"TRY=hand on where nobody may enter"}
	if out, err := program.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "done" {
		t.Errorf("got %s, %v", out, err)
	}
	asUser(t)
}

// needsNetwork skips the test where no program is given a network of its own.
func (h *house) needsNetwork(t *testing.T) {
	t.Helper()
	system := must.Get(cell.Prove(cell.Here(), h.work, h.secret))(t)
	if !system.Namespace {
		t.Skip("this system gives a program no network of its own")
	}
	h.policy.System = system
}

// visit lets a program in the cell connect to addresses, of which those of its doors send
// it away. It returns what became of each, whether it found queues of messages and made
// one, its network, and the doors.
func (h *house) visit(t *testing.T, addresses ...string) (lines []string, doors []net.Listener) {
	t.Helper()
	ends := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	hand := os.NewFile(uintptr(ends[0]), "hand")
	defer hand.Close()
	out := saidBy(t, func(stdout int) (int, error) {
		pid, err := cell.Start(h.policy, cell.Program{
			Path: h.program, Args: []string{h.program}, Dir: h.work, Env: []string{"TRY=visit:" + strings.Join(addresses, "\nvisit:") + "\nqueues of others\nmessages\nnetwork"}, Files: [3]int{0, stdout, 2}, Listeners: ends[1], Net: h.net,
		})
		unix.Close(ends[1])
		if err != nil {
			return 0, err
		}
		files, err := cell.Listeners(hand)
		for _, file := range files {
			door, wrong := net.FileListener(file)
			file.Close()
			if wrong != nil {
				return pid, wrong
			}
			doors = append(doors, door)
			conn, wrong := door.Accept()
			if wrong != nil {
				return pid, wrong
			}
			conn.Close()
		}
		return pid, err
	})
	if len(doors) != len(h.policy.Listen) {
		t.Fatalf("got %d doors", len(doors))
	}
	return strings.Split(out, "\n"), doors
}

func TestHowANetworkIsNamed(t *testing.T) {
	var got []string
	for _, s := range []cell.System{{ABI: 7, Namespace: true}, {ABI: 7}, {ABI: 3}} {
		for _, n := range append(slices.Clone(cell.Networks), cell.Open) {
			got = append(got, s.Held(n))
		}
	}
	want := []string{"none", "model", "web", "open", "none", "model, by port", "web, by port", "open", "none", "open", "open", "open"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func BenchmarkStart(b *testing.B) {
	program := "/bin/true"
	policy := cell.Policy{System: withoutNetwork(), Confined: true, Network: cell.None, Read: []string{"/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc"}, Write: []string{b.TempDir()}, Devices: []string{"/dev/null"}}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			pid := must.Get(syscall.ForkExec(program, []string{program}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}}))(b)
			syscall.Wait4(pid, nil, 0, nil)
		}
	})
	handedOn := new(cell.Net)
	defer handedOn.Close()
	for _, with := range []struct {
		name string
		net  *cell.Net
	}{{"nothing", nil}, {"a network", nil}, {"a network handed on", handedOn}} {
		policy.System.Namespace = with.name != "nothing"
		b.Run("cell with "+with.name, func(b *testing.B) {
			for b.Loop() {
				pid := must.Get(cell.Start(policy, cell.Program{Path: program, Args: []string{program}, Files: [3]int{0, 1, 2}, Listeners: -1, Net: with.net}))(b)
				syscall.Wait4(pid, nil, 0, nil)
			}
		})
	}
}
