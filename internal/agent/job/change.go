package job

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Change is a code change, a review alone, the audit of a report or a further question that
// agents work on: where its jobs are kept, and what they are.
type Change struct {
	ID        string
	CreatedAt string
	Folder    *artifact.Folder // the board closes it
	Budget    run.Budget
	Implement *Implementation // that is asked for, nil where none is
	Reviews   []CodeReview    // that are asked for, in order
	Verify    []CodeVerify    // that are asked for, in order

	Asking    *Asking            // of a further question, nil for others
	Questions *reading.Questions // about the report of an audit, or an answer; nil for code
}

// log is the chained log in its folder, and what it calls the id.
func (c *Change) log() (file, id string) {
	switch {
	case c.Asking != nil:
		return run.AuditFile, "answer_id"
	case c.Questions != nil:
		return run.AuditFile, "audit_id"
	}
	return ChangeLog, "change_id"
}

// ChangeLog is the chained log in the folder of a change.
const ChangeLog = "log.jsonl"

// OpenChange reads the jobs of a code change. What they are follows from what the
// caller found out about the change, so that [Board.Reload] asks present for it. It
// returns the errors of present and of reading the folder.
func OpenChange(ctx context.Context, desk run.Desk, present func(context.Context) (Change, error)) (*Board, error) {
	return openBoard(ctx, desk, func(ctx context.Context) (work, error) {
		c, err := present(ctx)
		if err != nil {
			return nil, err
		}
		return &coding{c}, nil
	})
}

// coding is the work on a code change.
type coding struct{ change Change }

func (c *coding) ID() string                 { return c.change.ID }
func (c *coding) createdAt() string          { return c.change.CreatedAt }
func (c *coding) Folder() *artifact.Folder   { return c.change.Folder }
func (c *coding) Close() error               { return c.change.Folder.Close() }
func (c *coding) waitsFor(*kind) bool        { return true }
func (c *coding) web(*kind) bool             { return false }
func (c *coding) takesJobs() error           { return nil }
func (c *coding) unmoved(update) error       { return nil }
func (c *coding) granted(string) int         { return 0 }
func (c *coding) worked() (run.Times, error) { return nil, nil }

func (c *coding) Policy() (run.Policy, error) {
	return run.Policy{Budget: c.change.Budget, Evidence: run.Evidence{OneAgent: c.change.Asking != nil && c.change.Asking.OneAgent}}, nil
}

func (c *coding) missing(jobID string) error {
	_, id := c.change.log()
	return tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("job_id", tidegate.Cut(jobID), id, c.change.ID), "%s has no job %q", c.change.ID, tidegate.Cut(jobID))
}

func (c *coding) kinds() []*kind {
	of := codeKinds
	switch {
	case c.change.Asking != nil:
		of = askKinds
	case c.change.Questions != nil:
		of = auditKinds
	}
	list := make([]*kind, len(of))
	for i := range of {
		list[i] = &of[i]
	}
	return list
}

// earlierRounds are the jobs of a kind that are there and not asked for any more: those of
// earlier rounds. What they took is part of what was spent.
func (b *Board) earlierRounds(kindName string, asked []*Job) ([]*Job, error) {
	entries, err := b.work.Folder().List(run.JobsDir)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, e := range entries {
		id := e.Name()
		if strings.HasPrefix(id, kindName+".") && !slices.ContainsFunc(asked, func(j *Job) bool { return j.ID == id }) {
			jobs = append(jobs, &Job{ID: id, Title: "of an earlier round", past: true})
		}
	}
	return jobs, nil
}

// GrantAgain gives the jobs of a code change that have used up their tries all of
// them again, because a person wants the work to go on. What was accepted stays. It
// returns the errors of writing.
func (b *Board) GrantAgain(ctx context.Context) error {
	for _, j := range b.Jobs() {
		if j.State != Exhausted {
			continue
		}
		err := b.update(ctx, j.ID, func(u update) error {
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

// acceptedLast reports whether the last attempt at a job was accepted and still
// counts.
func acceptedLast(_ *Board, j *Job) bool {
	last := j.last()
	return j.past || last != nil && last.Number > j.after && last.Outcome == OutcomeAccepted
}

// update makes changes one after the other, each in a transaction of its own: a
// change has few jobs.
func (c *coding) update(ctx context.Context, desk run.Desk, changes []*change) []error {
	errs := make([]error, len(changes))
	for i, each := range changes {
		errs[i] = c.transact(each.ctx, desk, each.do)
	}
	return errs
}

func (c *coding) transact(ctx context.Context, desk run.Desk, do func(update) error) error {
	lock, err := c.change.Folder.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	file, _ := c.change.log()
	log, err := lock.CheckLog(file)
	if err != nil {
		return err
	}
	at := desk.Now()
	u := &codeUpdate{change: c.change, tx: lock.Begin(), desk: desk, at: at, now: tidegate.Stamp(at), actor: tidegate.ActorOf(ctx), lines: log.Lines}
	if err := do(u); err != nil {
		u.tx.Rollback()
		return err
	}
	if u.failed != nil {
		u.tx.Rollback()
		return u.failed
	}
	return u.tx.Commit()
}

// codeUpdate is a change under the lock of a code change.
type codeUpdate struct {
	change Change
	tx     *artifact.Tx
	desk   run.Desk
	at     time.Time
	now    string
	actor  tidegate.Actor
	lines  int // in the log, with those of the update
	failed error
}

func (u *codeUpdate) Now() string         { return u.now }
func (u *codeUpdate) Time() time.Time     { return u.at }
func (u *codeUpdate) Pinned() bool        { return u.desk.Pinned }
func (u *codeUpdate) NotFinal() error     { return nil }
func (u *codeUpdate) Found(string) string { return "" }
func (u *codeUpdate) LastLine() int       { return u.lines }

// OthersWrote is beyond every line: what is there is always read again.
func (u *codeUpdate) OthersWrote() int { return math.MaxInt }

// Log stages a line. A change is not done again from its log, so that arguments for
// that are left out.
func (u *codeUpdate) Log(event run.Event, kind string, fields tidegate.Details) {
	u.lines++
	fields = slices.DeleteFunc(slices.Clone(fields), func(d tidegate.Detail) bool { return d.Key == "args" })
	file, id := u.change.log()
	line := append(tidegate.Pairs("ts", u.now, "kind", kind, "event", event, id, u.change.ID, "seq", u.lines), u.actor.Logged()...)
	line = append(line, fields...)
	if u.desk.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	if err := u.tx.Record(file, line); err != nil && u.failed == nil {
		u.failed = err
	}
}

func (u *codeUpdate) Write(name string, data []byte) error {
	_, err := u.tx.WritePlain(name, data)
	return err
}

func (u *codeUpdate) WriteJSON(name string, v any) error {
	data, err := codec.MarshalFile(v)
	if err != nil {
		return err
	}
	return u.Write(name, data)
}

func (u *codeUpdate) Remove(name string) error { return u.tx.Remove(name) }
