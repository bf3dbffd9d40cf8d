package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// proxies are those that the environment names, where a person wants them used.
type proxies struct {
	find  func(*url.URL) (*url.URL, error)
	known sync.Map // addresses of proxies, which are dialled as they are
}

func newProxies(use bool) *proxies {
	if !use {
		return &proxies{find: func(*url.URL) (*url.URL, error) { return nil, nil }}
	}
	return &proxies{find: httpproxy.FromEnvironment().ProxyFunc()}
}

// of is the proxy for a request, nil for none.
func (p *proxies) of(req *http.Request) (*url.URL, error) {
	proxy, err := p.find(req.URL)
	if proxy != nil {
		p.known.Store(proxyAddress(proxy), true)
	}
	return proxy, err
}

func proxyAddress(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// knows reports whether a proxy lies at an address.
func (p *proxies) knows(address string) bool {
	_, ok := p.known.Load(address)
	return ok
}

// behindProxy checks the addresses that a host has here, before a proxy is asked
// for it. A name that only the proxy knows is left to it.
func (c *Client) behindProxy(ctx context.Context, t *target) *fault {
	_, err := c.resolve(ctx, t.host, t.port)
	var f *fault
	if errors.As(err, &f) && f.kind == archive.Refused {
		return f
	}
	return nil
}
