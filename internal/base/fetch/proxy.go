package fetch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// proxies are those that the environment names, where a person wants them used.
type proxies struct {
	find  func(*url.URL) (*url.URL, error)
	idle  string   // the variable that names one, where they are not to be used
	known sync.Map // addresses of proxies, which are dialled as they are
}

func newProxies(use bool, getenv func(string) string) *proxies {
	if getenv == nil {
		getenv = os.Getenv
	}
	if !use {
		idle := &proxies{find: func(*url.URL) (*url.URL, error) { return nil, nil }}
		idle.idle = proxyVariable(getenv)
		return idle
	}
	either := func(name string) string { return cmp.Or(getenv(name), getenv(strings.ToLower(name))) }
	config := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	return &proxies{find: config.ProxyFunc()}
}

// proxyVariable is the variable of an environment that names a proxy, "" where none does.
func proxyVariable(getenv func(string) string) string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

// AskProxy asks the proxy that an environment names for a connection to itself alone. It
// returns the variable that names it, "" where none does, the proxy's address, and why
// it cannot be used.
func AskProxy(ctx context.Context, getenv func(string) string) (variable, address string, err error) {
	if variable = proxyVariable(getenv); variable == "" {
		return "", "", nil
	}
	proxy, err := url.Parse(getenv(variable))
	if err != nil || proxy.Hostname() == "" {
		return variable, "", errors.New("its address cannot be read")
	}
	address = proxyAddress(proxy)
	ctx, cancel := context.WithTimeout(ctx, perAddress)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return variable, address, err
	}
	return variable, address, conn.Close()
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

// through connects to a host and port by a proxy.
func (c *Client) through(ctx context.Context, proxy *url.URL, host, port string) (net.Conn, error) {
	address := net.JoinHostPort(host, port)
	if fault := c.behindProxy(ctx, &target{host: host, port: port}); fault != nil {
		return nil, fault
	}
	if proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, newFault(archive.Unreachable, address, "the proxy is none for HTTP: "+proxy.Scheme)
	}
	conn, err := c.options.Dial(ctx, "tcp", proxyAddress(proxy))
	if err != nil {
		return nil, newFault(archive.Unreachable, address, "the proxy does not answer: "+err.Error())
	}
	if proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12, ServerName: proxy.Hostname()})
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	read, err := askProxy(conn, proxy.User, address)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, newFault(archive.Unreachable, address, "the proxy does not connect: "+err.Error())
	}
	return &proxied{conn, read}, nil
}

// askProxy asks a proxy for a connection, and returns what reads the rest of it.
func askProxy(conn net.Conn, user *url.Userinfo, address string) (*bufio.Reader, error) {
	login := ""
	if user != nil {
		password, _ := user.Password()
		login = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)) + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", address, address, login); err != nil {
		return nil, err
	}
	read := bufio.NewReader(conn)
	answer, err := http.ReadResponse(read, &http.Request{Method: http.MethodConnect})
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it says %s", answer.Status)
	}
	return read, nil
}

// proxied is a connection whose first bytes have been read already.
type proxied struct {
	net.Conn
	read *bufio.Reader
}

func (p *proxied) Read(b []byte) (int, error) { return p.read.Read(b) }
