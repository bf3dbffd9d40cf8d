package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/text/link"
)

// UserAgent is what we call ourselves.
const UserAgent = "tidegate (checks cited sources; +https://github.com/tidegate/tidegate)"

const (
	maxHeader       = 64 << 10
	maxRedirectBody = 64 << 10 // of an answer that sends us elsewhere
	smallBody       = 1 << 20  // more than that is read of few bodies at once
)

// exchange sends one request and reads the answer. Hop is nil when none came; a
// fault may come with a hop whose body is not whole. Location is where the answer
// sends us.
func (f *fetching) exchange(ctx context.Context, t *target) (hop *archive.Hop, location string, _ *fault) {
	c := f.client
	hop = &archive.Hop{URL: link.Mask(t.url.String()), Time: c.options.Now()}
	seen := &sight{}
	req, err := f.request(httptrace.WithClientTrace(ctx, seen.trace()), t, hop)
	if err != nil {
		return nil, "", newFault(archive.Malformed, t.address(), err.Error())
	}
	proxy, err := c.proxies.of(req)
	if err != nil {
		return nil, "", newFault(archive.Unreachable, t.address(), "the environment names a proxy whose address cannot be read")
	}
	if proxy != nil {
		if fault := c.behindProxy(ctx, t); fault != nil {
			return nil, "", fault
		}
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, "", faultOf(err, t.address(), seen.handshakeFailed())
	}
	defer resp.Body.Close()
	limit := c.options.Limits.MaxBody
	if f.call != nil {
		limit = archive.MaxAnswer
	} else {
		f.jar.SetCookies(t.url, hostOnly(resp.Cookies()))
	}
	if isRedirect(resp.StatusCode) {
		location = resp.Header.Get("Location")
		limit = min(limit, maxRedirectBody)
	}
	hop.Body, err = readBody(resp.Body, limit, func() error { return f.becomeLarge(ctx) })
	hop.Status = resp.StatusCode
	hop.Truncated = truncated(err)
	hop.Header = answered(resp, len(hop.Body))
	if proxy == nil {
		hop.Address = seen.address()
	}
	switch hop.Truncated {
	case "", "length":
		return hop, location, nil
	case "time":
		return hop, "", newFault(archive.TimedOut, t.address(), "the answer did not end in time")
	}
	return hop, "", newFault(archive.Broken, t.address(), err.Error())
}

// request is the request for a page, or that of a call, and notes in hop what is sent.
func (f *fetching) request(ctx context.Context, t *target, hop *archive.Hop) (*http.Request, error) {
	method, accept := http.MethodGet, "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5"
	if f.call != nil {
		method, accept = f.call.Method, "application/json,application/atom+xml;q=0.9,*/*;q=0.5"
		hop.Method, hop.Sent = method, f.call.Body
	}
	req, err := http.NewRequestWithContext(ctx, method, t.url.String(), bytes.NewReader(hop.Sent))
	if err != nil {
		return nil, err
	}
	if len(hop.Sent) == 0 {
		req.Body, req.GetBody = nil, nil
	}
	req.Header.Set("User-Agent", UserAgent)
	// No Accept-Language: a page is quoted as its site shows it to everyone.
	req.Header.Set("Accept", accept)
	var asked []archive.Field
	if f.call != nil {
		asked = f.call.Header
	} else if f.client.options.Known != nil {
		asked = f.client.options.Known(hop.URL)
	}
	for _, field := range asked {
		req.Header.Set(field.Name, field.Value)
	}
	hop.Request = append([]archive.Field{{Name: "Host", Value: t.url.Host}, {Name: "Accept-Encoding", Value: "gzip"}}, fields(req.Header)...)
	if f.call == nil {
		for _, cookie := range f.jar.Cookies(t.url) {
			req.AddCookie(cookie)
		}
	}
	return req, nil
}

// errTooLong says that a body has more bytes than are read.
var errTooLong = errors.New("the body is too long")

// readBody reads a body up to a limit, into memory that grows with it. Before it
// takes more than a small body needs, it calls large. What was read is returned
// with every error.
func readBody(r io.Reader, limit int64, large func() error) ([]byte, error) {
	body := make([]byte, 0, min(32<<10, limit+1))
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return body[:limit], errTooLong
		case err == io.EOF:
			return body, nil
		case err != nil:
			return body, err
		case len(body) < cap(body):
			continue
		}
		size := min(2*int64(len(body)), limit+1)
		if size > smallBody {
			if err := large(); err != nil {
				return body, err
			}
		}
		body = append(make([]byte, 0, size), body...)
	}
}

// truncated is why a body that ended with err is not whole, in the words of
// WARC; "" when it is.
func truncated(err error) string {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errTooLong):
		return "length"
	case isTimeout(err):
		return "time"
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return "unspecified"
	}
	return "disconnect"
}

// hostOnly are cookies that are sent back to the host that set them and to no
// other.
func hostOnly(cookies []*http.Cookie) []*http.Cookie {
	for _, cookie := range cookies {
		cookie.Domain = ""
	}
	return cookies
}

// isRedirect reports whether an answer of that status sends us elsewhere.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// answered is the header of an answer as it is kept. The body is kept without
// its codings, so what described them is kept under another name, as other
// archives do.
func answered(resp *http.Response, length int) []archive.Field {
	header := resp.Header.Clone()
	if resp.Uncompressed {
		header.Set("X-Orig-Content-Encoding", "gzip")
	}
	if given := header.Get("Content-Length"); given != "" && given != strconv.Itoa(length) {
		header.Del("Content-Length")
		header.Set("X-Orig-Content-Length", given)
	}
	return fields(header)
}

// fields are the lines of a header in byte order of names, without secrets.
func fields(header http.Header) []archive.Field {
	var all []archive.Field
	for name, values := range header {
		for _, value := range values {
			all = append(all, archive.Field{Name: name, Value: withoutSecret(name, value)})
		}
	}
	slices.SortStableFunc(all, func(a, b archive.Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// withoutSecret is the value of a field as it is kept.
func withoutSecret(name, value string) string {
	name = strings.ToLower(name)
	for _, word := range []string{"cookie", "token", "session", "secret", "authorization", "authentication", "api-key", "password"} {
		if strings.Contains(name, word) {
			return "[REDACTED]"
		}
	}
	switch name {
	case "location", "content-location", "refresh", "link":
		return link.Mask(value)
	}
	return value
}

// sight is what can be seen of a connection. Go may go on with a connection that
// nobody waits for any more, so that it is seen from several goroutines.
type sight struct {
	mu     sync.Mutex
	remote net.Addr
	failed bool
}

func (s *sight) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.remote = info.Conn.RemoteAddr()
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.failed = err != nil
		},
	}
}

// address is the IP that answered.
func (s *sight) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tcp, ok := s.remote.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().String()
	}
	return ""
}

func (s *sight) handshakeFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

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
