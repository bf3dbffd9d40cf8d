package artifact

import (
	"errors"

	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// settledAfter is how long a file must have stood unchanged when it was read, so
// that a later change cannot have the same times: file systems tell times apart
// by milliseconds at best.
const settledAfter = time.Second

// Digests are the digests of files in a folder. A file is read again only when it
// may have changed, by its identity, its size and the time of its last change of
// any kind, which no program can set. Where the system does not tell that time
// every file is always read. It may be used by several goroutines.
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
	file, err := d.folder.Open(name)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return "", nil
	case err != nil:
		return "", err
	}
	defer file.Close()
	looked := time.Now()
	before, told := stampOf(file)
	d.mu.Lock()
	known, ok := d.known[name]
	d.mu.Unlock()
	if ok && told && known.stamp == before {
		return known.digest, nil
	}
	digest, err := codec.DigestReader(file)
	if err != nil {
		return "", d.folder.place(name).unreadable(errors.Unwrap(err))
	}
	if after, _ := stampOf(file); told && after == before && looked.Sub(before.changed) > settledAfter {
		d.mu.Lock()
		d.known[name] = knownDigest{before, digest}
		d.mu.Unlock()
	}
	return digest, nil
}

// stamp is what tells one state of a file from another.
type stamp struct {
	device, file uint64
	size         int64
	changed      time.Time // of bytes, names or permissions; programs cannot set it
}
