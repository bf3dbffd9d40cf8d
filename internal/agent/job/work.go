package job

import (
	"context"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// work is what jobs belong to: the record that keeps them, and the kinds that it has come
// to.
type work struct {
	record
	kinds   []Kind
	policy  run.Policy
	stopped error          // INVALID_STATE where it does not go on: it gives out no jobs
	granted map[string]int // the last attempts at the jobs whose tries a person has given again
	worked  run.Times      // when a rule was at work for it
	run     *research      // that it is; nil for work that is no run's
}

// record keeps jobs: that of a run, or a folder with a log of its own.
type record interface {
	ID() string
	CreatedAt() string
	Folder() *artifact.Folder
	Close() error
	// missing is JOB_NOT_FOUND.
	missing(jobID string) error
	// update makes changes of different jobs under the lock, and returns what became of
	// each.
	update(ctx context.Context, changes []change) []error
}

// update is a change under the lock of a record.
type update struct {
	writer
	run *run.Update // of the run; nil for work that is no run's
}

// writer is what the lock of a record lets do.
type writer interface {
	Now() string
	Time() time.Time
	Pinned() bool
	LastLine() int
	OthersWrote() int
	Log(event run.Event, kind string, fields tidegate.Details)
	Write(name string, data []byte) error
	WriteJSON(name string, v any) error
	Remove(name string) error
}

// lazy is what is read when it is first asked for, and then kept.
type lazy[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

func (l *lazy[T]) get(read func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known {
		return l.value, nil
	}
	value, err := read()
	if l.known = err == nil; l.known {
		l.value = value
	}
	return value, err
}

// versions keeps what was read from a file for as long as the file has the same bytes.
type versions[T any] struct {
	mu   sync.Mutex
	read map[string]version[T] // by the name of the file
}

type version[T any] struct {
	digest string
	value  T
}

// of is what a file holds that has that digest.
func (v *versions[T]) of(name, digest string, read func() (T, error)) (T, error) {
	v.mu.Lock()
	known, ok := v.read[name]
	v.mu.Unlock()
	if ok && known.digest == digest {
		return known.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.read == nil {
		v.read = map[string]version[T]{}
	}
	v.read[name] = version[T]{digest, value}
	return value, nil
}
