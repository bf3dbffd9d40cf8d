package sandbox

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
)

// listensHere reports whether a process of this program listens at an address.
func listensHere(at netip.AddrPort) bool {
	sockets := listeners(at)
	if len(sockets) == 0 {
		return false
	}
	found, own := false, ""
	program := func(proc *artifact.Folder, dir string) string {
		exe, _ := fs.ReadLink(proc.FS(), dir+"/exe")
		return filepath.Base(strings.TrimSuffix(exe, " (deleted)")) // as after an update
	}
	eachProcess(func(_ int, proc *artifact.Folder, dir string) {
		if own == "" {
			own = program(proc, "self")
		}
		if found || program(proc, dir) != own {
			return
		}
		files, _ := proc.List(dir + "/fd")
		found = slices.ContainsFunc(files, func(file fs.DirEntry) bool {
			to, err := fs.ReadLink(proc.FS(), dir+"/fd/"+file.Name())
			return err == nil && slices.Contains(sockets, to)
		})
	})
	return found
}

// listeners are the sockets that listen at an address, as the descriptors of processes name
// them.
func listeners(at netip.AddrPort) []string {
	proc, err := artifact.Everywhere.Open("proc", "/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	var list []string
	for _, table := range []string{"self/net/tcp", "self/net/tcp6"} {
		text, _ := proc.Read(table)
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			const local, state, inode = 1, 3, 9
			if len(fields) <= inode || fields[state] != "0A" {
				continue
			}
			address, port, _ := strings.Cut(fields[local], ":")
			if ip := kernelAddress(address); port == fmt.Sprintf("%04X", at.Port()) && (ip.IsUnspecified() || ip == at.Addr().Unmap()) {
				list = append(list, "socket:["+fields[inode]+"]")
			}
		}
	}
	return list
}

// kernelAddress is an address as the kernel writes it: words of four bytes, each turned around.
func kernelAddress(text string) netip.Addr {
	data, err := hex.DecodeString(text)
	if err != nil || len(data)%4 != 0 {
		return netip.Addr{}
	}
	for word := range slices.Chunk(data, 4) {
		slices.Reverse(word)
	}
	ip, _ := netip.AddrFromSlice(data)
	return ip.Unmap()
}
