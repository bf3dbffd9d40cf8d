package main

import (
	"os"
	"syscall"
)

// maxMemory is the peak resident memory of a process that has ended, in KiB.
func maxMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
