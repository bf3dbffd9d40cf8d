package cell

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock, by what they are for.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	device    = unix.LANDLOCK_ACCESS_FS_READ_FILE | writeFile | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	ofFiles   = readFile | device
	readAll   = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeAll  = readAll | writeFile | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	everything = writeAll | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

const ruleNetPort = 2 // which the package unix does not have

// known are the rights that an ABI can handle. The first is enough for nobody here.
func known(abi int) uint64 {
	rights := uint64(everything)
	if abi < abiDevices {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// landlockABI is the version of Landlock that the kernel has; 0: none.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// enterDomain lets the thread, and the program that it becomes, reach only what p allows.
// What p allows and is not there is left out.
func (c *calls) enterDomain(p Policy) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: known(p.System.ABI)}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if p.System.ABI >= abiNetwork {
		size = unsafe.Offsetof(attr.Scoped)
		if !p.alone() {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if p.System.ABI >= abiSignals {
		size = unsafe.Offsetof(attr.Quiet_access_fs)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, err := newRuleset(attr, size)
	if err != nil {
		return err
	}
	c.files = append(c.files, rules)
	for _, list := range []struct {
		paths  []string
		rights uint64
	}{{p.Read, readAll}, {p.List, unix.LANDLOCK_ACCESS_FS_READ_DIR}, {p.Write, writeAll}, {p.Devices, device}} {
		for _, path := range list.paths {
			if err := allowPath(rules, path, list.rights&attr.Handled_access_fs); err != nil {
				return err
			}
		}
	}
	if attr.Handled_access_net != 0 {
		for _, port := range p.Ports {
			allowed := struct{ rights, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
			if err := addRule(rules, ruleNetPort, unsafe.Pointer(&allowed)); err != nil {
				return err
			}
		}
	}
	c.add("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0)
	return nil
}

func newRuleset(attr unix.LandlockRulesetAttr, size uintptr) (rules int, err error) {
	made, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return int(made), nil
}

// openPlace opens a file or folder to ask about it, unless its path leads over a link.
func openPlace(path string) (place int, err error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// hasNoLink reports whether a path is there and leads over no link.
func hasNoLink(path string) bool {
	place, err := openPlace(path)
	if err != nil {
		return false
	}
	unix.Close(place)
	return true
}

// allowPath allows what can be done with a file or folder, if it is there. A file gets
// those of the rights that files can have.
func allowPath(rules int, path string, rights uint64) error {
	place, err := openPlace(path)
	if err != nil {
		return nil
	}
	defer unix.Close(place)
	var stat unix.Stat_t
	if err := unix.Fstat(place, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	allowed := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(place)}
	if err := addRule(rules, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&allowed)); err != nil {
		return &os.PathError{Op: "allow", Path: path, Err: err}
	}
	return nil
}

func addRule(rules int, kind uintptr, rule unsafe.Pointer) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), kind, uintptr(rule), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

// Enclose puts this thread, and every program that it starts, into a domain of its own:
// they reach all that they reached before, but nobody outside by a signal or a trace.
// Then a signal to every process there is goes to those in it, at once, so that none can
// get away by starting the next. It reports whether it did; older kernels cannot.
func Enclose() bool {
	if landlockABI() < abiSignals {
		return false
	}
	// Every domain denies to move files from folder to folder unless it says otherwise.
	const move = unix.LANDLOCK_ACCESS_FS_REFER
	attr := unix.LandlockRulesetAttr{Handled_access_fs: move, Scoped: unix.LANDLOCK_SCOPE_SIGNAL}
	rules, err := newRuleset(attr, unsafe.Offsetof(attr.Quiet_access_fs))
	if err != nil {
		return false
	}
	defer unix.Close(rules)
	if allowPath(rules, "/", move) != nil || unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return false
	}
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
	return errno == 0 && unix.Kill(os.Getppid(), 0) == unix.EPERM
}
