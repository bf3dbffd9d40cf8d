package job

import (
	"context"
	"encoding/json"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/step"
)

// Board is the jobs of a run as its files show them. It holds what it read, so
// that a process which drives a run reads only what has changed: see
// [Board.Reload] and [Board.Refresh]. What decides is read again under the run's
// lock. A Board may be used by several goroutines.
type Board struct {
	// Fetch is how the sources of an answer are reached while it is judged; nil:
	// they are not.
	Fetch step.Fetch

	manifestPath string
	clock        run.Clock
	queue        queue

	mu     sync.Mutex
	run    *run.Run
	past   []*run.Run // opened before the run moved; others may still use them
	policy run.Policy
	jobs   map[string]*Job
	order  []string
	waves  map[run.Stage]contracts
	gaps   map[string]string // texts of the gaps of the second wave, by perspective id
	cited  *sources          // that answers may cite, once somebody asked
	beside int64             // bytes of the run's folder that are not of its jobs
}

// contracts are those of a wave, with the digest of their file.
type contracts struct {
	doc    *perspective.Document
	raw    map[string]*codec.Value // by perspective id, as they were written
	digest string
}

// OpenBoard reads the jobs of the run of a manifest. It returns the errors of
// [run.Open], and those of reading the run's documents.
func OpenBoard(ctx context.Context, clock run.Clock, manifestPath string) (*Board, error) {
	b := &Board{manifestPath: manifestPath, clock: clock}
	if err := b.Reload(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close gives back what the board holds.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range append(b.past, b.run) {
		if r != nil {
			r.Close()
		}
	}
	b.past, b.run = nil, nil
}

// Reload reads the whole board again: after the run has moved, or its status,
// limits or contracts have changed.
func (b *Board) Reload(ctx context.Context) error {
	// Opening may wait for the run's lock, whose holder may wait for ours.
	r, err := run.Open(ctx, b.manifestPath, "status", "stage.current", "query.text")
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.run != nil {
		b.past = append(b.past, b.run)
	}
	b.run, b.waves, b.jobs, b.order = r, map[run.Stage]contracts{}, map[string]*Job{}, nil
	b.gaps, b.cited = nil, nil
	if _, err := r.Gates(); err != nil {
		return err
	}
	if b.policy, err = r.Policy(); err != nil {
		return err
	}
	if b.beside, err = sizeOf(r.Folder().FS(), ".", run.JobsDir); err != nil {
		return err
	}
	begun, err := r.Folder().List(run.JobsDir)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, e := range begun {
		folders[e.Name()] = true
	}
	for i := range kinds {
		k := &kinds[i]
		if !k.reached(r.Manifest()) {
			continue
		}
		jobs, err := k.list(b)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			j.Kind, j.kind = k.name, k
			if folders[path.Base(run.JobDir(j.ID))] {
				if err := b.read(j); err != nil {
					return err
				}
			}
			j.done = k.done(b, j)
			b.jobs[j.ID] = j
			b.order = append(b.order, j.ID)
		}
	}
	return nil
}

// Refresh reads some jobs again. A job that the board does not
// know is not one of the run's present stage.
func (b *Board) Refresh(ids ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if j := b.jobs[id]; j != nil {
			if err := b.read(j); err != nil {
				return err
			}
			j.done = j.kind.done(b, j)
		}
	}
	return nil
}

// read reads what the folder of a job has.
func (b *Board) read(j *Job) error {
	numbers, err := b.run.Attempts(j.ID)
	if err != nil {
		return err
	}
	attempts := make([]*Attempt, 0, len(numbers))
	for _, n := range numbers {
		if known := len(attempts); known < len(j.attempts) && j.attempts[known].Number == n && j.attempts[known].Outcome != "" {
			attempts = append(attempts, j.attempts[known]) // an attempt that has ended does not change
			continue
		}
		a, err := readAttempt(b.run, j.ID, n)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return err
		}
		attempts = append(attempts, a)
	}
	j.attempts = attempts
	if j.lease, err = b.run.Lease(j.ID); err != nil {
		return err
	}
	if j.after, err = b.run.RetriedAfter(j.ID); err != nil {
		return err
	}
	if j.after > 0 {
		j.note = retryNote(b.run, j.ID)
	}
	j.after = max(j.after, grantedBy(b.run.Manifest(), j.ID))
	if j.size, err = sizeOf(b.run.Folder().FS(), run.JobDir(j.ID), ""); err != nil {
		return err
	}
	return nil
}

func retryNote(r *run.Run, id string) string {
	data, err := r.Folder().Read(run.Retried(id))
	if err != nil {
		return ""
	}
	var retried struct {
		Note string `json:"note"`
	}
	if json.Unmarshal(data, &retried) != nil {
		return ""
	}
	return retried.Note
}

// grantedBy is up to which attempt at a job a person has accepted that its tries
// were used up.
func grantedBy(m run.Manifest, id string) int {
	granted := 0
	for _, f := range m.Failures() {
		if f.Get("accepted_at") == nil {
			continue
		}
		for _, j := range f.Get("jobs").Elems() {
			if n, ok := j.Get("attempts").Int(); ok && j.Get("job_id").Str() == id {
				granted = max(granted, int(n))
			}
		}
	}
	return granted
}

// Run is the run as the board last read it.
func (b *Board) Run() *run.Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run
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

// Next is the first job that is open and that fits, "" when there is none, with
// its kind.
func (b *Board) Next(fits func(id, kind string) bool) (id, kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		if j := b.jobs[id]; b.state(j) == Open && fits(id, j.Kind) {
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
	stage := b.run.Manifest().Stage()
	for _, id := range b.order {
		if j := b.jobs[id]; j.kind.now(stage) {
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
	case j.lease.Lives(b.clock.Now()):
		return Leased
	case j.triesLeft(int(b.policy.Budget.Tries)) == 0:
		return Exhausted
	}
	return Open
}

// Job is one of the jobs. It returns JOB_NOT_FOUND.
func (b *Board) Job(id string) (Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j == nil {
		return Job{}, tidegate.Errorf(tidegate.JobNotFound, tidegate.D("job_id", tidegate.Cut(id), "stage", b.run.Manifest().Stage()),
			"the run has no job %q in stage %s", tidegate.Cut(id), b.run.Manifest().Stage())
	}
	return b.shown(j), nil
}

// shown is a job with its state at this moment.
func (b *Board) shown(j *Job) Job {
	out := *j
	out.State, out.TriesLeft = b.state(j), j.triesLeft(int(b.policy.Budget.Tries))
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
	doc, digest, err := step.Contracts(b.run, wave)
	if err != nil {
		return contracts{}, err
	}
	c := contracts{doc, map[string]*codec.Value{}, digest}
	data, err := b.run.Folder().Read(b.run.ContractsOf(wave))
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

// Spent is what a run has used of its budget.
type Spent struct {
	Minutes float64 `json:"minutes"`
	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	MB      float64 `json:"mb"`
}

// Spent sums up what the attempts took. Minutes are those in which a lease was
// alive, counted once however many were.
func (b *Board) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent()
}

func (b *Board) spent() Spent {
	var s Spent
	var spans []span
	size := b.beside
	now := b.clock.Now()
	for _, id := range b.order {
		j := b.jobs[id]
		size += j.size
		for _, a := range j.attempts {
			s.Tokens += a.Usage.tokens()
			if a.Usage.CostUSD != nil {
				s.CostUSD += *a.Usage.CostUSD
			}
			spans = append(spans, a.span(j.lease, now))
		}
	}
	s.Minutes = together(spans).Minutes()
	s.MB = math.Round(float64(size)/(1<<20)*1000) / 1000 // the paths in a manifest make no difference
	return s
}

type span struct{ from, to time.Time }

// span is when an attempt had a lease that was alive.
func (a *Attempt) span(lease *run.Lease, now time.Time) span {
	from, _ := tidegate.ParseTime(a.StartedAt)
	to, ended := tidegate.ParseTime(a.EndedAt)
	if !ended {
		to = now
		if lease != nil && lease.Attempt == a.Number {
			if expires, ok := tidegate.ParseTime(lease.ExpiresAt); ok && expires.Before(now) {
				to = expires
			}
		}
	}
	return span{from, to}
}

// together is how long the spans last, what they share counted once.
func together(spans []span) time.Duration {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var total time.Duration
	var end time.Time
	for _, s := range spans {
		if s.from.Before(end) {
			s.from = end
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			end = s.to
		}
	}
	return total
}

// Limit is the first limit of the budget that is reached, "" when none is.
func (b *Board) Limit() (name string, spent Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit()
}

func (b *Board) limit() (name string, spent Spent) {
	spent = b.spent()
	budget := b.policy.Budget
	for _, l := range []struct {
		name        string
		used, limit float64
	}{
		{"max_minutes", spent.Minutes, budget.MaxMinutes},
		{"max_tokens", spent.Tokens, budget.MaxTokens},
		{"max_cost_usd", spent.CostUSD, budget.MaxCostUSD},
		{"max_mb", spent.MB, budget.MaxMB},
	} {
		if l.used >= l.limit {
			return l.name, spent
		}
	}
	return "", spent
}

// sizeOf adds up the files in a folder, but for those in the folder without.
func sizeOf(files fs.FS, dir, without string) (int64, error) {
	var size int64
	err := fs.WalkDir(files, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it went away, or is not ours to look at
		case without != "" && name == without:
			return fs.SkipDir
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".tidegate"):
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size, err
}
