package driver

import (
	"net"
	"os"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"golang.org/x/sys/unix"
)

// hand is a pair of sockets by which a cell hands its listeners over.
type hand struct{ ours, theirs *os.File }

func newHand() (*hand, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(ends[0], true); err != nil {
		return nil, err
	}
	return &hand{os.NewFile(uintptr(ends[0]), "hand"), os.NewFile(uintptr(ends[1]), "hand")}, nil
}

// take waits for the listeners.
func (h *hand) take() ([]net.Listener, error) {
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
func (h *hand) file() *os.File {
	if h == nil {
		return nil
	}
	return h.theirs
}

func (h *hand) close() {
	if h != nil {
		h.ours.Close()
		h.theirs.Close()
	}
}
