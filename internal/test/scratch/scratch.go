// Package scratch is for test packages that make much and keep little: importing
// it spends memory to save time. Garbage is rarely collected, and on Linux the
// temporary folders of packages that are not about the disk lie in memory, where
// a sync costs nothing. GOGC and TMPDIR, where they are set, decide instead.
package scratch

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
