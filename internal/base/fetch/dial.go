package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
)

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
