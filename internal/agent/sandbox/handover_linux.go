package sandbox

import (
	"net"
	"os"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"golang.org/x/sys/unix"
)

// handover is a pair of sockets by which a cell hands its listeners over.
type handover struct{ ours, theirs *os.File }

func newHandover() (*handover, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(ends[0], true); err != nil {
		return nil, err
	}
	return &handover{os.NewFile(uintptr(ends[0]), "hand"), os.NewFile(uintptr(ends[1]), "hand")}, nil
}

// take waits for the listeners.
func (h *handover) take() ([]net.Listener, error) {
	files, err := cell.Listeners(h.ours)
	var list []net.Listener
	for _, file := range files {
		listener, wrong := net.FileListener(file)
		file.Close()
		if wrong != nil {
			return nil, wrong
		}
		list = append(list, listener)
	}
	return list, err
}

// file is the end that the cell gets; nil where it hands nothing over.
func (h *handover) file() *os.File {
	if h == nil {
		return nil
	}
	return h.theirs
}

func (h *handover) close() {
	if h != nil {
		h.ours.Close()
		h.theirs.Close()
	}
}
