package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap may grow to least before garbage is collected, and beyond that by
// percent of what is in use. So a short call ends before the first collection, a
// run of a few megabytes is rarely collected, and a document of 30 MB is changed
// in 64 MiB of memory.
const (
	least   = 16 << 20 // bytes
	percent = 40
	// Go's own minimum heap is 4 MiB at 100 percent, and grows with the percentage.
	percentOfLeast = least / (4 << 20) * 100
)

// paceCollections makes the heap grow by these rules. GOGC, where it is set,
// decides instead.
func paceCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percentOfLeast)
	afterCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(growth(live[0].Value.Uint64()))
	})
}

// growth is the percentage by which a heap may grow that has live bytes in use.
func growth(live uint64) int {
	if live == 0 {
		return percentOfLeast
	}
	return min(percentOfLeast, max(percent, int(least*100/live)-100))
}

// afterCollection calls do after every collection of garbage.
func afterCollection(do func()) {
	runtime.AddCleanup(new([16]byte), func(do func()) {
		do()
		afterCollection(do)
	}, do)
}
