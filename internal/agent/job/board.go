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
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// Board is the jobs of a run as its files show them. It keeps what it read, so
// that a process that drives a run reads only what has changed: see
// [Board.Reload] and [Board.Refresh]. What a decision rests on is read again under
// the run's lock. A Board may be used by several goroutines.
type Board struct {
	// Fetch is how the sources of an answer are reached while it is judged; with nil
	// they are not.
	Fetch step.Fetch

	open  func(ctx context.Context) (work, error)
	desk  run.Desk
	queue queue

	mu     sync.Mutex
	work   work
	run    *run.Run          // that the work is
	known  *artifact.Digests // of the files of the work
	check  *step.SourceChecker
	past   []work // opened before the run moved; others may still use them
	policy run.Policy
	jobs   map[string]*Job
	order  []string
	waves  map[run.Stage]contracts
	before map[run.Stage]contracts // as they were when the board was last read whole
	gaps   map[string]string       // texts of the gaps of the second wave, by perspective id
	scope  *scope                  // once asked for
	cited  *sources                // that answers may cite, once asked for
	// own has, by wave, what its perspectives are shown of the person's own documents, once
	// asked for
	own    map[run.Stage]*ownDocuments
	files  []step.Document // the person's own documents, once asked for; never nil then
	first  int             // all jobs before this one, in order, are done
	ledger ledger
	// waiting is since when attempts of this home wait for a machine, by job id
	waiting map[string]time.Time
	begun   map[string]time.Time   // by job: when this home began its attempt, as its clock says
	claims  map[string]knownClaims // sentences of syntheses, by the name of their file
	shownOf *evidence.Claims       // whose sentences are in asShown
	asShown map[string]bool        // sentences as prompts show them
	asks    *reading.Questions     // what second readers are asked, once asked for
	asksOf  string                 // the digest of the claims that they are about
	planted map[int]planted        // their parts as they were last asked, by number
	// passed says that a person let gate E pass: nobody need read the report
	passed bool
}

// contracts are the contracts of a wave, with the digest of their file.
type contracts struct {
	doc    *wave.Perspectives
	raw    map[string]*codec.Value // by perspective id, as they were written
	digest string
}

// OpenBoard reads the jobs of the run of a manifest. It returns the errors of
// [run.Open], and those of reading the run's documents.
func OpenBoard(ctx context.Context, desk run.Desk, manifestPath string) (*Board, error) {
	return openBoard(ctx, desk, func(ctx context.Context) (work, error) { return openResearch(ctx, desk, manifestPath) })
}

func openBoard(ctx context.Context, desk run.Desk, open func(context.Context) (work, error)) (*Board, error) {
	b := &Board{desk: desk, open: open}
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
	b.past, b.work, b.run = nil, nil, nil
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
	b.work, b.before, b.waves, b.jobs, b.order = opened, b.waves, map[run.Stage]contracts{}, map[string]*Job{}, nil
	b.known = opened.Folder().Digests()
	if r, ok := opened.(research); ok {
		b.run, b.check = r.Run, step.NewSourceChecker(r.Run)
	}
	b.gaps, b.scope, b.cited, b.own, b.files, b.first, b.ledger = nil, nil, nil, map[run.Stage]*ownDocuments{}, nil, 0, newLedger()
	if b.policy, err = opened.Policy(); err != nil {
		return err
	}
	if b.ledger.beside, err = sizeOf(opened.Folder().FS(), run.JobsDir); err != nil {
		return err
	}
	// The run that was opened first has read most of the log.
	if b.ledger.worked, err = append(b.past, opened)[0].worked(); err != nil {
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
	for _, k := range opened.kinds() {
		jobs, err := k.list(b)
		if err != nil {
			return err
		}
		has := func(j *Job) bool { return folders[path.Base(run.JobDir(j.ID))] }
		err = parallel.All(context.WithoutCancel(ctx), len(jobs), func(i int) error {
			j := jobs[i]
			if !has(j) {
				return nil
			}
			if before := known[j.ID]; before != nil {
				j.attempts = before.attempts // those that have ended
			}
			return j.read(opened)
		})
		if err != nil {
			return err
		}
		for _, j := range jobs {
			j.Kind, j.kind = k.name, k
			if has(j) {
				b.count(j)
			}
			j.done = k.done(b, j)
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
	if err := j.read(b.work); err != nil {
		return err
	}
	b.count(j)
	b.setDone(j)
	return nil
}

func (b *Board) setDone(j *Job) {
	if j.done = j.kind.done(b, j); !j.done {
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

// read reads the folder of a job.
func (j *Job) read(w work) error {
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
	j.after, j.asOf = max(j.after, w.granted(j.ID)), 0
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
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run
}

// ID is the id of the run.
func (b *Board) ID() string { return b.present().ID() }

// CreatedAt is when the run was created.
func (b *Board) CreatedAt() string { return b.present().createdAt() }

// Folder is the folder of the run.
func (b *Board) Folder() *artifact.Folder { return b.present().Folder() }

// digests are those of the files of the work as the board last opened it.
func (b *Board) digests() *artifact.Digests {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known
}

// Web reports whether the agent at a job may search and read the web.
func (b *Board) Web(j Assignment) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.jobs[j.JobID]
	return known != nil && b.work.web(known.kind)
}

// present is the work as the board last read it.
func (b *Board) present() work {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// Policy is the run's policy as the board last read it.
func (b *Board) Policy() run.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy
}

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
		if j := b.jobs[id]; b.work.waitsFor(j.kind) {
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
	case j.triesLeft(int(b.policy.Budget.Tries), b.desk.Now()) == 0:
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
	out.State, out.TriesLeft = b.state(j), j.triesLeft(int(b.policy.Budget.Tries), b.desk.Now())
	if last := j.last(); last != nil {
		out.Attempt = last.Number
	}
	if out.State == Leased {
		out.Holder, out.ExpiresAt = &j.lease.Holder, &j.lease.ExpiresAt
	}
	return out
}

// contracts are the frozen contracts of a wave, read once.
func (b *Board) contracts(wave run.Stage) (contracts, error) {
	if c, ok := b.waves[wave]; ok {
		return c, nil
	}
	if c, ok := b.before[wave]; ok {
		if digest, err := b.run.Folder().Digest(b.run.ContractsOf(wave)); err == nil && digest == c.digest {
			b.waves[wave] = c
			return c, nil
		}
	}
	doc, digest, err := step.Contracts(b.run, wave)
	if err != nil {
		return contracts{}, err
	}
	c := contracts{doc, map[string]*codec.Value{}, digest}
	data, err := b.run.Folder().ReadDocument(b.run.ContractsOf(wave))
	if err != nil {
		return contracts{}, err
	}
	written, err := codec.ParseFile("perspectives_path", b.run.Path(b.run.ContractsOf(wave)), data)
	if err != nil {
		return contracts{}, err
	}
	for _, v := range written.Get("perspectives").Elems() {
		c.raw[v.Get("id").Str()] = v
	}
	b.waves[wave] = c
	return c, nil
}
