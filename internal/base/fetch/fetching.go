package fetch

import (
	"context"
	"errors"
	"net"
	"net/http/cookiejar"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// fetching is one URL on its way. From its first request on, and while its capture
// is packed, it has a place for requests, so that no more bodies are in memory than
// there are places.
type fetching struct {
	client    *Client
	call      *archive.Request // of a call; nil for a page
	capture   archive.Capture
	packed    *archive.Packed
	began     func() // called before the first request
	jar       *cookiejar.Jar
	left      time.Duration // of the time on the wire
	holds     bool          // a place for requests
	large     bool          // a place for large bodies
	redirects int
	retries   int
}

func (c *Client) begin(rawURL string, began func()) *fetching {
	return &fetching{client: c, capture: archive.Capture{URL: rawURL}, began: began, left: c.options.Limits.Deadline}
}

// run fetches, and notes how that ended. It returns the error of ctx. The caller
// gives the places back with leave and shrink.
func (f *fetching) run(ctx context.Context) (err error) {
	if f.jar, err = cookiejar.New(nil); err != nil {
		return err
	}
	if !Fetchable(f.capture.URL) {
		f.end(newFault(archive.Refused, "", "the URL is too long, is not text, or carries credentials"))
		return nil
	}
	next, err := url.Parse(f.capture.URL)
	if err != nil {
		f.end(newFault(archive.Malformed, "", "not a URL"))
		return nil
	}
	for next != nil {
		if next, err = f.hop(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// hop asks for one page and decides what follows: the URL to ask next, or nil.
// It returns the error of ctx.
func (f *fetching) hop(ctx context.Context, u *url.URL) (*url.URL, error) {
	t, fault := parseTarget(u, f.client.options.Allow)
	if fault != nil {
		f.end(fault)
		return nil, nil
	}
	gate := f.client.gates.of(t.host)
	if err := gate.enter(ctx); err != nil {
		return nil, err
	}
	hop, location, fault, err := f.ask(ctx, gate, t)
	gate.leave()
	if err != nil {
		return nil, err
	}
	if hop != nil {
		f.capture.Hops = append(f.capture.Hops, *hop)
	}
	if fault != nil {
		f.end(fault)
		return nil, nil
	}
	if wait, again := retryAfter(*hop, f.retries, f.client.options); again {
		f.retries++
		f.leave()
		gate.hold(wait)
		return u, nil
	}
	if location == "" {
		f.end(newFault(archive.Responded, t.address(), ""))
		return nil, nil
	}
	return f.follow(t, location), nil
}

// ask sends a request as soon as there is a place for it. It returns the error
// of ctx.
func (f *fetching) ask(ctx context.Context, gate *gate, t *target) (*archive.Hop, string, *fault, error) {
	select {
	case f.client.places <- struct{}{}:
		f.holds = true
	case <-ctx.Done():
		return nil, "", nil, ctx.Err()
	}
	if err := gate.begin(ctx); err != nil {
		return nil, "", nil, err
	}
	if f.began != nil {
		f.began()
		f.began = nil
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, f.left)
	defer cancel()
	hop, location, fault := f.exchange(limited, t)
	f.left -= time.Since(start)
	return hop, location, fault, ctx.Err()
}

// follow is the URL that a redirect leads to, nil when it is not followed.
func (f *fetching) follow(t *target, location string) *url.URL {
	next, err := t.url.Parse(location)
	if err != nil {
		f.end(newFault(archive.Malformed, t.address(), "the page redirects to what is not a URL"))
		return nil
	}
	if f.redirects++; f.redirects > maxRedirects {
		f.end(newFault(archive.Redirects, t.address(), "more than five redirects"))
		return nil
	}
	if f.call != nil && !sameHost(t, next) {
		f.end(newFault(archive.Refused, t.address(), "the service sends us to another host"))
		return nil
	}
	f.leave()
	return next
}

// end notes how the fetch ended.
func (f *fetching) end(how *fault) {
	f.capture.Kind, f.capture.Address, f.capture.Detail = how.kind, how.address, how.detail
	f.capture.Time = f.client.options.Now()
	if idle := f.client.proxies.idle; idle != "" && (how.kind == archive.Unreachable || how.kind == archive.NoSuchName) {
		f.capture.Detail += "; " + idle + " names a proxy, which is used where tidegate.toml has `[fetch] proxy = true`"
	}
}

// becomeLarge waits until there is a place for another large body. It returns
// the error of ctx.
func (f *fetching) becomeLarge(ctx context.Context) error {
	if f.large {
		return nil
	}
	select {
	case f.client.large <- struct{}{}:
		f.large = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives back the place for requests.
func (f *fetching) leave() {
	if f.holds {
		f.holds = false
		<-f.client.places
	}
}

// shrink gives back the place for large bodies.
func (f *fetching) shrink() {
	if f.large {
		f.large = false
		<-f.client.large
	}
}

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

// fault is why a fetch has no response, or not a whole one.
type fault struct {
	kind    archive.Kind
	address string
	detail  string
}

func newFault(kind archive.Kind, address, detail string) *fault { return &fault{kind, address, detail} }

func (f *fault) Error() string { return f.detail }

// faultOf says what an error of a connection to an address means. HandshakeFailed
// says that it came while the server should have proved who it is.
func faultOf(err error, address string, handshakeFailed bool) *fault {
	var known *fault
	switch {
	case errors.As(err, &known):
		return known
	case isTimeout(err):
		return newFault(archive.TimedOut, address, "the answer did not come in time")
	case handshakeFailed:
		return newFault(archive.BadTLS, address, err.Error())
	}
	return newFault(archive.Broken, address, err.Error())
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
