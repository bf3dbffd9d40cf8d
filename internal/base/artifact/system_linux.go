package artifact

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

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

// stampOf is the stamp of a file that was looked at; told is false where the
// system has none, or looking failed.
func stampOf(info fs.FileInfo, err error) (s stamp, told bool) {
	if err != nil {
		return stamp{}, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{uint64(stat.Dev), stat.Ino, stat.Size, time.Unix(stat.Ctim.Unix())}, true
}
