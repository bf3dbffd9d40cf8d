package artifact

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"
	"time"
)

// pollEvery is how often a log that is followed is looked at.
const pollEvery = 100 * time.Millisecond

// Follow yields the whole lines of the log name whose number is at least from:
// those that are there and then each that is added, until ctx ends. A log that
// is not there yet is waited for. A line is yielded once it has its end.
//
// However many callers follow a log by the same path, the process looks at it ten
// times a second, and only wakes them. Each reads the file for itself, so that a
// slow one delays nobody.
//
// It ends with an error when it yields one: TAMPERED when a line that was there
// is not there any more, or the log is another file, and READ_FAILED. The end
// of ctx is not an error.
func (f *Folder) Follow(ctx context.Context, name string, from int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		p := f.place(name)
		local, err := f.local(name)
		if err != nil {
			yield(Line{}, err)
			return
		}
		w, err := joinWatch(f, local)
		if err != nil {
			yield(Line{}, p.unreadable(err))
			return
		}
		defer w.leave()
		r := follower{root: w.root, name: local, last: noLines}
		defer r.close()
		for {
			changed := w.next() // before reading: what comes later wakes us again
			for line, err := range r.lines() {
				switch {
				case ctx.Err() != nil:
					return
				case err != nil:
					yield(Line{}, p.unreadable(err))
					return
				case line.Number >= from && !yield(line, nil):
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// follower reads a log that grows.
type follower struct {
	root *os.Root
	name string
	file *os.File // nil until there is one
	last head     // of what was read
}

// lines yields the whole lines that are there and were not read yet, or why
// there will be no more.
func (r *follower) lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		size, err := r.size()
		if err != nil || r.file == nil {
			if err != nil {
				yield(Line{}, err)
			}
			return
		}
		scanner, err := r.last.seek(r.file, size)
		for err == nil {
			var line Line
			if line, err = scanner.next(); err != nil || line.Torn {
				break
			}
			r.last = head{line.Number, line.Digest, line.End}
			if !yield(line, nil) {
				return
			}
		}
		if err != nil && err != io.EOF {
			yield(Line{}, err)
		}
	}
}

// size opens the log if it is there by now, and returns its size. The file stays
// open, so that no other can pass for it.
func (r *follower) size() (int64, error) {
	there, err := r.root.Stat(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		if r.file != nil {
			return 0, mismatch("it is gone")
		}
		return 0, nil
	}
	if err == nil && r.file == nil {
		r.file, err = openRegular(r.root, r.name, os.O_RDONLY)
	}
	if err != nil {
		return 0, err
	}
	mine, err := r.file.Stat()
	if err != nil {
		return 0, err
	}
	if !os.SameFile(there, mine) {
		return 0, mismatch("it is another file")
	}
	return mine.Size(), nil
}

func (r *follower) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// watches are the logs that this process looks at, by path.
var watches = struct {
	mu     sync.Mutex
	byPath map[string]*watch
}{byPath: map[string]*watch{}}

// watch looks at one log for all that follow it.
type watch struct {
	root *os.Root // its own, because followers come and go
	name string
	path string
	in   int // how many follow
	stop chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed when the log has changed
}

// joinWatch joins those who follow a log. The caller calls leave in the end.
func joinWatch(f *Folder, name string) (*watch, error) {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	path := f.place(name).path
	w := watches.byPath[path]
	if w == nil {
		root, err := f.root.OpenRoot(".")
		if err != nil {
			return nil, err
		}
		w = &watch{root: root, name: name, path: path, stop: make(chan struct{}), changed: make(chan struct{})}
		watches.byPath[path] = w
		go w.run()
	}
	w.in++
	return w, nil
}

func (w *watch) leave() {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	if w.in--; w.in == 0 {
		delete(watches.byPath, w.path)
		close(w.stop)
	}
}

// next is closed when the log changes after the last look at it.
func (w *watch) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func (w *watch) run() {
	defer w.root.Close()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var seen fs.FileInfo
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
		}
		// What cannot be seen is for the followers to report.
		now, _ := w.root.Stat(w.name)
		if !unchanged(seen, now) {
			w.mu.Lock()
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
		}
		seen = now
	}
}

// unchanged reports whether a file looks the same in two looks at it; nil is one
// that is not there. The time is compared because an unfinished line may be replaced
// by as many bytes.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
