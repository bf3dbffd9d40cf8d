package source

import (
	"cmp"
	"mime"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Page is what the archive has of a URL: the last complete fetch, or a file that
// a person attached.
type Page struct {
	URL       string // as it was asked for
	FinalURL  string // of the last response; "" means that nothing was redirected
	Redirects []Hop  // those that led from URL to FinalURL
	Status    int    // of the last response; 0 without one
	// Header are the fields of the last response, names as in HTTP/1.1
	// (Content-Type).
	Header      map[string][]string
	ContentType string
	Body        []byte    // decoded from chunks and compression
	Truncated   bool      // the fetcher's cap cut the body
	FetchedAt   time.Time // or attached at
	Fault       Fault     // why it has no response
	Attached    bool      // a person's file, not a response
}

// Hop is one redirect.
type Hop struct {
	URL    string
	Status int
}

// Fault is the kind of failure that left a fetch without a response.
type Fault string

// The faults. One that is not listed here counts as NoConnection.
const (
	BadURL           Fault = "bad_url"            // the fetcher does not accept it as a URL
	RefusedAddress   Fault = "refused_address"    // private or reserved, or a port that nobody allowed
	NoSuchName       Fault = "no_such_name"       // the name service says that the host does not exist
	RedirectLoop     Fault = "redirect_loop"      // it leads back to itself
	TooManyRedirects Fault = "too_many_redirects" // more than the fetcher follows
	BadRedirect      Fault = "bad_redirect"       // it leads to something that is not an http or https URL
	TimedOut         Fault = "timed_out"          // the whole exchange took too long
	BadTLS           Fault = "bad_tls"            // the certificate or the handshake
	NoConnection     Fault = "no_connection"      // no network, refused, reset, or not HTTP
	Absent           Fault = "absent"             // the archive that answers in the place of the web does not have it
)

// response reports whether there is something to judge the page by.
func (p *Page) response() bool { return p.Status != 0 || p.Attached }

// final is the URL of the page that was read.
func (p *Page) final() string { return cmp.Or(p.FinalURL, p.URL) }

// Content is what can be read of the page.
func (p *Page) Content() page.Content {
	if p.coded() {
		return page.Content{Media: page.Other}
	}
	kind, params, err := mime.ParseMediaType(p.ContentType)
	name, _, _ := strings.Cut(strings.ToLower(p.final()), "?")
	if err == nil && kind == "text/plain" && (strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".markdown")) {
		return page.Read(p.Body, mime.FormatMediaType(page.MarkdownType, params)) // forges serve the files of a project so
	}
	return page.Read(p.Body, p.ContentType)
}

// coded reports whether the body is still in a coding that nobody asked for, so
// that no text can be read from it.
func (p *Page) coded() bool {
	coding := strings.ToLower(strings.TrimSpace(p.header("Content-Encoding")))
	return coding != "" && coding != "identity"
}

// header is the first field of a name, or "".
func (p *Page) header(name string) string {
	if values := p.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}
