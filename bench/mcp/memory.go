package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

// residentMemory is what a process occupies, in bytes. Only Linux reports it;
// elsewhere it is 0, and memory is not judged.
func residentMemory(pid int) (int64, error) {
	if runtime.GOOS != "linux" {
		return 0, nil
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kilobytes int64
		if n, _ := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("process %d does not say what it occupies", pid)
}
