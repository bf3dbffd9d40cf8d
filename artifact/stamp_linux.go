package artifact

import (
	"os"
	"syscall"
	"time"
)

// stampOf is the stamp of an open file; told is false where the system has none.
func stampOf(f *os.File) (s stamp, told bool) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{uint64(stat.Dev), stat.Ino, stat.Size, time.Unix(stat.Ctim.Unix())}, true
}
