package fetch_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// small is a web of one handler, in memory, over plain HTTP. It sees everything
// that a client asks of the system.
type small struct {
	addrs  map[string][]string // that names resolve to; others to one public address
	server *http.Server
	conns  chan net.Conn
	closed chan struct{}

	mu       sync.Mutex
	resolved []string
	dialed   []string
}

// newSmall begins a web; it ends with the test or the bubble.
func newSmall(t testing.TB, handler http.HandlerFunc) *small {
	w := startSmall(handler)
	t.Cleanup(func() { w.server.Close() })
	return w
}

func startSmall(handler http.HandlerFunc) *small {
	w := &small{addrs: map[string][]string{}, conns: make(chan net.Conn), closed: make(chan struct{})}
	w.server = &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	go w.server.Serve(w)
	return w
}

func (w *small) Accept() (net.Conn, error) {
	select {
	case conn := <-w.conns:
		return conn, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *small) Close() error {
	close(w.closed)
	return nil
}

func (w *small) Addr() net.Addr { return &net.TCPAddr{} }

func (w *small) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resolved = append(w.resolved, host)
	var addrs []netip.Addr
	for _, addr := range w.addrs[host] {
		addrs = append(addrs, netip.MustParseAddr(addr))
	}
	if addrs == nil {
		addrs = []netip.Addr{netip.MustParseAddr("20.1.2.3")}
	}
	return addrs, nil
}

func (w *small) dial(_ context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	near, far := net.Pipe()
	select {
	case w.conns <- far:
		return near, nil
	case <-w.closed: // the client dials ahead
		return nil, net.ErrClosed
	}
}

func (w *small) seen() (resolved, dialed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.resolved), slices.Clone(w.dialed)
}

// options are those of a client of this web, without pauses between requests.
func (w *small) options() fetch.Options {
	limits := fetch.DefaultLimits
	limits.Spacing = 0
	return fetch.Options{
		Limits: limits, Resolve: w.resolve, Dial: w.dial,
		Now: func() time.Time { return noon }, Jitter: func() float64 { return 0.5 },
	}
}

// get fetches a URL with a client of its own.
func (w *small) get(t testing.TB, options fetch.Options, url string) archive.Capture {
	t.Helper()
	client := fetch.New(options)
	defer client.Close()
	c := must.Get(client.Get(t.Context(), url))(t)
	return c
}
