//go:build unix

package main

import (
	"fmt"
	"syscall"

	"github.com/tidegate/tidegate/internal/base/report"
)

// enoughFiles is a limit that a server with a few calls at once and a wave under
// review on many cores stays well below.
const enoughFiles = 256

func openFiles() finding {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return finding{"Limits", "open files", err.Error(), report.Warn}
	}
	if limit.Cur < enoughFiles {
		return finding{"Limits", "open files", fmt.Sprintf("%d, and %d are needed: ulimit -n %d", limit.Cur, enoughFiles, enoughFiles), report.Fail}
	}
	return finding{"Limits", "open files", fmt.Sprint(limit.Cur), report.Pass}
}
