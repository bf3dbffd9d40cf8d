package web

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneMakesAPageForAllWhoFollowIt: however many follow a page, it is made once
// each time, each follower hears of each change, and nobody makes it once all have
// left.
func TestOneMakesAPageForAllWhoFollowIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all watches
		var made atomic.Int64
		var state atomic.Value
		state.Store("one")
		make := func(context.Context) (*page, error) {
			made.Add(1)
			return &page{Seen: state.Load().(string)}, nil
		}
		const followers = 200
		leaves := []func(){}
		var first *watch
		for range followers {
			w, leave := all.join("/live/runs?", make)
			if first == nil {
				first = w
			}
			if w != first {
				t.Fatal("a page is made twice")
			}
			leaves = append(leaves, leave)
		}
		synctest.Wait()
		digest, changed := first.now()
		if digest != "one" || made.Load() != 1 {
			t.Errorf("after %d makings the page is %q", made.Load(), digest)
		}
		state.Store("two")
		begun := time.Now()
		<-changed
		if after := time.Since(begun); after > 500*time.Millisecond {
			t.Errorf("a change is heard of after %v", after)
		}
		if digest, _ := first.now(); digest != "two" || made.Load() != 2 {
			t.Errorf("after %d makings the page is %q", made.Load(), digest)
		}
		for _, leave := range leaves {
			leave()
		}
		synctest.Wait()
		before := made.Load()
		time.Sleep(time.Minute)
		if made.Load() != before || len(all.by) != 0 {
			t.Error("a page that nobody follows is made")
		}
	})
}

// TestFollowingIsCheap: a page that is followed takes less than a fiftieth of a core, that of
// 10,000 runs too, which may take 300 ms; one that takes seconds is made a fifth of the time.
func TestFollowingIsCheap(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 20 * time.Millisecond, 120 * time.Millisecond, 300 * time.Millisecond} {
		if share := float64(took) / float64(took+pauseAfter(took, 1)); share >= 0.02 {
			t.Errorf("a page of %v takes %.3f of a core", took, share)
		}
	}
	if share := float64(10*time.Second) / float64(10*time.Second+pauseAfter(10*time.Second, 1)); share > 0.2 {
		t.Errorf("a page of 10 s takes %.3f of a core", share)
	}
	if pauseAfter(0, 1) > 200*time.Millisecond {
		t.Errorf("a page that costs nothing is made every %v", pauseAfter(0, 1))
	}
}

// TestManyFollowedPagesShareACore: whoever follows many pages at once leaves time to others.
func TestManyFollowedPagesShareACore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages, took, most = 200, 10 * time.Millisecond, time.Minute
		var all watches
		var made atomic.Int64
		for i := range pages {
			_, leave := all.join(strconv.Itoa(i), func(context.Context) (*page, error) {
				made.Add(1)
				time.Sleep(took)
				return &page{}, nil
			})
			defer leave()
		}
		time.Sleep(most)
		if spent := time.Duration(made.Load()) * took; spent > most/3 {
			t.Errorf("%d pages take %v of %v", pages, spent, most)
		}
	})
}
