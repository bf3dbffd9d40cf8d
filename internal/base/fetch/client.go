package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/text/link"
)

// Limits bound what one client does.
type Limits struct {
	Deadline time.Duration // for one URL, redirects and repetitions included, without pauses
	MaxBody  int64         // bytes of a body, after decompression
	Parallel int           // requests at once
	PerHost  int           // requests at once to one host
	Spacing  time.Duration // between the beginnings of two requests to one host
}

// DefaultLimits are those of a client that is given none.
var DefaultLimits = Limits{Deadline: 30 * time.Second, MaxBody: 16 << 20, Parallel: 8, PerHost: 2, Spacing: 250 * time.Millisecond}

const (
	maxRedirects  = 5                // that are followed
	handshakeTime = 15 * time.Second // for a server to prove who it is
	largeBodies   = 2                // that are in memory at once
)

// Options are the parts of a client. Those that are not given come from the system.
type Options struct {
	Allow  Allow
	Proxy  bool                     // the proxies that the environment names are used
	Getenv func(name string) string // that environment; nil: that of the process
	Limits Limits
	// Known are the fields that a request for a page carries because the asker has the page
	// already, see [archive.Capture.Known]; nil where nothing is known.
	Known func(url string) []archive.Field

	Now     func() time.Time // what is written down as the time of a fetch
	Jitter  func() float64   // from 0 to 1
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Roots   *x509.CertPool // whose certificates are trusted
}

// Client fetches pages. It may be used by several goroutines.
type Client struct {
	options   Options
	guard     *ssrf.Guardian
	proxies   *proxies
	gates     *gates
	places    chan struct{} // for requests at once
	large     chan struct{} // for large bodies at once
	transport *http.Transport
}

// New makes a client.
func New(options Options) *Client {
	if options.Limits == (Limits{}) {
		options.Limits = DefaultLimits
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	if options.Resolve == nil {
		options.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if options.Dial == nil {
		options.Dial = (&net.Dialer{}).DialContext
	}
	c := &Client{
		options: options,
		guard:   options.Allow.guard(),
		proxies: newProxies(options.Proxy, options.Getenv),
		gates:   &gates{limits: options.Limits, byHost: map[string]*gate{}},
		places:  make(chan struct{}, options.Limits.Parallel),
		large:   make(chan struct{}, largeBodies),
	}
	c.transport = &http.Transport{
		Proxy:                  c.proxies.of,
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: options.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           2 * options.Limits.Parallel,
		MaxIdleConnsPerHost:    options.Limits.PerHost,
		IdleConnTimeout:        5 * time.Second,
	}
	return c
}

// Close closes the connections that are kept for later requests.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Call sends a request and returns what became of it, under a name that is no URL of a
// page. It follows no redirect to another host and knows no cookies. Secrets are masked
// in everything that it returns; an answer that is too long comes without its body. The
// only error is that of ctx.
func (c *Client) Call(ctx context.Context, name string, r archive.Request) (archive.Capture, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return archive.Capture{URL: name, Kind: archive.Malformed, Time: c.options.Now(), Detail: "not a URL"}, nil
	}
	if r.Named {
		c = c.allowing(u)
		defer c.Close()
	}
	f := c.begin(name, nil)
	defer f.leave()
	defer f.shrink()
	f.call = &r
	for next := u; next != nil; {
		if next, err = f.hop(ctx, next); err != nil {
			return archive.Capture{}, err
		}
	}
	if host, ok := asciiHost(u.Hostname()); ok {
		c.gates.of(host).hold(r.Pause)
	}
	return masked(f.capture, r.Secrets), nil
}

// allowing is a client that may also ask the host and port of a URL. It shares the pauses
// with c, and no connection: what is open to a call is not open to a page.
func (c *Client) allowing(u *url.URL) *Client {
	options := c.options
	options.Allow.hostPorts = map[string]bool{}
	for at := range c.options.Allow.hostPorts {
		options.Allow.hostPorts[at] = true
	}
	host, ok := asciiHost(u.Hostname())
	if port, known := portOf(u, strings.EqualFold(u.Scheme, "https")); ok && known {
		options.Allow.hostPorts[net.JoinHostPort(host, port)] = true
	}
	wider := New(options)
	wider.gates, wider.places, wider.large = c.gates, c.places, c.large
	return wider
}

// sameHost reports whether a redirect stays at the host and port, and stays secret where
// it is.
func sameHost(t *target, next *url.URL) bool {
	to, fault := parseTarget(next, Allow{hostPorts: map[string]bool{t.address(): true}})
	return fault == nil && to.address() == t.address() && to.secure == t.secure
}

// masked is a capture without secrets.
func masked(c archive.Capture, secrets []string) archive.Capture {
	mask := func(text string) string { return link.MaskSecrets(text, secrets) }
	c.Detail = mask(c.Detail)
	for i, hop := range c.Hops {
		if hop.Truncated != "" {
			hop.Body = nil // it may end within a secret
		}
		hop.URL, hop.Body, hop.Sent = mask(hop.URL), []byte(mask(string(hop.Body))), []byte(mask(string(hop.Sent)))
		hop.Request, hop.Header = slices.Clone(hop.Request), slices.Clone(hop.Header)
		for _, fields := range [][]archive.Field{hop.Request, hop.Header} {
			for k := range fields {
				fields[k].Name, fields[k].Value = mask(fields[k].Name), mask(fields[k].Value)
			}
		}
		c.Hops[i] = hop
	}
	return c
}

const (
	maxRetries    = 2
	maxRetryAfter = 10 * time.Second
	backOff       = time.Second // before the first repetition; twice as long before the second
)

// retryAfter says whether a request is repeated after an answer, and how long to
// wait before that. Retries is how often it was repeated before. A server that asks
// for more than ten seconds is not asked again.
func retryAfter(hop archive.Hop, retries int, options Options) (time.Duration, bool) {
	if hop.Status != http.StatusTooManyRequests && hop.Status != http.StatusServiceUnavailable || retries >= maxRetries {
		return 0, false
	}
	value := strings.TrimSpace(hop.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait := time.Duration(seconds) * time.Second
		return wait, wait <= maxRetryAfter
	}
	if at, err := http.ParseTime(value); err == nil {
		wait := max(0, at.Sub(options.Now()))
		return wait, wait <= maxRetryAfter
	}
	return time.Duration(float64(backOff<<retries) * (0.5 + options.Jitter())), true
}

// gate lets few requests at once through to one host, and spaces them.
type gate struct {
	places  chan struct{}
	spacing time.Duration

	mu   sync.Mutex
	next time.Time // before which no request begins
}

func newGate(limits Limits) *gate {
	return &gate{places: make(chan struct{}, limits.PerHost), spacing: limits.Spacing}
}

// enter waits for a place among those of the host, and until a request may
// begin. It returns the error of ctx.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.mu.Lock()
	wait := time.Until(g.next)
	g.mu.Unlock()
	if err := pause(ctx, wait); err != nil {
		g.leave()
		return err
	}
	return nil
}

// begin is called right before a request, after enter: something else may have
// been waited for in between, and others may have begun. It returns the error
// of ctx.
func (g *gate) begin(ctx context.Context) error {
	g.mu.Lock()
	now := time.Now()
	wait := max(0, g.next.Sub(now))
	g.next = now.Add(wait + g.spacing)
	g.mu.Unlock()
	return pause(ctx, wait)
}

func (g *gate) leave() { <-g.places }

// hold keeps every request from beginning for a while, because the host asked
// for it.
func (g *gate) hold(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if next := time.Now().Add(wait); next.After(g.next) {
		g.next = next
	}
}

// longer are the pauses that hosts ask for whose rules say so, one request at a time. They
// hold for all clients of the process, searches and look-ups alike.
var longer = map[string]*gate{"export.arxiv.org": newGate(Limits{PerHost: 1, Spacing: 3 * time.Second})}

// gates are the gates of all hosts.
type gates struct {
	limits Limits
	mu     sync.Mutex
	byHost map[string]*gate
}

func (g *gates) of(host string) *gate {
	if own := longer[host]; own != nil && g.limits.Spacing > 0 { // without pauses there are none
		return own
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byHost[host] == nil {
		g.byHost[host] = newGate(g.limits)
	}
	return g.byHost[host]
}

// pause waits, and returns the error of ctx when it ends first.
func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Progress is how far a call of [Client.Each] has come.
type Progress struct {
	Done, Total int
	Slow        string        // the URL that has been waited for longest, "" when none is slow
	For         time.Duration // how long Slow has been waited for
}

// maxWaiting is how many captures wait to be kept: enough for a disk to take many
// at once, and few enough to be held in memory. Large ones are fewer.
const maxWaiting = 32

// gathering is how long a capture waits for others to be kept with it. A fast
// server would cost a write for each page otherwise.
const gathering = 20 * time.Millisecond

// slow is the time after which a URL is worth naming.
const slow = 3 * time.Second

// Each fetches many URLs, each once, and hands the captures over to keep as they
// come: those that ended about the same time, at least one. URLs that are not
// [Fetchable] are left out. Keep is called by one goroutine at a time, and few
// captures wait for it, packed. Progress may be nil; it is called for every batch,
// and once a second.
//
// When ctx ends, what has been handed over is all that there is: no capture is
// handed over in part. Each returns the error of ctx or of keep.
func (c *Client) Each(ctx context.Context, urls []string, keep func([]*archive.Packed) error, progress func(Progress)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	urls = fetchable(urls)
	watch := newWatch(len(urls), progress)
	stopWatch := watch.everySecond()
	defer stopWatch()

	ended := make(chan *fetching, maxWaiting)
	var workers sync.WaitGroup
	for _, url := range urls {
		workers.Go(func() {
			if err := c.one(ctx, url, watch, ended); err != nil {
				stop(err)
			}
		})
	}
	go func() {
		workers.Wait()
		close(ended)
	}()
	for first := range ended {
		batch := batchOf(first, ended)
		if err := c.hand(ctx, batch, keep); err != nil {
			stop(err)
			continue // the workers must end
		}
		watch.done(batch)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fetchable are the URLs that may be fetched, each once, in their order.
func fetchable(urls []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(urls), func(url string) bool {
		if seen[url] || !Fetchable(url) {
			return true
		}
		seen[url] = true
		return false
	})
}

// one fetches and packs a URL and hands it over. It has its place for requests until
// then, and its place for a large body until the capture is kept.
func (c *Client) one(ctx context.Context, url string, watch *watch, ended chan<- *fetching) error {
	f := c.begin(url, func() { watch.began(url) })
	defer f.leave()
	err := f.run(ctx)
	if err == nil {
		if f.packed, err = archive.Pack(f.capture); err == nil {
			f.packed.Fetched = true
		}
	}
	if err != nil {
		f.shrink()
		return err
	}
	f.capture.Hops = nil
	ended <- f
	return nil
}

// hand gives a batch to keep.
func (c *Client) hand(ctx context.Context, batch []*fetching, keep func([]*archive.Packed) error) error {
	packed := make([]*archive.Packed, len(batch))
	for i, f := range batch {
		defer f.shrink()
		packed[i] = f.packed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return keep(packed)
}

// batchOf is a capture with those that end soon after it, at most as many as are
// kept at once.
func batchOf(first *fetching, ended <-chan *fetching) []*fetching {
	batch := []*fetching{first}
	gathered := time.NewTimer(gathering)
	defer gathered.Stop()
	for len(batch) < maxWaiting {
		select {
		case f, ok := <-ended:
			if !ok {
				return batch
			}
			batch = append(batch, f)
		case <-gathered.C:
			return batch
		}
	}
	return batch
}
