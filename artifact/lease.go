package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tidegate/tidegate/codec"
)

const (
	leaseName    = ".lock"
	maxLeaseSize = 64 << 10
)

// lease is what the earlier system writes into .lock. It does not know our
// lock, and holds a folder until its lease runs out.
type lease struct {
	owner   string
	from    time.Time // zero when no time in the file can be read
	seconds float64
}

// fresh reports whether the lease has not run out.
func (l *lease) fresh(now time.Time) bool {
	return !l.from.IsZero() && now.Sub(l.from).Seconds() <= l.seconds
}

// readLease reads the lease of the folder. It reports false when there is no
// such file, and nil when there is one that is no lease, or not yet one.
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
	return &lease{owner: owner.Str(), from: from, seconds: seconds}, true
}
