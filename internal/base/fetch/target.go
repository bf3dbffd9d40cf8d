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
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"code.dny.dev/ssrf"
	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/idna"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/text/link"
)

// MaxURL is the length of the longest URL that is fetched, in bytes.
const MaxURL = 2048

// target is a URL that may be asked, as far as the URL alone can show.
type target struct {
	url        *url.URL // with an ASCII host, and without fragment
	host, port string
	secure     bool
}

// address is the host and port, as host:port.
func (t *target) address() string { return net.JoinHostPort(t.host, t.port) }

// Fetchable reports whether a URL may be asked for and its fetch may be kept.
// One that is too long, is not text, or carries credentials may not.
func Fetchable(rawURL string) bool {
	return !link.ShowsCredentials(rawURL) && len(rawURL) <= MaxURL && utf8.ValidString(rawURL)
}

// parseTarget reads a URL. A fault says why it cannot be asked.
func parseTarget(u *url.URL, allow Allow) (*target, *fault) {
	t := &target{secure: strings.EqualFold(u.Scheme, "https")}
	if !t.secure && !strings.EqualFold(u.Scheme, "http") {
		return nil, newFault(archive.Malformed, "", "the scheme must be http or https")
	}
	var ok bool
	if t.host, ok = asciiHost(u.Hostname()); !ok || u.Opaque != "" {
		return nil, newFault(archive.Malformed, u.Host, "there is no such host name")
	}
	if t.port, ok = portOf(u, t.secure); !ok {
		return nil, newFault(archive.Malformed, u.Host, "a port must be a number from 1 to 65535")
	}
	switch {
	case u.User != nil:
		return nil, newFault(archive.Refused, t.address(), "the URL carries credentials")
	case strings.Contains(t.host, "%"):
		return nil, newFault(archive.Refused, t.address(), "the address is valid on one network only")
	case allow.names(t.host, t.port):
	case !isWebPort(t.port):
		return nil, newFault(archive.Refused, t.address(), "only ports 80 and 443 are asked")
	case isReserved(t.host):
		return nil, newFault(archive.Refused, t.address(), "the name is never public")
	}
	t.url = &url.URL{Scheme: strings.ToLower(u.Scheme), Host: t.urlHost(), Path: u.Path, RawPath: u.RawPath, RawQuery: escapeQuery(u.RawQuery)}
	if t.url.Path == "" {
		t.url.Path = "/"
	}
	return t, nil
}

// urlHost is the host as it stands in a URL: a default port is left out.
func (t *target) urlHost() string {
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.port == "443" && t.secure || t.port == "80" && !t.secure {
		return host
	}
	return host + ":" + t.port
}

func portOf(u *url.URL, secure bool) (string, bool) {
	switch port := u.Port(); {
	case port != "":
		n, err := strconv.ParseUint(port, 10, 16)
		return strconv.FormatUint(n, 10), err == nil && n > 0
	case secure:
		return "443", true
	}
	return "80", true
}

// reserved are the domains under which no public page lies. RFC 6761 and the
// registry of special-use names have some; the others are those that networks
// use for themselves.
var reserved = []string{
	"localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "onion", "invalid", "test",
}

// isReserved reports whether a host is a name that is never public. A name
// without a dot is completed by the network in which it is asked.
func isReserved(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc(reserved, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

var toASCII = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false))

// asciiHost is a host as it is asked for: an address in its usual form, or a
// name in lower-case ASCII without the dot at its end. Browsers read digits and
// dots of other scripts, and numbers in other bases, as addresses; so does this.
func asciiHost(host string) (string, bool) {
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		return addr.String(), err == nil
	}
	name, err := toASCII.ToASCII(host)
	if err != nil {
		return "", false
	}
	name = strings.TrimSuffix(name, ".")
	labels := strings.Split(name, ".")
	if isNumber(labels[len(labels)-1]) {
		addr, ok := parseIPv4(labels)
		return addr.String(), ok
	}
	return name, len(name) <= 253 && !slices.ContainsFunc(labels, func(label string) bool { return !isLabel(label) })
}

func isLabel(label string) bool {
	return label != "" && len(label) <= 63 && !strings.ContainsFunc(label, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// isNumber reports whether a label makes the host an address: the URL standard's
// "ends in a number".
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return true
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// parseIPv4 reads an address of one to four numbers, each decimal, octal after
// 0, or hexadecimal after 0x; the last one fills the rest. It is the IPv4 parser
// of the URL standard, which C libraries agree with.
func parseIPv4(parts []string) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var address uint64
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			base, part = 16, part[2:]
		case len(part) > 1 && part[0] == '0':
			base, part = 8, part[1:]
		}
		n, err := strconv.ParseUint("0"+part, base, 64)
		limit := uint64(256)
		if i == len(parts)-1 {
			limit = 1 << (8 * (5 - len(parts)))
		}
		if err != nil || n >= limit || parts[i] == "" {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		address += n
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}

// escapeQuery escapes what cannot stand in a request line.
func escapeQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>'`, c) >= 0 {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// Allow is what a person allows beyond public addresses at ports 80 and 443.
// The zero value allows nothing more.
type Allow struct {
	hosts     map[string]bool // a name or address, at ports 80 and 443
	hostPorts map[string]bool // host:port
	prefixes  []netip.Prefix
}

// ParseAllow reads a list of hosts, host:port and CIDR prefixes. A host is
// allowed whatever its address is; a prefix allows addresses, at ports 80
// and 443, under names that are public. It returns INVALID_ARGS for an entry
// that is none of these.
func ParseAllow(entries []string) (Allow, error) {
	a := Allow{hosts: map[string]bool{}, hostPorts: map[string]bool{}}
	for _, entry := range entries {
		if !a.add(strings.TrimSpace(entry)) {
			return Allow{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("allow", entry), "what fetch allows must be a host, host:port or CIDR prefix, got %q", entry)
		}
	}
	return a, nil
}

func (a *Allow) add(entry string) bool {
	if strings.Contains(entry, "/") {
		prefix, err := netip.ParsePrefix(entry)
		a.prefixes = append(a.prefixes, prefix.Masked())
		return err == nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		a.hosts[addr.String()] = true
		return addr.Zone() == ""
	}
	name, port, err := net.SplitHostPort(entry)
	if err != nil {
		name, port = entry, ""
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return false
	}
	host, ok := asciiHost(name)
	if !ok {
		return false
	}
	if port == "" {
		a.hosts[host] = true
	} else {
		a.hostPorts[net.JoinHostPort(host, port)] = true
	}
	return true
}

// Reaches reports whether a URL may be asked for, as far as the URL alone shows: a name can
// still lead to an address that may not.
func (a Allow) Reaches(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	t, refused := parseTarget(u, a)
	if refused != nil {
		return false
	}
	addr, err := netip.ParseAddr(t.host)
	return err != nil || a.names(t.host, t.port) || a.guard().SafeAddr(addr) == nil
}

// names reports whether a person named the host for this port.
func (a Allow) names(host, port string) bool {
	return a.hostPorts[net.JoinHostPort(host, port)] || a.hosts[host] && isWebPort(port)
}

func isWebPort(port string) bool { return port == "80" || port == "443" }

// guard says which addresses are public, or allowed by a prefix.
func (a Allow) guard() *ssrf.Guardian {
	var four, six []netip.Prefix
	for _, prefix := range a.prefixes {
		if prefix.Addr().Is4() {
			four = append(four, prefix)
		} else {
			six = append(six, prefix)
		}
	}
	return ssrf.New(ssrf.WithAllowedV4Prefixes(four...), ssrf.WithAllowedV6Prefixes(six...))
}

// perAddress is how long to wait for one of several addresses of a name.
const perAddress = 10 * time.Second

// dial connects to a host and port. It checks the addresses of the name, and
// connects to one of those: the name is asked once, so that it cannot have another
// address a moment later.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c.proxies.knows(address) {
		conn, err := c.options.Dial(ctx, network, address)
		if err != nil {
			return nil, newFault(archive.Unreachable, address, "the proxy "+address+" does not answer: "+err.Error())
		}
		return conn, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := c.resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		at := netip.AddrPortFrom(addr, uint16(number))
		var conn net.Conn
		limited, cancel := context.WithTimeout(ctx, perAddress)
		conn, err = c.options.Dial(limited, network, at.String())
		cancel()
		if err == nil {
			return &connection{conn, at}, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	if isTimeout(err) {
		return nil, newFault(archive.TimedOut, address, "no connection in time")
	}
	return nil, newFault(archive.Unreachable, address, err.Error())
}

// resolve asks for the addresses of a host, and refuses the host if one of them
// is not allowed. It returns a fault.
func (c *Client) resolve(ctx context.Context, host, port string) ([]netip.Addr, error) {
	address := net.JoinHostPort(host, port)
	addrs := make([]netip.Addr, 1)
	var err error
	if addrs[0], err = netip.ParseAddr(host); err != nil {
		if addrs, err = c.options.Resolve(ctx, host); err != nil {
			return nil, unresolved(err, address)
		}
		for i, addr := range addrs {
			addrs[i] = addr.Unmap() // resolvers write IPv4 in either way
		}
	}
	if len(addrs) == 0 {
		return nil, newFault(archive.NoSuchName, address, "the name has no address")
	}
	if c.options.Allow.names(host, port) {
		return addrs, nil
	}
	for _, addr := range addrs {
		if addr.Zone() != "" || c.guard.SafeAddr(addr) != nil {
			return nil, newFault(archive.Refused, net.JoinHostPort(addr.String(), port), "the address is private or reserved")
		}
	}
	return addrs, nil
}

// unresolved is the fault of a name that could not be resolved: it does not
// exist, or that could not be found out.
func unresolved(err error, address string) error {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return newFault(archive.NoSuchName, address, "the name does not exist")
	case isTimeout(err):
		return newFault(archive.Unreachable, address, "no answer about the name in time")
	}
	return newFault(archive.Unreachable, address, err.Error())
}

// connection is a connection that gives the checked address as its other end.
type connection struct {
	net.Conn
	to netip.AddrPort
}

func (c *connection) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.to) }

// Connect connects to a host and port for somebody who speaks there himself, by the
// proxy where there is one. It refuses what fetching refuses by the address; which ports
// may be asked for is the caller's affair.
func (c *Client) Connect(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	host, ok := asciiHost(host)
	if !ok {
		return nil, newFault(archive.Refused, address, "the name is no host")
	}
	to := url.URL{Scheme: "https", Host: net.JoinHostPort(host, port)}
	if port == "80" {
		to.Scheme = "http"
	}
	if proxy, err := c.proxies.find(&to); err != nil || proxy != nil {
		if err != nil {
			return nil, newFault(archive.Unreachable, address, err.Error())
		}
		return c.through(ctx, proxy, host, port)
	}
	return c.dial(ctx, "tcp", to.Host)
}

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
