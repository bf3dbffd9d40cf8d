//go:build !windows

package main

import (
	"os"
	"sync"
	"syscall"

	"github.com/tidegate/tidegate/internal/face/screen"
	"golang.org/x/term"
)

// typing is the terminal while it hands over single keys.
var typing struct {
	sync.Mutex
	restore func()
}

// restoreKeys gives the terminal back as it was.
func restoreKeys() {
	typing.Lock()
	defer typing.Unlock()
	if typing.restore != nil {
		typing.restore()
		typing.restore = nil
	}
}

// readKeys hands over what is typed, byte by byte, until restore is called. It opens
// the terminal once more, so that it reads nothing that is typed later, for a
// question or an editor.
func readKeys() (keys <-chan byte, restore func()) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, func() {}
	}
	stdin := int(os.Stdin.Fd())
	raw := func() {
		typing.Lock()
		defer typing.Unlock()
		if before, err := term.MakeRaw(stdin); err == nil {
			typing.restore = func() { _ = term.Restore(stdin, before) }
		}
	}
	raw()
	out := make(chan byte)
	ended := make(chan struct{})
	go func() {
		defer close(out)
		var b [1]byte
		for {
			if n, err := tty.Read(b[:]); n == 0 || err != nil {
				return
			}
			switch b[0] {
			case ctrlC:
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGINT)
			case ctrlZ:
				restoreKeys()
				os.Stdout.WriteString(screen.RestoreTerminal)
				_ = syscall.Kill(0, syscall.SIGTSTP)
				raw()
				b[0] = ctrlL // everything has to be drawn again
			}
			if b[0] == ctrlC {
				continue
			}
			select {
			case out <- b[0]:
			case <-ended:
				return
			}
		}
	}()
	return out, func() {
		close(ended)
		tty.Close()
		restoreKeys()
	}
}

// Keys that a terminal in raw mode does not act on itself.
const (
	ctrlC = 0x03
	ctrlL = 0x0c
	ctrlZ = 0x1a
)
