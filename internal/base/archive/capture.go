package archive

import (
	"context"
	"strings"
	"time"
)

// Kind says how a capture ended.
type Kind string

// The kinds.
const (
	Responded   Kind = "response"     // the last hop has a response
	Attached    Kind = "attached"     // a person's file; the only hop holds it
	Malformed   Kind = "malformed"    // not a URL that can be fetched
	Refused     Kind = "refused"      // a private or reserved address or name, or a port other than 80 and 443
	NoSuchName  Kind = "no_such_name" // the name does not exist
	Unreachable Kind = "unreachable"  // no connection, or no answer about the name
	TimedOut    Kind = "timeout"      // not all of the answer came in time
	BadTLS      Kind = "tls"          // the server could not prove who it is
	Redirects   Kind = "redirects"    // more redirects than are followed
	Broken      Kind = "broken"       // the answer is not HTTP, or ends too early
	Absent      Kind = "absent"       // the archive that answers in the place of the web does not have it
)

// Answered reports whether somebody was asked and answered, whatever it was.
func (k Kind) Answered() bool {
	return k != Unreachable && k != TimedOut && k != NoSuchName && k != Refused
}

// Capture is one complete fetch of a URL.
type Capture struct {
	URL     string // as it was asked for
	Kind    Kind
	Time    time.Time // when it ended
	Address string    // that was asked or refused last, as host:port; "" when there was none
	Detail  string    // what went wrong, for people
	Name    string    // of an attached file
	Hops    []Hop     // every request that was answered, redirects and repetitions included
}

// Hop is one request and its response.
type Hop struct {
	URL       string // that was asked, without credentials
	Time      time.Time
	Address   string  // IP that answered; "" through a proxy
	Method    string  // "" for GET
	Request   []Field // as sent
	Sent      []byte  // the body of the request
	Status    int     // 0 for an attached file
	Header    []Field // of the response, in byte order of names
	Body      []byte  // without transfer and content coding
	Truncated string  // why the body is not whole, in the words of WARC: length, time, disconnect, unspecified
}

// Field is one line of a header.
type Field struct{ Name, Value string }

// Get is the value of the first field of that name, in any letter case.
func (h Hop) Get(name string) string {
	for _, field := range h.Header {
		if strings.EqualFold(field.Name, name) {
			return field.Value
		}
	}
	return ""
}

// Last is the hop that decides: the last one, or an empty one when nothing
// answered.
func (c Capture) Last() Hop {
	if len(c.Hops) == 0 {
		return Hop{}
	}
	return c.Hops[len(c.Hops)-1]
}

// Known is what a later request for the page at url carries, so that a server need not
// send again what has not changed. There are no fields for a page that is not whole, or
// whose server named nothing to compare.
func (c Capture) Known() (url string, fields []Field) {
	last := c.Last()
	if c.Kind != Responded || last.Status != 200 || last.Truncated != "" {
		return last.URL, nil
	}
	for _, f := range []struct{ of, as string }{{"ETag", "If-None-Match"}, {"Last-Modified", "If-Modified-Since"}} {
		if value := last.Get(f.of); value != "" {
			fields = append(fields, Field{f.as, value})
		}
	}
	return last.URL, fields
}

// Attachment is a person's file as the evidence of a source that cannot be
// fetched.
func Attachment(url, name, contentType string, body []byte, at time.Time) Capture {
	return Capture{URL: url, Kind: Attached, Time: at, Name: name, Hops: []Hop{
		{URL: url, Time: at, Header: []Field{{"Content-Type", contentType}}, Body: body},
	}}
}

// stamp writes a time as it stands in artifacts.
func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

const timeLayout = "2006-01-02T15:04:05.000Z"

// Request is one request to a service that a person named, such as a search.
type Request struct {
	Method, URL string
	Header      []Field
	Body        []byte
	Secrets     []string      // what of it, and of its echo in the answer, is kept nowhere
	Named       bool          // a person named the address: it is allowed as it stands
	Pause       time.Duration // that the service wants before the next request
}

// Call sends a request to a service by the name that records have; its only error is that
// of ctx.
type Call func(ctx context.Context, name string, r Request) (Capture, error)

// MaxAnswer is how many bytes the answer to a request may have.
const MaxAnswer = 4 << 20
