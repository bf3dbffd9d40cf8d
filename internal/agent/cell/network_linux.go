package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Net is a network that programs have one after the other, each as if it were its own:
// to make one costs as much as to start a small program. The zero Net is made with the
// first of them, and made again where a socket is left in it. Nothing else of a program may
// be left when the next one starts, and it must have been confined: then all that is left
// in the network are figures of the kernel.
type Net struct{ files []int } // of its namespaces, and behind them the figures of its sockets

// Close lets the network go. The zero Net is left.
func (n *Net) Close() {
	for _, file := range n.files {
		unix.Close(file)
	}
	n.files = nil
}

func (n *Net) isMade() bool { return n != nil && len(n.files) > 0 }

// isEmpty reports whether no socket is left in a network that was made: none of whoever
// listens there for a program, none that a program has hidden in a message to itself, and
// no connection that keeps its port for a minute after its end.
func (n *Net) isEmpty() bool {
	figures := make([]byte, 1024)
	size, err := unix.Pread(n.files[len(n.files)-1], figures, 0)
	return err == nil && bytes.HasPrefix(figures[:size], []byte("sockets: used 0\n")) && bytes.Contains(figures[:size], []byte(" tw 0 "))
}

// enterNetwork gives the process a network of its own, or the one of its Net, listens
// there, and hands the listeners over. It returns the flags to fork with.
func (c *calls) enterNetwork(p Policy, program Program) (flags uintptr, err error) {
	if program.Net.isMade() {
		spaces := program.Net.files[:len(program.Net.files)-1]
		for _, file := range spaces {
			c.add("setns", unix.SYS_SETNS, uintptr(file), 0)
		}
		c.add("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWIPC)
		return 0, c.listenAt(p.Listen, program.Listeners)
	}
	flags = unix.CLONE_NEWNET | unix.CLONE_NEWIPC
	files := []string{"/proc/self/ns/net", "/proc/self/net/sockstat"}
	if os.Getuid() != 0 {
		flags |= unix.CLONE_NEWUSER
		c.stayUser()
		files = slices.Insert(files, 0, "/proc/self/ns/user") // to which the network belongs
	}
	if err = c.raiseLoopback(); err != nil {
		return 0, err
	}
	if program.Net != nil {
		err = c.handOverNet(files)
	}
	if err == nil {
		err = c.listenAt(p.Listen, program.Listeners)
	}
	return flags, err
}

// handOverNet hands the files of a [Net] over to c.net. Where they cannot be opened,
// nothing comes there.
func (c *calls) handOverNet(names []string) error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	c.files = append(c.files, ends[:]...)
	c.net = ends[0]
	err = c.handOver(len(names), ends[1], func(i int, into *int32) error {
		name, err := c.text(names[i])
		open := c.add("open", unix.SYS_OPENAT, 0, name, unix.O_RDONLY|unix.O_CLOEXEC)
		open.path, open.into, open.may = names[i], into, true
		return err
	})
	c.list[len(c.list)-1].may = true
	return err
}

// raiseLoopback sets up the loopback of a network of its own.
func (c *calls) raiseLoopback() error {
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	socket := new(int32)
	c.add("socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).into = socket
	c.add("ioctl", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, at(c, loopback)).on = socket
	c.add("close", unix.SYS_CLOSE).on = socket
	return nil
}

// listenAt listens on addresses of the loopback, and hands the listeners over.
func (c *calls) listenAt(addresses []string, hand int) error {
	if len(addresses) == 0 {
		return nil
	}
	return c.handOver(len(addresses), hand, func(i int, into *int32) error { return c.listen(addresses[i], into) })
}

// handOver sends so many files over a socket, of which open opens each.
func (c *calls) handOver(files, socket int, open func(file int, into *int32) error) error {
	rights := unix.UnixRights(make([]int, files)...)
	numbers := unsafe.Slice((*int32)(unsafe.Pointer(&rights[unix.CmsgLen(0)])), files)
	for file := range files {
		if err := open(file, &numbers[file]); err != nil {
			return err
		}
	}
	word := []byte{byte(files)}
	vector := unix.Iovec{Base: &word[0]}
	vector.SetLen(len(word))
	message := unix.Msghdr{Iov: &vector, Control: &rights[0]}
	message.SetIovlen(1)
	message.SetControllen(len(rights))
	c.add("sendmsg", unix.SYS_SENDMSG, uintptr(socket), at(c, &message), 0)
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
	var numbers []int
	var failed error
	if err := conn.Read(func(fd uintptr) bool {
		numbers, failed = receive(int(fd))
		return failed != unix.EAGAIN && failed != unix.EINTR
	}); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, errors.Join(failed, errors.New("the cell has no door"))
	}
	var files []*os.File
	for _, number := range numbers {
		unix.SetNonblock(number, true)
		files = append(files, os.NewFile(uintptr(number), "door"))
	}
	return files, nil
}

// receive takes the files that were sent over a socket. Some get lost where this process
// has no room for them; then it takes none.
func receive(socket int) ([]int, error) {
	buf, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(64*4))
	n, size, _, _, err := unix.Recvmsg(socket, buf, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) == int(buf[0]) {
		return files, err
	}
	for _, file := range files {
		unix.Close(file)
	}
	return nil, io.ErrUnexpectedEOF
}
