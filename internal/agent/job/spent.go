package job

import (
	"cmp"
	"math"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Spent is what a run has used of its budget.
type Spent run.Spent

// ledger sums up what the attempts of a run took, so that asking for it costs only
// as much as has changed.
type ledger struct {
	tokens, cost float64
	size         int64           // of the folders of jobs
	beside       int64           // of the run's folder, without them
	worked       run.Times       // in which an attempt that has ended had a lease, or a rule was at work
	open         map[string]*Job // those with an attempt that has not ended
	grown        map[string]*Job // those whose folder is to be measured: read from the disk, or with an attempt that has ended since
}

func newLedger() ledger { return ledger{open: map[string]*Job{}, grown: map[string]*Job{}} }

// tally is what a ledger has counted of a job.
type tally struct {
	tokens, cost float64
	size         int64
	ended        int // how many of its attempts
}

// count counts a job again.
func (l *ledger) count(j *Job) {
	before := j.tally
	j.tally.tokens, j.tally.cost = 0, 0
	delete(l.open, j.ID)
	for i, a := range j.attempts {
		usage := a.Usage.Bounded() // a file can hold anything
		j.tally.tokens += usage.Tokens()
		if usage.CostUSD != nil {
			j.tally.cost += *usage.CostUSD
		}
		switch {
		case a.Outcome == "":
			l.open[j.ID] = j
		case i >= j.tally.ended:
			l.worked = a.worked(l.worked, j.lease, time.Time{}, run.Span{})
			j.tally.ended = i + 1
		}
	}
	l.tokens += j.tally.tokens - before.tokens
	l.cost += j.tally.cost - before.cost
}

// Spent sums up what the attempts took. Minutes are those in which a lease was
// alive or a rule at work, counted once however many were.
func (b *Board) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent()
}

func (b *Board) spent() Spent {
	l := &b.ledger
	for id, j := range l.grown {
		size, err := b.sizeOf(id)
		if err == nil {
			l.size += size - j.tally.size
			j.tally.size = size
			delete(l.grown, id)
		}
	}
	worked := l.worked
	now := b.desk.Now()
	for id, j := range l.open {
		until := now
		if since, waits := b.waiting[id]; waits && since.Before(now) {
			until = since
		}
		worked = j.last().worked(worked, j.lease, until, b.leap(id, now))
	}
	s := Spent{Minutes: worked.Total().Minutes(), Tokens: l.tokens, CostUSD: l.cost}
	s.MB = math.Round(float64(l.size+l.beside)/(1<<20)*1000) / 1000 // the paths in a manifest make no difference
	return s
}

// worked is the times with those in which an attempt had a lease that was alive, except
// what is not charged, and except a leap of the clock that is not kept yet.
func (a *Attempt) worked(times run.Times, lease *run.Lease, now time.Time, leap run.Span) run.Times {
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
	own := run.Times{}.With(run.Span{From: from, To: to}).Without(leap)
	for _, u := range a.Unspent {
		own = own.Without(run.ParseSpan(u.From, u.To))
	}
	for _, span := range own {
		times = times.With(span)
	}
	return times
}

// Limit is the first limit of the budget that is reached, "" when none is.
func (b *Board) Limit() (name string, spent Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit()
}

func (b *Board) limit() (name string, spent Spent) {
	spent = b.spent()
	for _, name := range []string{"max_minutes", "max_tokens", "max_cost_usd", "max_mb"} {
		if spent.of(name) >= b.work.policy.Budget.Of(name) {
			return name, spent
		}
	}
	return "", spent
}

// of is what was spent of a limit.
func (s Spent) of(limit string) float64 {
	return map[string]float64{"max_minutes": s.Minutes, "max_tokens": s.Tokens, "max_cost_usd": s.CostUSD, "max_mb": s.MB}[limit]
}

// Raised is the limit that is used up, and one that lets the work go on: twice the limit, or
// twice what was spent where that is no less.
func (b *Board) Raised() (name string, to float64) {
	name, spent := b.Limit()
	if name == "" {
		return "", 0
	}
	used, to := spent.of(name), 2*b.Policy().Budget.Of(name)
	if used >= to {
		to = math.Ceil(200*used) / 100
	}
	return name, cmp.Or(to, 1)
}

// sizeOf is the size of the folder of a job.
func (b *Board) sizeOf(id string) (int64, error) {
	// From within: looking at a file opens every folder above it.
	dir, err := b.work.Folder().Folder(run.JobDir(id))
	if err != nil {
		return 0, artifact.UnlessMissing(err)
	}
	defer dir.Close()
	return artifact.SizeOf(dir.FS(), "")
}
