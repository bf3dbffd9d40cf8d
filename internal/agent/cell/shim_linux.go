package cell

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// shimName is the name by which the program knows that it is to become another one
// in a cell. Every program that imports this package looks for it at its start.
const shimName = "tidegate-cell"

// What a shim has open beside its standard streams.
const (
	statusFD = 3 // says why the program could not be started; closed when it is
	handFD   = 4 // the listeners go to whoever started it
)

// Start starts a program in a cell, as [syscall.ForkExec] does. Of how, Dir, Env,
// Files and Sys count; Files are the standard streams. Where p has addresses to
// listen on, the listeners come out of the other end of hand, in their order; hand
// is -1 where it has none. It fails where the program cannot be confined or cannot
// be started, with the reason.
func Start(p Policy, path string, args []string, how syscall.ProcAttr, hand int) (pid int, err error) {
	policy, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	return p.fork(append([]string{shimName, string(policy), path}, args...), how, hand)
}

// fork starts this program under another name, with its network where it gets one of
// its own, and waits until it has become something else.
func (p Policy) fork(argv []string, how syscall.ProcAttr, hand int) (pid int, err error) {
	var status [2]int
	if err := syscall.Pipe2(status[:], syscall.O_CLOEXEC); err != nil {
		return 0, os.NewSyscallError("pipe", err)
	}
	said := os.NewFile(uintptr(status[0]), "status")
	defer said.Close()
	how.Files = append(append([]uintptr{}, how.Files...), uintptr(status[1]))
	if hand >= 0 {
		how.Files = append(how.Files, uintptr(hand))
	}
	if p.alone() {
		how.Sys = withNetwork(how.Sys)
	}
	pid, err = syscall.ForkExec("/proc/self/exe", argv, &how)
	syscall.Close(status[1])
	if err != nil {
		return 0, err
	}
	why := make([]byte, 4096)
	if n, _ := said.Read(why); n > 0 {
		syscall.Wait4(pid, nil, 0, nil)
		return 0, errors.New(string(why[:n]))
	}
	return pid, nil
}

// withNetwork is how a process is started with a network of its own, which has
// nothing but a loopback, and with shared memory and messages of its own. A user other than root needs a user namespace for that, in
// which it stays the user that it is.
func withNetwork(how *syscall.SysProcAttr) *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if how != nil {
		sys = *how
	}
	sys.Cloneflags |= syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		sys.Cloneflags |= syscall.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		sys.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // to set up the loopback
	}
	return &sys
}

func init() {
	switch {
	case len(os.Args) > 3 && os.Args[0] == shimName:
		os.NewFile(statusFD, "status").WriteString(become(os.Args[1], os.Args[2], os.Args[3:]).Error())
		os.Exit(127)
	case len(os.Args) == 2 && os.Args[0] == probeName:
		probe(os.Args[1])
	}
}

// become enters the cell and becomes the program. It returns only where that fails.
func become(policy, path string, args []string) error {
	var p Policy
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return err
	}
	if err := p.enter(); err != nil {
		return err
	}
	err := syscall.Exec(path, args, os.Environ())
	return &os.PathError{Op: "start", Path: path, Err: err}
}

// enter puts this thread into the cell. Each step is for a thread alone, and the
// program that it becomes has no other.
func (p Policy) enter() error {
	runtime.LockOSThread()
	if p.alone() {
		if err := p.makeNetwork(); err != nil {
			return err
		}
	}
	unix.CloseRange(statusFD, 1<<30, unix.CLOSE_RANGE_CLOEXEC)
	if p.Confined {
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		if size := uint64(p.MaxFile); size > 0 {
			unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
		}
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if p.Confined {
		if err := p.enterDomain(); err != nil {
			return err
		}
	}
	if p.System.Filter {
		return p.enterFilter()
	}
	return nil
}

// Of linux/securebits.h: root gets no capabilities by being root, for good.
const noRootLocked = 1<<0 | 1<<1

// dropCapabilities gives up every capability for good. Without any to begin with,
// nothing has to be given up, and no_new_privs keeps it so.
func dropCapabilities() error {
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	unix.Prctl(unix.PR_SET_SECUREBITS, noRootLocked, 0, 0, 0)
	for capability := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0) == nil; capability++ {
		unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return os.NewSyscallError("capset", err)
	}
	var held [2]unix.CapUserData
	if err := unix.Capget(&header, &held[0]); err != nil || held != none {
		return errors.New("the process keeps capabilities")
	}
	return nil
}

// makeNetwork sets up the loopback and hands over the listeners on it.
func (p Policy) makeNetwork() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(socket)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return os.NewSyscallError("ioctl", err)
	}
	var listeners []int
	for _, address := range p.Listen {
		listener, err := listen(address)
		if err != nil {
			return err
		}
		defer unix.Close(listener)
		listeners = append(listeners, listener)
	}
	if len(listeners) == 0 {
		return nil
	}
	return os.NewSyscallError("sendmsg", unix.Sendmsg(handFD, []byte{byte(len(listeners))}, unix.UnixRights(listeners...), nil, 0))
}

func listen(address string) (int, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1, err
	}
	family, where := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, where = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	listener, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err = unix.Bind(listener, where); err == nil {
		err = unix.Listen(listener, unix.SOMAXCONN)
	}
	if err != nil {
		unix.Close(listener)
		return -1, os.NewSyscallError("listen on "+address, err)
	}
	return listener, nil
}

// Listeners takes the listeners that a shim has handed over. It blocks until they
// are there, or the shim has ended.
func Listeners(hand *os.File) ([]*os.File, error) {
	conn, err := hand.SyscallConn()
	if err != nil {
		return nil, err
	}
	buf, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(64*4))
	var n, size int
	var failed error
	if err := conn.Read(func(fd uintptr) bool {
		n, size, _, _, failed = unix.Recvmsg(int(fd), buf, rights, unix.MSG_CMSG_CLOEXEC)
		return failed != unix.EAGAIN && failed != unix.EINTR
	}); err != nil {
		return nil, err
	}
	if failed != nil || n == 0 {
		return nil, errors.Join(failed, errors.New("the cell has no door"))
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, errors.New("the cell has no door"))
	}
	numbers, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, number := range numbers {
		unix.SetNonblock(number, true)
		files = append(files, os.NewFile(uintptr(number), "door"))
	}
	return files, nil
}
