package job

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TakenOver is an attempt that a home took over from the one before it.
type TakenOver struct {
	Assignment
	Answers  int     // that were handed in
	Judged   bool    // whether the last of them was judged
	Faults   []Fault // of the last answer, where it was refused
	Warnings []Fault
	Session  string // by which the agent's session may be continued
	Driver   string
	Model    string
	Called   map[string]float64 // tools that its agent called, by name
	Events   []byte             // of the agents before, one line each
}

// TakeOver takes over those leases of homes that nobody works on, as lost says: each
// belongs to this process from here on, under the same attempt, and uses no try. The
// agent of its role, which by names, may be another one than before. Only
// the process that has claimed the run may call it. Of a run that does not go on it
// takes none. It returns the errors of [run.Run.Update].
func (b *Board) TakeOver(ctx context.Context, holder string, lasts time.Duration, by func(role string) Home, lost func(Job) bool) ([]TakenOver, error) {
	if b.present().stopped != nil {
		return nil, nil
	}
	var list []TakenOver
	for _, shown := range b.Jobs() {
		if shown.lease == nil || !shown.lease.Home || shown.State == Accepted || !lost(shown) {
			continue
		}
		h, err := b.takeOver(ctx, shown, holder, lasts, by(shown.kind.role))
		if err != nil {
			return nil, err
		}
		if h != nil {
			list = append(list, *h)
		}
	}
	return list, nil
}

func (b *Board) takeOver(ctx context.Context, shown Job, holder string, lasts time.Duration, by Home) (*TakenOver, error) {
	var h *TakenOver
	err := b.update(ctx, shown.ID, toStand, func(u update) error {
		lease, err := run.JobsIn(b.Folder()).Lease(shown.ID)
		if err != nil || lease == nil || !lease.Home {
			return err
		}
		a, err := readAttempt(b.Folder(), shown.ID, lease.Attempt)
		if err != nil || a.Outcome != "" {
			return err
		}
		prompt, err := b.Folder().Read(a.dir() + "/prompt.md")
		if err != nil {
			return err
		}
		events, err := b.Folder().Read(a.dir() + "/events.jsonl")
		if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
			return err
		}
		token, digest := b.newToken(u, shown.ID, a.Number)
		if a.Driver != by.Driver || a.Model != by.Model {
			a.Driver, a.Model, a.Session = by.Driver, by.Model, "" // which only the other agent could continue
		}
		// It begins again: the time between two homes is not spent, and gate F counts
		// from here, too.
		a.TokenDigest, a.Holder, a.StartedAt = digest, run.Note(holder), u.Now()
		lease.TokenDigest, lease.Holder, lease.LeasedAt, lease.ExpiresAt = digest, a.Holder, u.Now(), tidegate.Stamp(u.Time().Add(lasts))
		lease.JudgingSince = nil
		b.begins(u.Time(), shown.ID)
		u.Log(run.EventLeased, "job_takeover", tidegate.Pairs("job_id", shown.ID, "attempt", a.Number, "holder", a.Holder, "home", true,
			"prompt_digest", a.PromptDigest, "expires_at", lease.ExpiresAt))
		h = &TakenOver{
			Assignment: Assignment{JobID: shown.ID, Kind: shown.Kind, Attempt: a.Number, Token: token, PromptMD: string(prompt),
				PromptDigest: codec.DigestBytes(prompt), AnswerFormat: shown.answerFormat(), TriesLeft: shown.TriesLeft, ExpiresAt: lease.ExpiresAt},
			Events: events, Answers: len(a.Submissions), Session: a.Session, Driver: a.Driver, Model: a.Model, Called: a.ToolCalls,
		}
		if s := a.lastAnswer(); s != nil {
			h.Judged, h.Faults, h.Warnings = s.Judged, s.Faults, s.Warnings
		}
		if err := a.write(u); err != nil {
			return err
		}
		return u.WriteJSON(run.LeaseFile(shown.ID), lease)
	})
	if err != nil {
		return nil, err
	}
	if h != nil && shown.kind.equipped {
		made, err := shown.task.prompt(ctx, &shown)
		if err != nil {
			return nil, err
		}
		h.equip(made)
	}
	return h, b.Refresh(shown.ID)
}

// JudgeKept judges answer n of an attempt that was taken over before it was judged, or
// that waited for the line at home. It returns the errors of [Board.Submit].
func (b *Board) JudgeKept(ctx context.Context, h TakenOver, n int) (Verdict, error) {
	return b.judgeKept(ctx, h.JobID, h.Attempt, n)
}

// Leave lets go of a lease of this home and keeps its attempt open: the next home
// begins it again under its own number, and it uses no try.
func (b *Board) Leave(ctx context.Context, token string) error {
	_, err := b.holding(ctx, token, func(u update, a *Attempt, lease *run.Lease) error {
		lease.ExpiresAt = u.Now()
		u.Log(run.EventExtended, "job_leave", tidegate.Pairs("job_id", a.JobID, "attempt", lease.Attempt, "expires_at", lease.ExpiresAt))
		return u.WriteJSON(run.LeaseFile(a.JobID), lease)
	})
	return err
}

// Waits says since when the attempt of this home at a job waits for a machine that does
// the work; the zero time: no more. That time is not charged meanwhile.
func (b *Board) Waits(id string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since.IsZero() {
		delete(b.waiting, id)
		return
	}
	b.waiting[id] = since
}

// Unspent keeps that nobody worked at an attempt of this home for a time. That is not
// charged, and the lease lasts longer by it, also one that has run out meanwhile, where
// nobody else took the job. It returns LEASE_LOST.
func (b *Board) Unspent(ctx context.Context, token string, span run.Span) error {
	id, number, err := ofToken(token)
	if err != nil {
		return err
	}
	err = b.update(ctx, id, toBeOpen, func(u update) error {
		a, lease, err := b.liveLease(u, id, number)
		if err != nil {
			return err
		}
		if a == nil || a.Outcome != "" || lease.TokenDigest != codec.DigestBytes([]byte(token)) {
			return lost(id)
		}
		span = a.within(span)
		expires, ok := tidegate.ParseTime(lease.ExpiresAt)
		if !ok || !span.To.After(span.From) {
			return nil
		}
		lease.ExpiresAt = tidegate.Stamp(expires.Add(span.To.Sub(span.From)))
		if lease.JudgingSince != nil {
			to := tidegate.Stamp(span.To)
			lease.JudgingSince = &to // who judged before goes on
		}
		a.unspent(u, lease, span)
		b.begins(span.To, id) // the clock may leap again before the update
		if err := a.write(u); err != nil {
			return err
		}
		return u.WriteJSON(run.LeaseFile(id), lease)
	})
	if err != nil {
		return err
	}
	return b.Refresh(id)
}

// Role is the role that does a job of a kind, by the names of the configuration.
func (b *Board) Role(id, kindName string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if j := b.jobs[id]; j != nil {
		return cmp.Or(j.role, j.kind.role)
	}
	return kindOf(kindName).role
}

// Retry gives a job its tries again. It is a person's decision: the note is for the
// next agent, and a run that failed for lack of tries goes on. Seen is the last attempt that
// the person knew of, or [AnyAttempt]. It returns JOB_NOT_FOUND, JOB_NOT_OPEN for a job that is
// accepted or leased, or that was tried or given its tries since, and INVALID_STATE for a run
// that is final.
func (b *Board) Retry(ctx context.Context, id, note string, seen int) (Job, error) {
	if _, err := b.Job(id); err != nil {
		return Job{}, err
	}
	decision := run.Decision{What: "job retry", Fields: tidegate.Pairs("job_id", id, "note", run.Note(note))}
	_, err := b.Run().Decide(ctx, decision, func(u *run.Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		if err := b.Refresh(id); err != nil {
			return err
		}
		j, err := b.Job(id)
		if err != nil {
			return err
		}
		if j.State == Accepted || j.State == Leased || j.State == Held {
			return notOpen(j)
		}
		if seen != AnyAttempt && (j.Attempt != seen || seen > 0 && j.after == seen) {
			return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", j.ID, "state", j.State, "attempt", j.Attempt),
				"the job %s was tried or given its tries since it was looked at", j.ID)
		}
		if _, err := closeLapsed(update{u, u}, &j); err != nil {
			return err
		}
		u.Log(run.EventGranted, "job_retry", tidegate.Pairs("job_id", id, "attempt", j.Attempt, "note", run.Note(note), "args", tidegate.Pairs()))
		if m := u.Manifest(); m.Status() == run.Failed && failedForJobs(m) {
			if err := u.AcceptFailures(run.Running, run.Note(note), "operator-cli job retry: "+run.Note(note)); err != nil {
				return err
			}
		}
		return u.ForgetAttempts(id, note)
	})
	if err != nil {
		return Job{}, err
	}
	if err := b.Reload(ctx); err != nil {
		return Job{}, err
	}
	return b.Job(id)
}

// AnyAttempt is for a person who has not looked at the attempts.
const AnyAttempt = -1

// failedForJobs reports whether the failure that nobody has accepted yet is that
// jobs have used up their tries.
func failedForJobs(m run.Manifest) bool {
	for _, f := range slices.Backward(m.Failures()) {
		if f.Get("accepted_at") == nil {
			return f.Get("jobs").Len() > 0
		}
	}
	return false
}
