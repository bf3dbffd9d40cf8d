package archive_test

import "runtime"

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}
