package main

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestHeapGrowsToItsLeastAndThenByAPercentage(t *testing.T) {
	const MiB = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400},
		{1 * MiB, 400}, // Go's own minimum heap is 16 MiB then
		{4 * MiB, 300},
		{8 * MiB, 100},
		{12 * MiB, 40},
		{64 * MiB, 40},
		{1 << 50, 40},
	} {
		if got := growth(c.live); got != c.want {
			t.Errorf("with %d bytes in use the heap grows by %d percent, want %d", c.live, got, c.want)
		}
	}
}

func TestCollectionsAreFollowedAgainAndAgain(t *testing.T) {
	var collected atomic.Int32
	afterCollection(func() { collected.Add(1) })
	for range 1000 {
		if collected.Load() >= 3 {
			return
		}
		runtime.GC()
		time.Sleep(time.Millisecond) // what follows a collection is called beside it
	}
	t.Errorf("of 1000 collections %d were followed", collected.Load())
}
