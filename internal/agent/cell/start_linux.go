package cell

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"github.com/tidegate/tidegate/internal/agent/shim"
	"golang.org/x/sys/unix"
)

// Start starts a program in a cell, as [syscall.ForkExec] does. Of how, Dir, Env,
// Files and Sys count; Files are the standard streams. Where p has addresses to
// listen on, the listeners come out of the other end of hand, in their order; hand
// is -1 where it has none. It fails where the program cannot be confined or cannot
// be started, with the reason.
func Start(p Policy, path string, args []string, how syscall.ProcAttr, hand int) (pid int, err error) {
	order, err := p.order()
	if err != nil {
		return 0, err
	}
	if p.alone() {
		how.Sys = withNetwork(how.Sys)
	}
	return shim.Start(order, path, args, how, hand)
}

// order is how a cell is entered, as a shim is told.
func (p Policy) order() (shim.Order, error) {
	o := shim.Order{Network: p.alone(), Confined: p.Confined}
	if o.Network {
		for _, address := range p.Listen {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return o, err
			}
			o.Listen = append(o.Listen, shim.Address{Host: string(at.Addr().AsSlice()), Port: int64(at.Port())})
		}
	}
	if p.Confined {
		o.MaxFile = p.MaxFile
		p.allow(&o)
	}
	if p.System.Filter {
		program := p.program()
		o.Filter = string(unsafe.Slice((*byte)(unsafe.Pointer(&program[0])), len(program)*unix.SizeofSockFilter))
	}
	return o, nil
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
