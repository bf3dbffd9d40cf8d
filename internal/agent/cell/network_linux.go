package cell

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raiseNetwork sets up the loopback of a network of its own, listens there, and hands the
// listeners over.
func (c *calls) raiseNetwork(addresses []string, hand int) error {
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	socket := new(int32)
	c.add("socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).into = socket
	c.add("ioctl", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, at(c, loopback)).on = socket
	c.add("close", unix.SYS_CLOSE).on = socket
	if len(addresses) == 0 {
		return nil
	}
	rights := unix.UnixRights(make([]int, len(addresses))...)
	files := unsafe.Slice((*int32)(unsafe.Pointer(&rights[unix.CmsgLen(0)])), len(addresses))
	for i, address := range addresses {
		if err := c.listen(address, &files[i]); err != nil {
			return err
		}
	}
	word := []byte{byte(len(addresses))}
	vector := unix.Iovec{Base: &word[0]}
	vector.SetLen(len(word))
	message := unix.Msghdr{Iov: &vector, Control: &rights[0]}
	message.SetIovlen(1)
	message.SetControllen(len(rights))
	c.add("sendmsg", unix.SYS_SENDMSG, uintptr(hand), at(c, &message), 0)
	return nil
}

// listen listens on an address of the loopback.
func (c *calls) listen(address string, listener *int32) error {
	where, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	var name, size uintptr
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], where.Port())
	family := uintptr(unix.AF_INET6)
	if where.Addr().Is4() {
		family = unix.AF_INET
		raw := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: binary.NativeEndian.Uint16(port[:]), Addr: where.Addr().As4()}
		name, size = at(c, &raw), unsafe.Sizeof(raw)
	} else {
		raw := unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: binary.NativeEndian.Uint16(port[:]), Addr: where.Addr().As16()}
		name, size = at(c, &raw), unsafe.Sizeof(raw)
	}
	c.add("socket", unix.SYS_SOCKET, family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0).into = listener
	bind := c.add("bind", unix.SYS_BIND, 0, name, size)
	bind.path, bind.on = address, listener
	c.add("listen", unix.SYS_LISTEN, 0, unix.SOMAXCONN).on = listener
	return nil
}

// Listeners takes the listeners that a cell has handed over. It blocks until they
// are there, or the process that enters the cell has ended.
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
