package fetch

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/tidegate/tidegate"
)

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
