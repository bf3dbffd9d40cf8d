package job

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// Board is the jobs of a run as its files show them. It keeps what it read, so
// that a process that drives a run reads only what has changed: see
// [Board.Reload] and [Board.Refresh]. What a decision rests on is read again under
// the run's lock. A Board may be used by several goroutines.
type Board struct {
	// Fetch is how the sources of an answer are reached while it is judged; with nil
	// they are not.
	Fetch sourcing.Fetch
	// Seeds are the files with the seeds by which sentences are dealt to readers, where
	// these are a recording; nil where they are drawn.
	Seeds func(round int64) []byte

	open     func(ctx context.Context) (*work, error)
	desk     run.Desk
	together parallel.Together[change]

	settling sync.Mutex // pairs are judged one look at a time

	mu     sync.Mutex
	work   *work
	past   []*work // opened before the run moved; others may still use them
	jobs   map[string]*Job
	order  []string
	first  int // all jobs before this one, in order, are done
	ledger ledger
	// waiting is since when attempts of this home wait for a machine, by job id
	waiting map[string]time.Time
	begun   map[string]time.Time // by job: when this home began its attempt, as its clock says
}

// OpenBoard reads the jobs of the run of a manifest. It returns the errors of
// [run.Open], and those of reading the run's documents.
func OpenBoard(ctx context.Context, desk run.Desk, manifestPath string) (*Board, error) {
	before := new(readBefore)
	return openBoard(ctx, desk, func(ctx context.Context) (*work, error) { return openResearch(ctx, desk, manifestPath, before) })
}

func openBoard(ctx context.Context, desk run.Desk, open func(context.Context) (*work, error)) (*Board, error) {
	b := &Board{desk: desk, open: open, begun: map[string]time.Time{}, waiting: map[string]time.Time{}}
	b.together.Do = b.make
	if err := b.Reload(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close releases what the board holds.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range append(b.past, b.work) {
		if w != nil {
			w.Close()
		}
	}
	b.past, b.work = nil, nil
}

// Reload reads the whole board again: after the run has moved, or its status,
// limits or contracts have changed.
func (b *Board) Reload(ctx context.Context) error {
	// Opening may wait for the run's lock, whose holder may wait for ours.
	opened, err := b.open(ctx)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work != nil {
		b.past = append(b.past, b.work)
	}
	known := b.jobs
	b.work, b.jobs, b.order, b.first, b.ledger = opened, map[string]*Job{}, nil, 0, newLedger()
	b.ledger.worked = opened.worked
	if b.ledger.beside, err = artifact.SizeOf(opened.Folder().FS(), run.JobsDir); err != nil {
		return err
	}
	begun, err := opened.Folder().List(run.JobsDir)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, e := range begun {
		folders[e.Name()] = true
	}
	for i := range opened.kinds {
		k := &opened.kinds[i]
		jobs, err := k.list()
		if err == nil && k.rounds {
			jobs, err = withEarlier(opened.Folder(), k.name, jobs)
		}
		if err != nil {
			return err
		}
		has := func(j *Job) bool { return folders[path.Base(run.JobDir(j.ID))] }
		err = parallel.All(context.WithoutCancel(ctx), len(jobs), func(i int) error {
			j := jobs[i]
			j.Kind, j.kind, j.folder = k.name, k, opened.Folder()
			if !has(j) {
				return nil
			}
			if before := known[j.ID]; before != nil {
				j.attempts = before.attempts // those that have ended
			}
			return j.readFolder(opened)
		})
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if has(j) {
				b.count(j)
			}
			j.done = j.isDone()
			b.jobs[j.ID] = j
			b.order = append(b.order, j.ID)
		}
	}
	return nil
}

// Refresh reads some jobs again. A job that the board does not know is not one of
// the run's present stage.
func (b *Board) Refresh(ids ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if err := b.refresh(b.jobs[id]); err != nil {
			return err
		}
	}
	return nil
}

// Follow reads a job again that a line of the log is about, unless the board knew
// that line when it last looked at the job.
func (b *Board) Follow(id string, line int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if j := b.jobs[id]; j != nil && j.asOf < line {
		return b.refresh(j)
	}
	return nil
}

func (b *Board) refresh(j *Job) error {
	if j == nil {
		return nil
	}
	if err := j.readFolder(b.work); err != nil {
		return err
	}
	b.count(j)
	b.setDone(j)
	return nil
}

// isDone reports whether the work has what the job is to write. One of an earlier round is
// not asked for any more.
func (j *Job) isDone() bool { return j.task == nil || j.task.done(j) }

func (b *Board) setDone(j *Job) {
	if j.done = j.isDone(); !j.done {
		b.first = 0
	}
}

// remember takes over what this process has written about a job: its last attempt, and
// the lease. Line is the last line of the log about it.
func (b *Board) remember(a *Attempt, lease *run.Lease, line int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[a.JobID]
	if j == nil {
		return // the board was read again meanwhile, and the run has moved
	}
	if n := len(j.attempts); n > 0 && j.attempts[n-1].Number == a.Number {
		j.attempts = slices.Clone(j.attempts[:n-1]) // others may look at the old list
	}
	j.attempts = append(slices.Clip(j.attempts), a)
	j.lease, j.asOf = lease, line
	b.ledger.count(j)
	if a.Outcome != "" { // before that it has written nothing but its own files
		b.ledger.grown[j.ID] = j
		b.setDone(j)
	}
}

// readFolder reads the folder of a job.
func (j *Job) readFolder(w *work) error {
	files := run.JobsIn(w.Folder())
	has, err := files.Of(j.ID)
	if err != nil {
		return err
	}
	attempts := make([]*Attempt, 0, len(has.Attempts))
	for _, n := range has.Attempts {
		if known := len(attempts); known < len(j.attempts) && j.attempts[known].Number == n && j.attempts[known].Outcome != "" {
			attempts = append(attempts, j.attempts[known]) // an attempt that has ended does not change
			continue
		}
		a, err := readAttempt(w.Folder(), j.ID, n)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return err
		}
		attempts = append(attempts, a)
	}
	j.attempts, j.lease, j.after = attempts, nil, 0
	if has.Leased {
		if j.lease, err = files.Lease(j.ID); err != nil {
			return err
		}
	}
	if has.Retried {
		if j.after, err = files.RetriedAfter(j.ID); err != nil {
			return err
		}
		j.note = retryNote(w.Folder(), j.ID)
	}
	j.after, j.asOf = max(j.after, w.granted[j.ID]), 0
	return nil
}

// count counts a job that was read.
func (b *Board) count(j *Job) {
	b.ledger.count(j)
	b.ledger.grown[j.ID] = j
}

func retryNote(folder *artifact.Folder, id string) string {
	data, err := folder.Read(run.Retried(id))
	if err != nil {
		return ""
	}
	retried, _ := codec.Parse(data)
	return retried.Get("note").Str()
}

// Run is the run as the board last read it.
func (b *Board) Run() *run.Run {
	if r := b.present().run; r != nil {
		return r.Run
	}
	return nil
}

// ID is the id of the run.
func (b *Board) ID() string { return b.present().ID() }

// CreatedAt is when the run was created.
func (b *Board) CreatedAt() string { return b.present().CreatedAt() }

// Folder is the folder of the run.
func (b *Board) Folder() *artifact.Folder { return b.present().Folder() }

// Web reports whether the agent at a job may search and read the web.
func (b *Board) Web(j Assignment) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.jobs[j.JobID]
	return known != nil && known.kind.web
}

// present is the work as the board last read it.
func (b *Board) present() *work {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// Policy is the run's policy as the board last read it.
func (b *Board) Policy() run.Policy { return b.present().policy }

// Jobs lists the jobs, in the order of the stages and then of their ids.
func (b *Board) Jobs() []Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Job, 0, len(b.order))
	for _, id := range b.order {
		list = append(list, b.shown(b.jobs[id]))
	}
	return list
}

// Next is the first open job that fits, with its kind and role, and "" when there is
// none.
func (b *Board) Next(fits func(id string) bool) (id, kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.first < len(b.order) && b.jobs[b.order[b.first]].done {
		b.first++
	}
	for _, id := range b.order[b.first:] {
		if j := b.jobs[id]; b.state(j) == Open && fits(id) {
			return id, j.Kind
		}
	}
	return "", ""
}

// Work counts the jobs that the run waits for in its present stage, by state.
func (b *Board) Work() map[State]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[State]int{}
	for _, id := range b.order {
		if j := b.jobs[id]; j.kind.waits {
			counts[b.state(j)]++
		}
	}
	return counts
}

// state is the state of a job at this moment.
func (b *Board) state(j *Job) State {
	switch {
	case j.done:
		return Accepted
	case j.lease.Lives(b.lived(j.lease)):
		return Leased
	case j.held():
		return Held
	case j.triesLeft(int(b.work.policy.Budget.Tries), b.desk.Now()) == 0:
		return Exhausted
	}
	return Open
}

// Job is the job with that id. It returns JOB_NOT_FOUND.
func (b *Board) Job(id string) (Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j == nil {
		return Job{}, b.work.missing(id)
	}
	return b.shown(j), nil
}

// shown is a job with its state at this moment.
func (b *Board) shown(j *Job) Job {
	out := *j
	out.State, out.TriesLeft = b.state(j), j.triesLeft(int(b.work.policy.Budget.Tries), b.desk.Now())
	if last := j.last(); last != nil {
		out.Attempt = last.Number
	}
	if out.State == Leased {
		out.Holder, out.ExpiresAt = &j.lease.Holder, &j.lease.ExpiresAt
	}
	return out
}

// need is in which state a run must be for a change.
type need int

const (
	toBeOpen need = iota // it takes answers
	toStand              // it goes on, and stands where it stood when it was opened
)

// change is a change of one job that somebody waits for.
type change struct {
	ctx   context.Context // of the call that it belongs to
	needs need
	do    func(update) error
	job   string
}

// update makes a change of a job under the run's lock; see [run.Run.Update]. Changes of
// other jobs that are asked for at the same time are made with it: most of what one costs
// is the lock and the syncs of its transaction.
func (b *Board) update(ctx context.Context, job string, needs need, do func(update) error) error {
	return b.together.Ask(ctx, job, change{ctx: ctx, needs: needs, do: do, job: job})
}

// updateAlone is update for a change that reads what others write: they are not made with it.
func (b *Board) updateAlone(ctx context.Context, job string, needs need, do func(update) error) error {
	return b.make(ctx, []change{{ctx: ctx, needs: needs, do: do, job: job}})[0]
}

// make makes changes, and marks what the board knows of their jobs as out of date, until
// the one that changed them says how they are.
func (b *Board) make(ctx context.Context, changes []change) []error {
	errs := b.present().update(ctx, changes)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range changes {
		if j := b.jobs[c.job]; j != nil {
			j.asOf = 0
		}
	}
	return errs
}
