package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// keepHeapSmall lets less garbage gather than usual, so that a document of 30 MB
// is changed in 64 MiB of memory, for little more work in long calls. It begins
// with the first collection: a short call ends before that, and collecting
// earlier would only slow it down. GOGC, where it is set, decides instead.
func keepHeapSmall() {
	const percent = 40
	if os.Getenv("GOGC") != "" {
		return
	}
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, percent)
}
