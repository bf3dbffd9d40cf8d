package planted

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
)

// Web is the planted web, running.
type Web struct {
	sites  map[string]*site // by name
	byAddr map[netip.Addr]*site
	issuer *issuer
	listen func() (near, far net.Conn, err error) // a new connection: the client's end and the server's
	plain  *http.Server
	secure *http.Server
	queues [2]*queue // connections for the two servers

	mu     sync.Mutex
	asked  map[string]int // requests by URL
	dialed []string       // addresses that were dialled
	hung   map[net.Conn]bool
}

// New starts the web in memory. It can be used inside a testing/synctest bubble.
func New() *Web { return start(pipe) }

// NewOnLoopback starts the web on loopback.
func NewOnLoopback() *Web { return start(loopback) }

func start(listen func() (near, far net.Conn, err error)) *Web {
	b := built()
	w := &Web{sites: b.sites, byAddr: map[netip.Addr]*site{}, issuer: newIssuer(), listen: listen, asked: map[string]int{}, hung: map[net.Conn]bool{}}
	for _, s := range b.sites {
		for _, addr := range s.addrs {
			w.byAddr[addr] = s
		}
	}
	silent := log.New(io.Discard, "", 0)
	w.queues = [2]*queue{newQueue(), newQueue()}
	w.plain = &http.Server{Handler: w, ErrorLog: silent}
	w.secure = &http.Server{Handler: w, ErrorLog: silent, TLSConfig: &tls.Config{GetConfigForClient: w.handshake}}
	go w.plain.Serve(w.queues[0])
	go w.secure.ServeTLS(w.queues[1], "", "")
	return w
}

// Close ends the web.
func (w *Web) Close() {
	w.plain.Close()
	w.secure.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.hung {
		conn.Close()
	}
}

// Roots are the authorities whose certificates a client of this web trusts.
func (w *Web) Roots() *x509.CertPool { return w.issuer.roots() }

// Resolve says which addresses a name has.
func (w *Web) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	s := w.sites[host]
	if s == nil || len(s.addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return append([]netip.Addr(nil), s.addrs...), nil
}

// Dial connects to an address that a name of this web has.
func (w *Web) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	s := w.byAddr[at.Addr()]
	if s == nil || s.connect == "refused" || at.Port() != 80 && at.Port() != 443 {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	if s.connect == "silent" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	near, far, err := w.listen()
	if err != nil {
		return nil, err
	}
	switch {
	case at.Port() == 80, s.tls == "plain text":
		w.queues[0].put(far)
	case s.tls == "silent":
		w.mu.Lock()
		w.hung[far] = true
		w.mu.Unlock()
		go io.Copy(io.Discard, far)
	case s.tls == "closed":
		go func() {
			bufio.NewReader(far).ReadByte()
			far.Close()
		}()
	default:
		w.queues[1].put(far)
	}
	return near, nil
}

// Dialed are the addresses that were dialled, in order.
func (w *Web) Dialed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.dialed...)
}

// Asked is the number of requests for a URL, by the host and path that the server
// saw.
func (w *Web) Asked(url string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[url]
}

// ServeHTTP answers for every site, by the Host that a request names.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host := strings.ToLower(r.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	url := scheme + "://" + host + r.URL.RequestURI()
	w.mu.Lock()
	w.asked[url]++
	times := w.asked[url]
	w.mu.Unlock()
	if s := w.sites[host]; s != nil {
		s.serve(rw, r.WithContext(context.WithValue(r.Context(), timesAsked{}, times)))
		return
	}
	http.Error(rw, fmt.Sprintf("no site %s", host), http.StatusMisdirectedRequest)
}

// timesAsked is the key of how often a page was asked for, this time included. Pages
// have no memory of their own, because all webs have the same ones.
type timesAsked struct{}

func asked(r *http.Request) int { return r.Context().Value(timesAsked{}).(int) }

// queue is a listener that returns the connections that are put into it.
type queue struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newQueue() *queue { return &queue{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (q *queue) put(conn net.Conn) {
	select {
	case q.conns <- conn:
	case <-q.ended:
		conn.Close()
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.conns:
		return conn, nil
	case <-q.ended:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.ended) })
	return nil
}

func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }
