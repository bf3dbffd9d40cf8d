package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/face/guard"
)

// Lists, and pages of a change, have no log that can be followed. While somebody
// follows such a page, it is made again, once for all followers, and compared. The
// digest of the page is the id of its event: a reader that comes back compares it
// with the last one it saw, and so notices a change.

// How often a page is made again. A slow page is made less often, so that following
// it takes less than a fiftieth of a core, up to a page of 300 ms, and following many pages
// not more than a quarter.
const (
	makeEvery  = 150 * time.Millisecond
	makeShare  = 50
	makeAtMost = 15 * time.Second
)

// pauseAfter is how long a page is not made again that took so long and is one of so many.
func pauseAfter(took time.Duration, followed int) time.Duration {
	return max(4*took*time.Duration(followed), min(max(makeEvery, makeShare*took), makeAtMost))
}

// watches are the pages that are followed, by address.
type watches struct {
	mu sync.Mutex
	by map[string]*watch
}

// watch makes one page again and again.
type watch struct {
	in   int // how many follow it
	stop context.CancelFunc

	mu      sync.Mutex
	digest  string
	changed chan struct{} // closed when the digest changes
}

// join follows a page. The caller must call leave at the end.
func (w *watches) join(address string, build func(context.Context) (*page, error)) (joined *watch, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined = w.by[address]
	if joined == nil {
		ctx, stop := context.WithCancel(context.Background())
		joined = &watch{stop: stop, changed: make(chan struct{})}
		if w.by == nil {
			w.by = map[string]*watch{}
		}
		w.by[address] = joined
		go joined.run(ctx, w, build)
	}
	joined.in++
	return joined, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if joined.in--; joined.in == 0 {
			delete(w.by, address)
			joined.stop()
		}
	}
}

// count is how many pages are followed.
func (w *watches) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.by)
}

func (w *watch) run(ctx context.Context, all *watches, build func(context.Context) (*page, error)) {
	for ctx.Err() == nil {
		begun := time.Now()
		if p, err := build(ctx); err == nil { // the page itself says what cannot be shown
			w.set(p.Seen)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfter(time.Since(begun), all.count())):
		}
	}
}

func (w *watch) set(digest string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if digest != w.digest {
		w.digest = digest
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// now is the digest of the page, and a channel that is closed when it changes.
func (w *watch) now() (digest string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.digest, w.changed
}

// sealed gives a page, as its state, the digest of what it shows. That time passes is no
// change.
func (p *page) sealed() (*page, error) {
	still := *p
	still.Now = time.Time{}
	data, err := still.render()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p.Seen = hex.EncodeToString(sum[:8])
	return p, nil
}

// follow streams the digests of a page, each when it differs from the one before.
func (s *server) follow(build func(context.Context, *http.Request) (*page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		last := r.Header.Get("Last-Event-ID")
		if last == "" {
			last = query.Get("after")
		}
		query.Del("after")
		if _, err := build(r.Context(), r); err != nil {
			s.problem(w, r, err)
			return
		}
		asked := r.Clone(context.WithoutCancel(r.Context())) // the first follower may leave before the others
		watched, leave := s.watches.join(r.URL.Path+"?"+query.Encode(), func(ctx context.Context) (*page, error) { return build(ctx, asked) })
		defer leave()
		say := startStream(w)
		beats := time.NewTicker(beatEvery)
		defer beats.Stop()
		for open := say("retry: 500\n\n"); open; {
			digest, changed := watched.now()
			if digest != "" && digest != last {
				last = digest
				open = say(fmt.Sprintf("id: %s\nevent: line\ndata: %s\n\n", digest, digest))
				continue
			}
			select {
			case <-changed:
			case <-beats.C:
				open = say(beat)
			case <-r.Context().Done():
				return
			}
		}
	}
}

// startStream begins a stream of events, and returns a function that sends the next
// one. It returns false when nobody listens any more, or who listens is no longer let in.
func startStream(w http.ResponseWriter) (say func(event string) bool) {
	w.Header().Set("Content-Type", guard.StreamType)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold it back
	control := http.NewResponseController(w)
	return func(event string) bool {
		if _, err := w.Write([]byte(event)); err != nil {
			return false
		}
		return control.Flush() == nil
	}
}
