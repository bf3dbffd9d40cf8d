package fetch

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/text/link"
)

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
