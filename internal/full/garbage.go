package full

import (
	"os"
	"runtime/debug"
)

// A test process ends soon and the machine has memory to spare, so garbage is
// collected seldom: that takes a third off the CPU time of the larger suites.
// GOGC, where it is set, decides instead; a test that measures memory sets it.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
