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
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"

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
