package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"

	"code.dny.dev/ssrf"
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
