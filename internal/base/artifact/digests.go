package artifact

import (
	"errors"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// How long a file must have been unchanged when it is read, so that a later change
// cannot have the same times. A file system that counts in fractions of a
// millisecond takes them from the tick of the system, which is 10 ms at most;
// others count in seconds.
const (
	settledAfter     = time.Second
	settledFineAfter = 100 * time.Millisecond
)

// Digests are the digests of files in a folder. A file is read again only when it
// may have changed, by its identity, its size and the time of its last change of
// any kind, which no program can set. On a system without that time, every file
// is always read. It may be used by several goroutines.
type Digests struct {
	folder *Folder

	mu    sync.Mutex
	known map[string]knownDigest
}

type knownDigest struct {
	stamp  stamp
	digest string
}

// Digests are those of the files in f.
func (f *Folder) Digests() *Digests { return &Digests{folder: f, known: map[string]knownDigest{}} }

// Of is the digest of a file's bytes, "" when there is none. It returns
// READ_FAILED.
func (d *Digests) Of(name string) (string, error) {
	d.mu.Lock()
	known, ok := d.known[name]
	d.mu.Unlock()
	if ok {
		if now, told := d.stampOf(name); told && now == known.stamp {
			return known.digest, nil
		}
	}
	file, err := d.folder.Open(name)
	if err != nil {
		return "", UnlessMissing(err)
	}
	defer file.Close()
	asked := time.Now()
	before, told := stampOf(file.Stat())
	digest, err := codec.DigestReader(file)
	if err != nil {
		return "", d.folder.place(name).unreadable(errors.Unwrap(err))
	}
	if after, _ := stampOf(file.Stat()); told && after == before && before.settled(asked) {
		d.mu.Lock()
		d.known[name] = knownDigest{before, digest}
		d.mu.Unlock()
	}
	return digest, nil
}

// stamp distinguishes one state of a file from another.
type stamp struct {
	device, file uint64
	size         int64
	changed      time.Time // of bytes, names or permissions; programs cannot set it
}

// settled reports whether every change after the given moment changes the stamp.
func (s stamp) settled(now time.Time) bool {
	if s.changed.Nanosecond()%int(time.Millisecond) != 0 {
		return now.Sub(s.changed) > settledFineAfter
	}
	return now.Sub(s.changed) > settledAfter
}

// stampOf is the stamp of the file of a name; told is false where there is none.
func (d *Digests) stampOf(name string) (s stamp, told bool) {
	local, err := d.folder.local(name)
	if err != nil {
		return stamp{}, false
	}
	return stampOf(d.folder.root.Stat(local))
}
