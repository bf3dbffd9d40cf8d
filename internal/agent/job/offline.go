package job

import (
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// lineTime is how long an answer waits where nothing can be reached from here. After that
// its sources count as what they are: not reached.
const lineTime = 30 * time.Minute

// handedIn is when answer n of an attempt came.
func handedIn(a *Attempt, n int) time.Time {
	at, _ := tidegate.ParseTime(a.Submissions[n-1].HandedInAt)
	return at
}

// waitForLine leaves an answer neither accepted nor refused, and has its lease last for
// as long as it may wait. An answer by hand is judged again by who looks next, that of a
// home by the home.
func (b *Board) waitForLine(ctx context.Context, id string, number, n int) (Verdict, error) {
	var lease *run.Lease
	var a *Attempt
	line := 0
	err := b.update(ctx, id, toBeOpen, func(u update) (err error) {
		if a, lease, err = b.liveLease(u, id, number); err != nil {
			return err
		}
		if lease == nil || lease.Attempt != number || a.Outcome != "" || len(a.Submissions) != n || a.Submissions[n-1].Judged {
			return lost(id)
		}
		lease.JudgingSince = nil
		if until := handedIn(a, n).Add(lineTime + leaseAfter); !lease.Lives(until) {
			lease.ExpiresAt = tidegate.Stamp(until)
		}
		if now := tidegate.Stamp(b.livedNow(lease)); lease.Home {
			lease.JudgingSince = &now
		}
		u.Log(run.EventExtended, "job_wait", tidegate.Pairs("job_id", id, "attempt", number, "answer", n, "expires_at", lease.ExpiresAt, "offline", true))
		line = u.LastLine()
		return u.WriteJSON(run.LeaseFile(id), lease)
	})
	if err != nil {
		return Verdict{}, err
	}
	b.remember(a, lease, line)
	j, err := b.Job(id)
	return Verdict{JobID: id, Attempt: number, Faults: []Fault{}, Warnings: []Fault{}, TriesLeft: j.TriesLeft, State: j.State, WaitingFor: "time"}, err
}

// leaseAfter is how long the lease lasts after the wait, so that the last verdict finds it.
const leaseAfter = 5 * time.Minute
