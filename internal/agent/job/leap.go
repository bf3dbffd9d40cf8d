package job

import (
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// shortLeap is by how much the time of day may differ from the time that passes here. More
// than that is a clock that was set, or a machine that slept.
const shortLeap = 10 * time.Second

// begins keeps when this process began an attempt, or the end of a time that it kept as not
// charged.
func (b *Board) begins(at time.Time, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun[id] = at
}

// leapt is by how much the clock was set forward, or back where it is negative, since
// [Board.begins]; 0 where it was not. A clock without a monotonic reading never is. The
// caller holds the lock.
func (b *Board) leapt(id string, now time.Time) time.Duration {
	since, ok := b.begun[id]
	leapt := now.Round(0).Sub(since.Round(0)) - now.Sub(since)
	if !ok || leapt.Abs() < shortLeap {
		return 0
	}
	return leapt
}

// leap is by how much the clock leapt forward since [Board.begins], as the time before now
// in which nothing happened; empty where it did not. The caller holds the lock.
func (b *Board) leap(id string, now time.Time) run.Span {
	leapt := b.leapt(id, now)
	if leapt <= 0 {
		return run.Span{}
	}
	return run.Span{From: now.Add(-leapt), To: now}
}

// lived is what time it would be if nobody had set the clock while this process has the
// attempt of a lease: the lease goes by that, and so does whether its answer is being
// judged. Leases by hand go by the clock. The caller holds the lock.
func (b *Board) lived(lease *run.Lease) time.Time {
	now := b.desk.Now()
	if lease == nil || !lease.Home {
		return now
	}
	return now.Add(-b.leapt(lease.JobID, now))
}

// livedNow is [Board.lived] for callers without the lock.
func (b *Board) livedNow(lease *run.Lease) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lived(lease)
}

// keepLeap keeps that the clock leapt, in the update that ends the attempt. One that goes on
// is told by its home, which has its lease last longer, too.
func (b *Board) keepLeap(u update, a *Attempt, lease *run.Lease) {
	b.mu.Lock()
	leap := a.within(b.leap(a.JobID, u.Time()))
	b.mu.Unlock()
	if leap.To.After(leap.From) {
		a.unspent(u, lease, leap)
	}
}

// within is the part of a time in which the attempt had begun.
func (a *Attempt) within(span run.Span) run.Span {
	if began, _ := tidegate.ParseTime(a.StartedAt); span.From.Before(began) {
		span.From = began
	}
	return span
}

// unspent stages that a time is not charged to the attempt.
func (a *Attempt) unspent(u update, lease *run.Lease, span run.Span) {
	unspent := Unspent{tidegate.Stamp(span.From), tidegate.Stamp(span.To)}
	a.Unspent = append(a.Unspent, unspent)
	u.Log(run.EventExtended, "job_unspent", tidegate.Pairs("job_id", a.JobID, "attempt", a.Number, "expires_at", lease.ExpiresAt, "unspent", unspent))
}

// uncharged is how much time of the attempt is not charged.
func (a *Attempt) uncharged() time.Duration {
	var times run.Times
	for _, u := range a.Unspent {
		times = times.With(run.ParseSpan(u.From, u.To))
	}
	return times.Total()
}
