package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	leaseName    = ".lock"
	maxLeaseSize = 64 << 10
)

// lease is what the earlier system writes into .lock. It does not know our
// lock, and holds a folder until its lease runs out.
type lease struct {
	owner   string
	host    string
	pid     int64
	from    time.Time // zero when no time in the file can be read
	seconds float64
}

// holds reports whether the lease counts as held: it has begun and not run out,
// and its process may still be at work. A process that is gone is not at work; one
// that started us waits for us, so waiting for it would never end.
func (l *lease) holds(now time.Time) bool {
	if l.from.IsZero() || l.from.After(now) || now.Sub(l.from).Seconds() > l.seconds {
		return false
	}
	if host, err := os.Hostname(); err != nil || host != l.host || l.pid <= 0 {
		return true // nothing is known about its process
	}
	return isRunning(int(l.pid)) && !isAncestor(int(l.pid))
}

// isAncestor reports whether pid is this process or one that it descends from.
func isAncestor(pid int) bool {
	const tooMany = 1000 // a parent may end and its number be given to a descendant
	at := os.Getpid()
	for range tooMany {
		if at == pid {
			return true
		}
		var ok bool
		if at, ok = parentOf(at); !ok {
			break
		}
	}
	return false
}

// readLease reads the lease of the folder. It reports false when there is no
// such file, and nil when the file is not a lease, or not yet one.
func readLease(root *os.Root) (*lease, bool) {
	f, err := openRegular(root, leaseName, os.O_RDONLY)
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLeaseSize))
	if err != nil {
		return nil, true
	}
	v, err := codec.Parse(data)
	if err != nil {
		return nil, true
	}
	created, refreshed := v.Get("created_at"), v.Get("refreshed_at")
	owner, host := v.Get("owner_id"), v.Get("hostname")
	seconds, ok := v.Get("lease_seconds").Float()
	pid, _ := v.Get("pid").Int() // 0 for a number that no process has
	if !ok || seconds <= 0 || v.Get("pid").Kind() != codec.Number || host.Kind() != codec.String || host.Str() == "" ||
		created.Kind() != codec.String || refreshed.Kind() != codec.String || owner.Kind() != codec.String {
		return nil, true
	}
	from, err := time.Parse(time.RFC3339, refreshed.Str())
	if err != nil {
		from, err = time.Parse(time.RFC3339, created.Str())
	}
	if err != nil {
		from = time.Time{}
	}
	return &lease{owner: owner.Str(), host: host.Str(), pid: pid, from: from, seconds: seconds}, true
}
