package shim

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// name is the one by which the program knows that it is a shim. Every program that
// imports this package looks for it at its start.
const name = "tidegate-cell"

// What a shim has open beside its standard streams.
const (
	statusFD = 3 // says why the program could not be started; closed when it is
	handFD   = 4 // the listeners go to whoever started it
)

// Start starts a shim, as [syscall.ForkExec] does, that becomes a program when it has
// done what the order says, and waits until it has. Of how, Dir, Env, Files and Sys
// count; Files are the standard streams. The listeners come out of the other end of
// hand, in their order; hand is -1 where there are none. It fails with the reason
// where the order cannot be followed or the program cannot be started.
func Start(o Order, path string, args []string, how syscall.ProcAttr, hand int) (pid int, err error) {
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
	argv := append(append([]string{name}, o.words()...), path)
	pid, err = syscall.ForkExec("/proc/self/exe", append(argv, args...), &how)
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

func init() {
	if len(os.Args) > 0 && os.Args[0] == name {
		os.NewFile(statusFD, "status").WriteString(become(os.Args[1:]).Error())
		os.Exit(127)
	}
}

// become does what the order at the beginning of words says, and becomes the program
// whose path and arguments are behind it. It returns only where that fails.
func become(words []string) error {
	o, words, err := read(words)
	if err == nil && len(words) < 2 {
		err = errors.New("a shim has nothing to become")
	}
	if err != nil {
		return err
	}
	if err := o.Follow(); err != nil {
		return err
	}
	err = syscall.Exec(words[0], words[1:], os.Environ())
	return &os.PathError{Op: "start", Path: words[0], Err: err}
}

// Follow does what the order says to this thread. Each step is for a thread alone, and
// the program that a shim becomes has no other.
func (o Order) Follow() error {
	runtime.LockOSThread()
	if o.Network {
		if err := makeNetwork(o.Listen); err != nil {
			return err
		}
	}
	syscall.RawSyscall(sysCloseRange, statusFD, 1<<30, closeRangeCloexec)
	if o.Confined {
		syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
		if size := uint64(o.MaxFile); size > 0 {
			syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
		}
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	if errno := prctl(prSetNoNewPrivs, 1); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	if o.Ruleset != "" {
		if err := o.enterDomain(); err != nil {
			return err
		}
	}
	if o.Filter != "" {
		return enterFilter(o.Filter)
	}
	return nil
}

// Of the kernel's headers: what the package syscall does not have.
const (
	sysCloseRange           = 436
	sysLandlockCreate       = 444
	sysLandlockAddRule      = 445
	sysLandlockRestrictSelf = 446

	closeRangeCloexec = 1 << 2
	openPath          = 0x200000 // O_PATH
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	ambientClearAll   = 4
	filterMode        = 2 // of seccomp
	rulePathBeneath   = 1 // of Landlock
	ruleNetPort       = 2
	capabilityVersion = 0x20080522

	// Root gets no capabilities by being root, for good.
	noRootLocked = 1<<0 | 1<<1
)

func prctl(option, value uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0)
	return errno
}

// dropCapabilities gives up every capability for good. Without any to begin with,
// nothing has to be given up, and no_new_privs keeps it so.
func dropCapabilities() error {
	prctl(prCapAmbient, ambientClearAll)
	prctl(syscall.PR_SET_SECUREBITS, noRootLocked)
	for capability := uintptr(0); prctl(syscall.PR_CAPBSET_READ, capability) == 0; capability++ {
		prctl(syscall.PR_CAPBSET_DROP, capability)
	}
	header := struct {
		version uint32
		pid     int32
	}{version: capabilityVersion}
	var none, held [2]struct{ effective, permitted, inheritable uint32 }
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0); errno != 0 {
		return os.NewSyscallError("capset", errno)
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&held)), 0); errno != 0 || held != none {
		return errors.New("the process keeps capabilities")
	}
	return nil
}

// enterDomain lets the thread, and the program that it becomes, reach only what the
// order allows.
func (o Order) enterDomain() error {
	ruleset := []byte(o.Ruleset)
	made, _, errno := syscall.RawSyscall(sysLandlockCreate, uintptr(unsafe.Pointer(&ruleset[0])), uintptr(len(ruleset)), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	rules := int(made)
	defer syscall.Close(rules)
	for _, p := range o.Paths {
		if err := AllowPath(rules, p, o.OfFiles); err != nil {
			return err
		}
	}
	for _, port := range o.Ports {
		attr := struct{ rights, port int64 }{landlockConnectTCP, port}
		if _, _, errno := syscall.RawSyscall6(sysLandlockAddRule, uintptr(rules), ruleNetPort, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
			return os.NewSyscallError("landlock_add_rule", errno)
		}
	}
	if _, _, errno := syscall.RawSyscall(sysLandlockRestrictSelf, uintptr(rules), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

const landlockConnectTCP = 1 << 1

// AllowPath adds a path to the rules of a domain. A file gets those of its rights that
// are among ofFiles.
func AllowPath(rules int, p Path, ofFiles int64) error {
	at, err := syscall.Open(p.Name, openPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(at)
	var stat syscall.Stat_t
	if err := syscall.Fstat(at, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: p.Name, Err: err}
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		p.Rights &= ofFiles
	}
	// The kernel's struct is packed.
	attr := struct {
		rights int64
		parent int32
		_      int32
	}{p.Rights, int32(at), 0}
	if _, _, errno := syscall.RawSyscall6(sysLandlockAddRule, uintptr(rules), rulePathBeneath, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return &os.PathError{Op: "landlock_add_rule", Path: p.Name, Err: errno}
	}
	return nil
}

// enterFilter gives the thread, and the program that it becomes, a filter.
func enterFilter(program string) error {
	const size = int(unsafe.Sizeof(syscall.SockFilter{}))
	code := make([]syscall.SockFilter, len(program)/size)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&code[0])), len(program)), program)
	loaded := syscall.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_SECCOMP, filterMode, uintptr(unsafe.Pointer(&loaded))); errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
