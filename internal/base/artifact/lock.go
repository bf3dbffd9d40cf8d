package artifact

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	lockWait = 30 * time.Second

	// A waiter asks again after a pause that grows between these two. The
	// longer one is short against the time for which a lock is held, so that a
	// process that takes the lock again and again does not starve the others.
	shortPause = 500 * time.Microsecond
	longPause  = 4 * time.Millisecond

	// The earlier system rewrites its lease in place, so that a reader may see
	// a part of it for a moment. What is not a lease by then does not count as one.
	leaseGrace = 250 * time.Millisecond
	leasePause = 20 * time.Millisecond
)

// Lock is the held lock of a folder. It is used by one goroutine.
type Lock struct {
	folder *Folder
	file   *os.File
	leave  func() // the queue of this process
	tx     *Tx    // begun and not ended
}

// Lock takes the lock of the folder, which keeps out other processes and other
// goroutines, and finishes or undoes a transaction that a killed holder left
// behind. The lock ends with [Lock.Unlock] or with the process. It does not stop
// readers.
//
// A lease in the file .lock of the earlier system counts as held while it is
// fresh by the time that now gives, unless its process is gone, or is a process of
// this host from which this one descends.
//
// It returns LOCK_HELD after 30 seconds of waiting, CANCELLED when ctx ends
// first, and WRITE_FAILED when the folder cannot be locked or a transaction
// cannot be ended.
func (f *Folder) Lock(ctx context.Context, now func() time.Time) (*Lock, error) {
	limited, cancel := context.WithTimeoutCause(ctx, lockWait, errHeld)
	defer cancel()
	leave, err := join(limited, f.path)
	if err != nil {
		return nil, f.notLocked(err, lockName, "this process or another")
	}
	file, err := f.lockFile(limited)
	if err != nil {
		leave()
		return nil, err
	}
	lock := &Lock{folder: f, file: file, leave: leave}
	if err := f.waitForLease(limited, now); err != nil {
		lock.Unlock()
		return nil, err
	}
	if err := recoverTx(f); err != nil {
		lock.Unlock()
		return nil, err
	}
	return lock, nil
}

// Unlock rolls back a transaction that was not committed and releases the lock.
// A second call does nothing.
func (l *Lock) Unlock() {
	if l.file == nil {
		return
	}
	if l.tx != nil {
		l.tx.Rollback()
	}
	unlock(l.file)
	l.file.Close()
	l.file = nil
	l.leave()
}

// Folder is the folder that is locked.
func (l *Lock) Folder() *Folder { return l.folder }

// lockFile opens the lock file and waits for its lock. A file that was deleted
// meanwhile, by someone who cleans up, is not the lock any more.
func (f *Folder) lockFile(ctx context.Context) (*os.File, error) {
	for {
		file, err := openRegular(f.root, lockName, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, f.place(lockName).unwritable(err)
		}
		if err := f.waitForLock(ctx, file); err != nil {
			file.Close()
			return nil, err
		}
		mine, err := file.Stat()
		if err == nil {
			var there os.FileInfo
			if there, err = f.root.Stat(lockName); err == nil && os.SameFile(mine, there) {
				return file, nil
			}
		}
		file.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, f.place(lockName).unwritable(err)
		}
	}
}

func (f *Folder) waitForLock(ctx context.Context, file *os.File) error {
	if ctx.Err() != nil {
		return f.notLocked(context.Cause(ctx), lockName, "another process")
	}
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		locked, err := tryLock(file)
		switch {
		case err != nil:
			return f.place(lockName).unwritable(err)
		case locked:
			return nil
		}
		jitter := rand.N(pause / 2)
		if err := sleep(ctx, pause+jitter); err != nil {
			return f.notLocked(err, lockName, "another process")
		}
	}
}

// waitForLease waits while the earlier system holds the folder. The OS lock is
// kept meanwhile: those that wait for it would wait for the same lease.
func (f *Folder) waitForLease(ctx context.Context, now func() time.Time) error {
	for waited := time.Duration(0); ; waited += leasePause {
		lease, found := readLease(f.root)
		switch {
		case !found:
			return nil
		case lease == nil && waited >= leaseGrace:
			return nil
		case lease != nil && !lease.holds(now()):
			return nil
		}
		if err := sleep(ctx, leasePause); err != nil {
			owner := "the earlier system"
			if lease != nil {
				owner = lease.owner
			}
			return f.notLocked(err, leaseName, owner)
		}
	}
}

var errHeld = errors.New("lock is held")

// notLocked is the error for a wait that ended with err.
func (f *Folder) notLocked(err error, name, owner string) error {
	p := f.place(name)
	if errors.Is(err, errHeld) {
		return tidegate.Errorf(tidegate.LockHeld, tidegate.Pairs("lock_path", p.path), "lock is held by %s for more than %v: %s", owner, lockWait, p.path)
	}
	return tidegate.Errorf(tidegate.Cancelled, tidegate.Pairs("lock_path", p.path), "cancelled while waiting for the lock: %s (%w)", p.path, err)
}

// sleep waits for d and returns why ctx ended when it ends before that.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// queues let the goroutines of this process come to the lock of a folder one
// after the other, in the order in which they asked. The lock itself is taken by
// asking again and again; with many waiting, some would wait for a long time. Two
// paths of one folder have two queues, and then the lock alone decides.
var queues = struct {
	mu     sync.Mutex
	byPath map[string]*queue
}{byPath: map[string]*queue{}}

type queue struct {
	turn chan struct{} // holds a value while somebody has the turn
	in   int           // those that wait and the one that has the turn
}

// join waits for the turn in the queue of the folder at path. Whoever gets it
// calls leave in the end. If ctx ends first, it returns why.
func join(ctx context.Context, path string) (leave func(), err error) {
	queues.mu.Lock()
	q := queues.byPath[path]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		queues.byPath[path] = q
	}
	q.in++
	queues.mu.Unlock()
	out := func() {
		queues.mu.Lock()
		defer queues.mu.Unlock()
		if q.in--; q.in == 0 {
			delete(queues.byPath, path)
		}
	}
	select {
	case q.turn <- struct{}{}: // senders are served in the order in which they came
		return func() { <-q.turn; out() }, nil
	case <-ctx.Done():
		out()
		return nil, context.Cause(ctx)
	}
}

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

// A claim can happen at the same moment as a look by [Folder.Claimed]. So it asks
// again for this long before it says that another process holds it. When a process is
// killed while it starts another, that one keeps its lock until it runs; so for a
// holder that is dead a claim waits longer.
const (
	claimTries = 20
	deadTries  = 2000
	claimPause = time.Millisecond
)

// maxClaim is how much of the note of a claim is read.
const maxClaim = 64 << 10

// Claim is the hold of one process on a folder for as long as it works there.
// It differs from the lock of the folder: it says who is at work, and keeps out
// only others who claim it by the same name.
type Claim struct {
	file  *os.File
	noted int // bytes of the note
}

// Claim takes the claim name of the folder at once, or returns LOCK_HELD with
// the note of its holder in the details. Where the note has host and process, it is
// known whether its holder still lives. The claim ends with [Claim.Release] or
// with the process. It returns WRITE_FAILED when the file cannot be locked.
func (f *Folder) Claim(name string, note tidegate.Details) (*Claim, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(f.root, local, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, f.place(name).unwritable(err)
	}
	dead := isDead(noteOf(file))
	for try := 1; try <= claimTries || dead && try <= deadTries; try++ {
		locked, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, f.place(name).unwritable(err)
		}
		if locked {
			c := &Claim{file: file}
			err := file.Truncate(0) // the note of a killed process
			if err == nil {
				err = c.Note(note)
			}
			if err != nil {
				c.Release()
				return nil, f.place(name).unwritable(err)
			}
			return c, nil
		}
		time.Sleep(claimPause)
	}
	defer file.Close()
	holder := noteOf(file)
	return nil, tidegate.Errorf(tidegate.LockHeld, append(f.place(name).details(), holder...), "another process is at work here%s: %s", inWords(holder), f.Path())
}

// isDead reports whether the holder of a claim was a process of this machine that
// has ended.
func isDead(holder tidegate.Details) bool {
	host, _ := holder.Get("host")
	process, _ := holder.Get("process")
	name, _ := host.(*codec.Value)
	number, _ := process.(*codec.Value)
	pid, ok := number.Int()
	if here, err := os.Hostname(); err != nil || name.Str() != here || !ok {
		return false
	}
	return !isRunning(int(pid))
}

// Release ends the claim. A second call does nothing.
func (c *Claim) Release() {
	if c.file == nil {
		return
	}
	c.file.Truncate(0)
	unlock(c.file)
	c.file.Close()
	c.file = nil
}

// Note replaces what the holder says, in one write: the rest of a longer note
// before it is blanked out.
func (c *Claim) Note(note tidegate.Details) error {
	data, err := codec.MarshalLine(note)
	if err != nil {
		return err
	}
	size := len(data)
	for len(data) < c.noted {
		data = append(data, ' ')
	}
	c.noted = size
	_, err = c.file.WriteAt(append(data, '\n'), 0)
	return err
}

// Claimed reports whether a living process holds the claim name of the folder,
// with its note. It does not take the claim. It returns READ_FAILED.
func (f *Folder) Claimed(name string) (holder tidegate.Details, held bool, err error) {
	local, err := f.local(name)
	if err != nil {
		return nil, false, err
	}
	file, err := openRegular(f.root, local, os.O_RDONLY) // the disk may be read-only
	if err != nil {
		err = f.place(name).unreadable(err)
		return nil, false, UnlessMissing(err)
	}
	defer file.Close()
	free, err := tryShare(file)
	if err != nil {
		return nil, false, f.place(name).unreadable(err)
	}
	if free {
		unlock(file)
		return nil, false, nil
	}
	return noteOf(file), true, nil
}

// noteOf reads what the holder of a claim says about itself; nothing, if it has not
// said it yet.
func noteOf(file *os.File) tidegate.Details {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, maxClaim))
	if err != nil {
		return nil
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return nil
	}
	var note tidegate.Details
	for _, m := range doc.Members() {
		note = append(note, tidegate.Detail{Key: m.Key, Value: m.Value})
	}
	return note
}

func inWords(holder tidegate.Details) string {
	text := ""
	for _, d := range holder {
		value, ok := d.Value.(*codec.Value)
		if !ok {
			continue
		}
		if line, err := codec.MarshalLine(value); err == nil {
			text += ", " + d.Key + " " + tidegate.Cut(string(line))
		}
	}
	return text
}
