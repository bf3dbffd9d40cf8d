package job

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Work is what agents do that is no run's: where its jobs are kept, and of which kinds they
// are.
type Work struct {
	ID        string
	CreatedAt string
	Folder    *artifact.Folder // the board closes it
	Log       string           // its chained log
	IDKey     string           // what the log calls the id
	Budget    run.Budget
	OneAgent  bool // who wrote an answer may read it
	Kinds     []Kind
}

// ChangeLog is the chained log in the folder of a change, or of a review alone.
const ChangeLog = "log.jsonl"

// OpenFolder reads the jobs of work that is no run's. What they are follows from what the
// caller found out about it, so that [Board.Reload] asks present for it. It returns the
// errors of present and of reading the folder.
func OpenFolder(ctx context.Context, desk run.Desk, present func(context.Context) (Work, error)) (*Board, error) {
	return openBoard(ctx, desk, func(ctx context.Context) (*work, error) {
		w, err := present(ctx)
		if err != nil {
			return nil, err
		}
		return &work{record: &folder{w, desk}, kinds: w.Kinds, policy: run.Policy{Budget: w.Budget, Evidence: run.Evidence{OneAgent: w.OneAgent}}}, nil
	})
}

// folder keeps the jobs of work that is no run's.
type folder struct {
	of   Work
	desk run.Desk
}

func (f *folder) ID() string               { return f.of.ID }
func (f *folder) CreatedAt() string        { return f.of.CreatedAt }
func (f *folder) Folder() *artifact.Folder { return f.of.Folder }
func (f *folder) Close() error             { return f.of.Folder.Close() }

func (f *folder) missing(jobID string) error {
	return tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("job_id", tidegate.Cut(jobID), f.of.IDKey, f.of.ID), "%s has no job %q", f.of.ID, tidegate.Cut(jobID))
}

// withEarlier puts before the jobs of a kind those of earlier rounds, which are there and
// not asked for any more. What they took is part of what was spent.
func withEarlier(kept *artifact.Folder, kindName string, asked []*Job) ([]*Job, error) {
	entries, err := kept.List(run.JobsDir)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, e := range entries {
		id := e.Name()
		if strings.HasPrefix(id, kindName+".") && !slices.ContainsFunc(asked, func(j *Job) bool { return j.ID == id }) {
			jobs = append(jobs, &Job{ID: id, Title: "of an earlier round"})
		}
	}
	return append(jobs, asked...), nil
}

// GrantAgain gives the jobs that have used up their tries all of them again, because a
// person wants the work to go on. What was accepted stays. It returns the errors of
// writing.
func (b *Board) GrantAgain(ctx context.Context) error {
	for _, j := range b.Jobs() {
		if j.State != Exhausted {
			continue
		}
		err := b.update(ctx, j.ID, toBeOpen, func(u update) error {
			u.Log(run.EventGranted, "job_retry", tidegate.Pairs("job_id", j.ID, "attempt", j.Attempt, "note", ""))
			return u.WriteJSON(run.Retried(j.ID), run.RetryDocument(j.ID, j.Attempt, "", u.Now()))
		})
		if err != nil {
			return err
		}
		if err := b.Refresh(j.ID); err != nil {
			return err
		}
	}
	return nil
}

// update makes changes one after the other, each in a transaction of its own: such work
// has few jobs.
func (f *folder) update(_ context.Context, changes []change) []error {
	errs := make([]error, len(changes))
	for i, c := range changes {
		errs[i] = f.transact(c.ctx, c.do)
	}
	return errs
}

func (f *folder) transact(ctx context.Context, do func(update) error) error {
	lock, err := f.of.Folder.Lock(ctx, f.desk.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	log, err := lock.CheckLog(f.of.Log)
	if err != nil {
		return err
	}
	u := &folderUpdate{folder: f, tx: lock.Begin(), at: f.desk.Now(), actor: tidegate.ActorOf(ctx), lines: log.Lines}
	if err := do(update{writer: u}); err != nil || u.failed != nil {
		u.tx.Rollback()
		return cmp.Or(err, u.failed)
	}
	return u.tx.Commit()
}

// folderUpdate is a change under the lock of a folder.
type folderUpdate struct {
	*folder
	tx     *artifact.Tx
	at     time.Time
	actor  tidegate.Actor
	lines  int // in the log, with those of the update
	failed error
}

func (u *folderUpdate) Now() string     { return tidegate.Stamp(u.at) }
func (u *folderUpdate) Time() time.Time { return u.at }
func (u *folderUpdate) Pinned() bool    { return u.desk.Pinned }
func (u *folderUpdate) LastLine() int   { return u.lines }

// OthersWrote is beyond every line: what is there is always read again.
func (u *folderUpdate) OthersWrote() int { return math.MaxInt }

// Log stages a line. Such work is not done again from its log, so that arguments for that
// are left out.
func (u *folderUpdate) Log(event run.Event, kind string, fields tidegate.Details) {
	u.lines++
	line := append(tidegate.Pairs("ts", u.Now(), "kind", kind, "event", event, u.of.IDKey, u.of.ID, "seq", u.lines), u.actor.Logged()...)
	for _, d := range fields {
		if d.Key != "args" {
			line = append(line, d)
		}
	}
	if u.desk.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	u.failed = cmp.Or(u.failed, u.tx.Record(u.of.Log, line))
}

func (u *folderUpdate) Write(name string, data []byte) error {
	_, err := u.tx.WritePlain(name, data)
	return err
}

func (u *folderUpdate) WriteJSON(name string, v any) error {
	data, err := codec.MarshalFile(v)
	if err != nil {
		return err
	}
	return u.Write(name, data)
}

func (u *folderUpdate) Remove(name string) error { return u.tx.Remove(name) }

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
