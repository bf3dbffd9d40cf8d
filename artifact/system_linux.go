package artifact

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const canSyncAll = true

// syncAll makes durable whatever was written to the file system of f.
func syncAll(f *os.File) error { return onDescriptor(f, unix.Syncfs) }

// parentOf is the process that started a process, as far as it is known.
func parentOf(pid int) (int, bool) {
	// "pid (name) state parent …", and the name may hold anything.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	var (
		state  string
		parent int
	)
	_, err = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)
	return parent, err == nil && parent > 0
}
