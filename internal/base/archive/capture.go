package archive

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/link"
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

// MaxBlock is the size of the largest block of a record, in bytes: what was
// sent or received, or an attached file.
const MaxBlock = 64 << 20

// Packed is a capture as the records that will stand in the archive. Packing
// takes much of the time, so it is done before the lock is taken.
type Packed struct {
	// Fetched says that a server answered just now. The package that fetches sets it.
	Fetched bool

	capture Capture
	members [][]byte
}

// Entry is a summary of the packed capture, as yet without the places of its records.
func (p *Packed) Entry() Entry { return entryOf(p.capture) }

// Capture is the packed capture as it is read from the archive again: what a
// record cannot hold is gone.
func (p *Packed) Capture() Capture { return p.capture }

// Pack makes records from a capture. It returns INVALID_ARGS for a URL that is
// not UTF-8 or carries credentials, and for a body that no record can hold.
func Pack(c Capture) (*Packed, error) {
	if link.ShowsCredentials(c.URL) {
		masked := link.Mask(c.URL)
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("url", masked), "a URL with credentials cannot be kept: %s", masked)
	}
	if !utf8.ValidString(c.URL) {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("url", strings.ToValidUTF8(c.URL, "\uFFFD")), "a URL must be UTF-8 text")
	}
	p := &Packed{}
	var drafts []*draft
	var ids []string
	for _, hop := range c.Hops {
		if max(len(hop.Body), len(hop.Sent)) > MaxBlock-maxHead {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("url", c.URL), "a record holds at most %d bytes, got %d: %s", MaxBlock-maxHead, len(hop.Body), c.URL)
		}
		drafts = append(drafts, draftsOf(c.Kind, hop)...)
		ids = append(ids, drafts[len(drafts)-1].id)
	}
	body, err := codec.MarshalLine(note{c.Kind, c.URL, c.Address, stamp(c.Time), tidegate.Cut(c.Detail), c.Name})
	if err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, nil, "what became of a fetch must be JSON: %w", err)
	}
	last := begin("metadata", c.URL, stamp(c.Time), nil, body)
	for _, id := range ids {
		last.add("WARC-Concurrent-To", id)
	}
	last.add("Content-Type", "application/json")
	drafts = append(drafts, last)
	for _, d := range drafts {
		p.members = append(p.members, d.member())
	}
	if p.capture, err = readDrafts(drafts); err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, tidegate.Pairs("url", c.URL), "a capture must be readable once it is packed: %w", err)
	}
	return p, nil
}

// note is the JSON of the record that ends a capture.
type note struct {
	Kind    Kind   `json:"kind"`
	URL     string `json:"url"`
	Address string `json:"address"`
	Time    string `json:"time"`
	Detail  string `json:"detail,omitempty"`
	Name    string `json:"name,omitempty"`
}

// draftsOf are the records of a hop. The last one holds the body.
func draftsOf(kind Kind, hop Hop) []*draft {
	at := stamp(hop.Time)
	if kind == Attached {
		file := begin("resource", hop.URL, at, nil, hop.Body)
		file.add("WARC-Payload-Digest", codec.DigestBytes(hop.Body))
		file.addUnlessEmpty("Content-Type", hop.Get("Content-Type"))
		return []*draft{file}
	}
	answer := begin("response", hop.URL, at, responseHead(hop), hop.Body)
	answer.add("WARC-Payload-Digest", codec.DigestBytes(hop.Body))
	answer.addUnlessEmpty("WARC-IP-Address", hop.Address)
	answer.addUnlessEmpty("WARC-Truncated", hop.Truncated)
	answer.add("Content-Type", "application/http; msgtype=response")
	asked := begin("request", hop.URL, at, requestHead(hop), hop.Sent)
	asked.add("WARC-Concurrent-To", answer.id)
	asked.addUnlessEmpty("WARC-IP-Address", hop.Address)
	asked.add("Content-Type", "application/http; msgtype=request")
	return []*draft{asked, answer}
}

// readDrafts reads records as they will be read from the archive, without
// copying their bodies.
func readDrafts(drafts []*draft) (Capture, error) {
	m := membersPool.Get().(*members)
	defer m.giveBack()
	records := make([]*record, len(drafts))
	for i, d := range drafts {
		m.header.Reset(bytes.NewReader(d.header.Bytes()))
		rec, _, _, err := readHeader(m.header)
		if err == nil && rec.isHTTP() {
			err = m.readHead(rec, bytes.NewReader(d.head))
		}
		if err != nil {
			return Capture{}, err
		}
		rec.body = d.body
		records[i] = rec
	}
	return assemble(records)
}

// draft is a record in the making.
type draft struct {
	id         string
	header     bytes.Buffer
	head, body []byte // together the block
}

// begin begins a record. Its id follows from what it holds, so that the
// same fetch at the same time gives the same bytes.
func begin(kind, target, date string, head, body []byte) *draft {
	block := sha256.New()
	block.Write(head)
	block.Write(body)
	digest := codec.DigestOf(block)
	id := sha256.Sum256([]byte(kind + " " + target + " " + date + " " + digest))
	id[6] = id[6]&0x0f | 0x80 // RFC 9562: a UUID of version 8 is made by a rule of its author
	id[8] = id[8]&0x3f | 0x80
	r := &draft{id: fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]), head: head, body: body}
	r.header.WriteString(version + "\r\n")
	r.add("WARC-Type", kind)
	r.add("WARC-Record-ID", r.id)
	r.add("WARC-Date", date)
	if strings.Contains(target, "://") {
		r.add("WARC-Target-URI", uri(target))
	}
	r.add("WARC-Block-Digest", digest)
	r.add("Content-Length", strconv.Itoa(len(head)+len(body)))
	return r
}

func (r *draft) add(name, value string) {
	r.header.WriteString(name + ": " + headerValue(value) + "\r\n")
}

func (r *draft) addUnlessEmpty(name, value string) {
	if value != "" {
		r.add(name, value)
	}
}

// compressors have some 800 KB each, which is worth keeping.
var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

// storers write what is too small for compression to be worth its time.
var storers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.NoCompression)
	return w
}}

// small is the size of a block that is stored as it is: a page of memory or disk,
// whose compression takes longer than all else that is done to it.
const small = 4 << 10

// member completes the header, and returns the record as one gzip member.
func (r *draft) member() []byte {
	r.header.WriteString("\r\n")
	pool, size := &compressors, len(r.body)/4
	if len(r.head)+len(r.body) < small {
		pool, size = &storers, len(r.head)+len(r.body)
	}
	var out bytes.Buffer
	out.Grow(r.header.Len() + size + 1<<10)
	w := pool.Get().(*gzip.Writer)
	defer pool.Put(w)
	w.Reset(&out)
	for _, part := range [][]byte{r.header.Bytes(), r.head, r.body, []byte("\r\n\r\n")} {
		w.Write(part) // a buffer takes everything
	}
	w.Close()
	return out.Bytes()
}

// requestHead is the request as it was sent by HTTP/1.1.
func requestHead(hop Hop) []byte {
	_, rest, _ := strings.Cut(hop.URL, "//")
	target := "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		target = rest[i:]
	}
	if target[0] == '?' {
		target = "/" + target
	}
	return httpHead(cmp.Or(hop.Method, "GET")+" "+target+" HTTP/1.1", hop.Request)
}

// responseHead is the status line and the header as they come by HTTP/1.1.
func responseHead(hop Hop) []byte {
	return httpHead("HTTP/1.1 "+strconv.Itoa(hop.Status)+" ", hop.Header)
}

func httpHead(first string, fields []Field) []byte {
	var out bytes.Buffer
	out.WriteString(first + "\r\n")
	for _, field := range fields {
		line := field.Name + ": " + headerValue(field.Value) + "\r\n"
		if strings.ContainsFunc(field.Name, func(r rune) bool { return r <= ' ' || r == ':' || r >= 0x7f }) {
			continue // not a name
		}
		if out.Len()+len(line) > maxHead-len("\r\n") {
			break
		}
		out.WriteString(line)
	}
	out.WriteString("\r\n")
	return out.Bytes()
}

// headerValue is s with blanks in place of control characters.
func headerValue(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}

// uri is a URL with escapes for what cannot stand in one.
func uri(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}
