// Package cell holds a program in a set of folders, at one door to the network,
// under a mark that it cannot take off.
//
// A process enters its cell between fork and exec: it gives up its capabilities,
// enters a Landlock domain, loads a seccomp filter and becomes the program. Whoever
// forks stays free, so that it can watch, end and clean up. Go runs nothing of its own
// there, so what the process does is a list of system calls that was made before.
//
// Landlock lists what a program may reach and denies the rest; it cannot deny
// below a folder that it allows, so [Policy.Checked] refuses such a list. What it
// does not look at at all the filter refuses: unix sockets, by which programs
// outside would work for the one inside, datagrams, MPTCP, fast open, and the
// calls by which one process reaches into another.
package cell

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tidegate/tidegate"
)

// System is what a machine has to make cells of.
type System struct {
	Name      string `json:"system"`    // as GOOS
	ABI       int    `json:"abi"`       // of Landlock; 0: none
	Filter    bool   `json:"filter"`    // programs can be given a seccomp filter
	Namespace bool   `json:"namespace"` // programs can be given a network of their own
}

// The versions of Landlock's interface that matter.
const (
	abiTruncate = 3 // cutting a file off is refused
	abiNetwork  = 4 // TCP ports are
	abiDevices  = 5 // commands to devices are
	abiSignals  = 6 // signals to programs outside are
)

// Lacks says why no cell can be had; "" where one can.
func (s System) Lacks() string {
	switch {
	case s.Name != "linux":
		return "cells are made on Linux only, and this is " + s.Name
	case s.ABI == 0:
		return "the kernel has no Landlock, or it is switched off"
	case s.ABI < abiTruncate:
		return fmt.Sprintf("the kernel's Landlock has ABI %d; %d or newer is needed", s.ABI, abiTruncate)
	case !s.Filter:
		return "the kernel loads no seccomp filter, or this processor is none that the filter knows"
	}
	return ""
}

// Weak says what a cell on this system does not hold; "" for nothing.
func (s System) Weak() string {
	if s.Lacks() == "" && s.ABI < abiSignals {
		return fmt.Sprintf("the kernel's Landlock has ABI %d: agents can signal your processes; %d or newer keeps them from it", s.ABI, abiSignals)
	}
	return ""
}

// Network is what a program may reach by the network.
type Network string

// The networks, from the narrowest.
const (
	None  Network = "none"  // nothing but a loopback of its own, where the system can give it one
	Model Network = "model" // the hosts of its model, through the door
	Web   Network = "web"   // every public host on ports 443 and 80, through the door
	Open  Network = "open"  // every host on port 443: for a client that ignores proxies
)

// Networks are those that a person can name.
var Networks = []Network{None, Model, Web}

// Held is how n holds on this system, in the words of plans and reports.
func (s System) Held(n Network) string {
	switch {
	case n == Open, n != None && !s.Namespace && s.ABI < abiNetwork:
		return string(Open)
	case n == None || s.Namespace:
		return string(n)
	}
	return string(n) + ", by port"
}

// Policy is what a program is given. The zero Policy gives it everything. A path in it that
// leads over a link gives nothing, because links change: see [Policy.Checked].
type Policy struct {
	System   System
	Confined bool     // false: the program gets the mark, its network, and nothing else
	Read     []string // files and folders that it may read, and start programs from
	List     []string // folders that it may list, with all below, and not read
	Write    []string // folders that it may write in
	Devices  []string // files that it may read and write
	Network  Network
	Ports    []int    // of TCP, that it may connect to where it has no network of its own
	Listen   []string // addresses of its own loopback that the one who started it listens on
	MaxFile  int64    // bytes that a file may have; 0: any number
	Own      []string // folders of its own: see Below
}

// alone reports whether the program gets a network of its own.
func (p Policy) alone() bool {
	return p.System.Namespace && p.Network != "" && p.Network != Open
}

// Forbidden is a file or folder that no program in a cell may reach.
type Forbidden struct {
	Path string
	What string // as a message calls it
}

// Checked is p with its files and folders named without links, and what may be read named
// once. It returns INVALID_ARGS for a folder of p that is, holds or lies in a forbidden one, and
// names both: nothing can be denied below what is allowed. The folders of p that lie in one
// because that is where they are made, are in except. What of p was [Named] before is not
// looked at again.
func (p Policy) Checked(named []string, forbidden []Forbidden, except ...string) (Policy, error) {
	if !p.Confined {
		return p, nil
	}
	seen := places{}
	for _, path := range named {
		seen[path] = path
	}
	denied, made := make([]string, len(forbidden)), make([]string, len(except))
	for i, f := range forbidden {
		denied[i] = seen.resolved(f.Path)
	}
	for i, each := range except {
		made[i] = seen.resolved(each)
	}
	for _, each := range slices.Concat(p.Read, p.Write) {
		allowed := seen.resolved(each)
		for i, f := range forbidden {
			holds := within(allowed, denied[i])
			inside := within(denied[i], allowed) && !slices.ContainsFunc(made, func(m string) bool { return within(m, allowed) })
			if holds || inside {
				return Policy{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("folder", each, "forbidden", f.Path),
					"an agent cannot be given %s: %s (%s) %s, and nothing below an allowed folder can be denied",
					each, f.What, f.Path, map[bool]string{true: "lies in it", false: "holds it"}[holds])
			}
		}
	}
	for _, list := range []*[]string{&p.Read, &p.List, &p.Write, &p.Devices} {
		*list = seen.all(*list)
	}
	p.Read = fewest(p.Read)
	return p, nil
}

// Named are files and folders named without links, and each once. A link that takes the
// place of one later gives nothing.
func Named(paths []string) []string { return fewest(places{}.all(paths)) }

// all are paths without links.
func (p places) all(paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, p.resolved(path))
	}
	return list
}

// fewest are the paths in order, without most that lie in another: those that come right
// behind it.
func fewest(paths []string) []string {
	slices.Sort(paths)
	few := paths[:0]
	for _, path := range paths {
		if len(few) == 0 || !within(few[len(few)-1], path) {
			few = append(few, path)
		}
	}
	return few
}

// within reports whether a path is a folder or lies in it. Both are clean and absolute, so
// that their letters tell: every allowed path is held against every forbidden one.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(folder, string(filepath.Separator)))
}

// resolved is a path without links, as far as it is there.
func resolved(path string) string { return places{}.resolved(path) }

// places are paths without links, by their names, for one look at many: those of a cell
// have most of their folders in common. They are not kept, because links change.
type places map[string]string

func (p places) resolved(path string) string {
	path = filepath.Clean(path)
	if real, ok := p[path]; ok {
		return real
	}
	real := path
	if above := filepath.Dir(path); above != path && !hasNoLink(path) {
		real = filepath.Join(p.resolved(above), filepath.Base(path))
		if _, err := syscall.Readlink(real, make([]byte, 1)); err == nil {
			if behind, err := filepath.EvalSymlinks(real); err == nil {
				real = behind
			}
		}
	}
	p[path] = real
	return real
}

// notConfined is the error of a system that cannot hold a program.
func notConfined(s System, reason string) error {
	return tidegate.Errorf(tidegate.NotConfined, tidegate.Pairs("system", cmp.Or(s.Name, "unknown"), "abi", s.ABI, "reason", reason),
		"agents cannot be confined here: %s; --unconfined lets them work with your rights, on your files", reason)
}
