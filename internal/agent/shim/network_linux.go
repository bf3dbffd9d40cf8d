package shim

import (
	"os"
	"syscall"
	"unsafe"
)

// makeNetwork sets up the loopback and hands over the listeners on it.
func makeNetwork(addresses []Address) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer syscall.Close(socket)
	loopback := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{[syscall.IFNAMSIZ]byte{'l', 'o'}, syscall.IFF_UP | syscall.IFF_RUNNING, [22]byte{}}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&loopback))); errno != 0 {
		return os.NewSyscallError("ioctl", errno)
	}
	var listeners []int
	for _, address := range addresses {
		listener, err := listen(address)
		if err != nil {
			return err
		}
		defer syscall.Close(listener)
		listeners = append(listeners, listener)
	}
	if len(listeners) == 0 {
		return nil
	}
	return os.NewSyscallError("sendmsg", syscall.Sendmsg(handFD, []byte{byte(len(listeners))}, syscall.UnixRights(listeners...), nil, 0))
}

func listen(address Address) (int, error) {
	family, where := syscall.AF_INET6, syscall.Sockaddr(nil)
	if len(address.Host) == 4 {
		family, where = syscall.AF_INET, &syscall.SockaddrInet4{Port: int(address.Port), Addr: [4]byte([]byte(address.Host))}
	} else {
		where = &syscall.SockaddrInet6{Port: int(address.Port), Addr: [16]byte([]byte(address.Host))}
	}
	listener, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err = syscall.Bind(listener, where); err == nil {
		err = syscall.Listen(listener, syscall.SOMAXCONN)
	}
	if err != nil {
		syscall.Close(listener)
		return -1, os.NewSyscallError("listen", err)
	}
	return listener, nil
}
