package main

import (
	"os"
	"syscall"
)

// maxMemory is the most resident memory of an ended process, in KiB.
func maxMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
