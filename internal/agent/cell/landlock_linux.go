package cell

import (
	"os"
	"unsafe"

	"github.com/tidegate/tidegate/internal/agent/shim"
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

// allow puts into an order what the program may reach. What p allows and is not there
// is left out.
func (p Policy) allow(o *shim.Order) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: known(p.System.ABI)}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if p.System.ABI >= abiNetwork {
		size = unsafe.Offsetof(attr.Scoped)
		if !p.alone() {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
			for _, port := range p.Ports {
				o.Ports = append(o.Ports, int64(port))
			}
		}
	}
	if p.System.ABI >= abiSignals {
		size = unsafe.Offsetof(attr.Quiet_access_fs)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	o.Ruleset = string(unsafe.Slice((*byte)(unsafe.Pointer(&attr)), size))
	o.OfFiles = ofFiles
	for _, list := range []struct {
		paths  []string
		rights uint64
	}{{p.Read, readAll}, {p.List, unix.LANDLOCK_ACCESS_FS_READ_DIR}, {p.Write, writeAll}, {p.Devices, device}} {
		for _, path := range list.paths {
			o.Paths = append(o.Paths, shim.Path{Name: path, Rights: int64(list.rights & attr.Handled_access_fs)})
		}
	}
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
	number, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Offsetof(attr.Quiet_access_fs), 0)
	if errno != 0 {
		return false
	}
	rules := int(number)
	defer unix.Close(rules)
	if shim.AllowPath(rules, shim.Path{Name: "/", Rights: move}, 0) != nil {
		return false
	}
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return false
	}
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
	return errno == 0 && unix.Kill(os.Getppid(), 0) == unix.EPERM
}
