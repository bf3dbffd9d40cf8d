package fetch

import (
	"sync"
	"time"
)

// watch knows what is under way, for [Progress].
type watch struct {
	telling sync.Mutex // one report at a time
	tell    func(Progress)

	mu    sync.Mutex
	count Progress
	since map[string]time.Time
}

func newWatch(total int, tell func(Progress)) *watch {
	return &watch{tell: tell, count: Progress{Total: total}, since: map[string]time.Time{}}
}

func (w *watch) began(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since[url] = time.Now()
}

// done counts captures that were kept.
func (w *watch) done(batch []*fetching) {
	w.mu.Lock()
	w.count.Done += len(batch)
	for _, f := range batch {
		delete(w.since, f.capture.URL)
	}
	w.mu.Unlock()
	w.report()
}

func (w *watch) report() {
	if w.tell == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.tell(w.now())
}

// now is the present state, with the URL that has been waited for longest.
func (w *watch) now() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.count
	for url, since := range w.since {
		waited := time.Since(since)
		if waited >= slow && (waited > p.For || waited == p.For && url < p.Slow) {
			p.Slow, p.For = url, waited
		}
	}
	return p
}

// everySecond reports once a second until it is stopped.
func (w *watch) everySecond() (stop func()) {
	if w.tell == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var waiter sync.WaitGroup
	waiter.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				w.report()
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		waiter.Wait()
	}
}
