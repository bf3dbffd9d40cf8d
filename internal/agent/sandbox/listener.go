package sandbox

import (
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/tidegate/tidegate"
)

// mayReach returns NOT_CONFINED for an address that no agent reaches, although a person names
// it as its model: one that is not of this machine alone, or on which a process of this
// program listens.
func mayReach(address string) error {
	if address == "" {
		return nil
	}
	refuse := func(why string) error {
		return tidegate.Errorf(tidegate.NotConfined, tidegate.Pairs("flag", "--agent-model-address", "address", address, "reason", why),
			"--agent-model-address %s: %s", tidegate.Cut(address), why)
	}
	at, err := netip.ParseAddrPort(address)
	switch ip := at.Addr().Unmap(); {
	case err != nil || at.Port() == 0:
		return refuse("it is no IP address with a port, such as 127.0.0.1:8080")
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
		return refuse("link-local, shared and unspecified addresses lead to whoever answers there")
	case !ip.IsLoopback() && !ofThisMachine(ip):
		return refuse("it is not an address of this machine")
	}
	if err := ownListener(address); err != nil {
		return refuse(err.Error())
	}
	return nil
}

func ofThisMachine(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap() == ip
	})
}

var errOwnListener = errors.New("tidegate itself listens there")

// ownListener says that a process of this program listens at an address of this machine. No
// agent reaches a page, a server of tools or the door of another agent.
func ownListener(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() && !ofThisMachine(at.Addr().Unmap()) || !listensHere(at) {
		return nil
	}
	return errOwnListener
}
