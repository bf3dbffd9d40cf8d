package driver

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// offlineName is the name by which the program knows that it is to start another
// one without a network: the namespace that it finds itself in has nothing but a
// loopback that is down.
const offlineName = "tidegate-offline"

// forkOffline starts a program in a network namespace of its own. A user other than
// root needs a user namespace for that, in which it stays the user that it is. It
// fails where the system forbids that.
func forkOffline(a assignment, how syscall.ProcAttr) (int, error) {
	sys := *how.Sys
	sys.Cloneflags = syscall.CLONE_NEWNET
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		sys.Cloneflags |= syscall.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		sys.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // to set up the loopback
	}
	how.Sys = &sys
	return syscall.ForkExec("/proc/self/exe", append([]string{offlineName, a.Path}, a.Args...), &how)
}

func init() {
	if len(os.Args) > 2 && os.Args[0] == offlineName {
		goOffline(os.Args[1], os.Args[2:])
	}
}

// goOffline sets up the loopback, gives up the right to do so, and becomes the
// program.
func goOffline(path string, args []string) {
	if socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err == nil {
		if lo, err := unix.NewIfreq("lo"); err == nil {
			lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
		}
		unix.Close(socket)
	}
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	unix.CloseRange(3, 1<<30, unix.CLOSE_RANGE_CLOEXEC)
	err := syscall.Exec(path, args, os.Environ())
	os.Stderr.WriteString(path + ": " + err.Error() + "\n")
	os.Exit(127)
}
