package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// ChangeInput says which change is driven, and with what.
type ChangeInput struct {
	Project string // absolute
	Home    string // the folder of runs; the worktree lies in worktrees/ below it
	ID      string
	Tests   driver.Tests // without a command none are run
	Budget  run.Budget
	// Note is called for what is done by rule.
	Note func(what string)
}

// ChangeOutcome is how driving a change ended.
type ChangeOutcome struct {
	Outcome
	Phase    string
	Branch   string // to merge
	Worktree string
	Rounds   int // reviews that were kept
	Spent    job.Spent
}

// DriveChange drives the loop of a change: an agent implements it in a worktree of
// its own, the project's tests run there, agents review what was committed, and the
// review moves the change on, until it is complete or needs a person. Nothing of
// the project is written but the folder of the change and the branch.
//
// The change must be started. DriveChange is a person's: jobs that have used up their
// tries get them again. It returns LOCK_HELD when another process
// drives it, CANCELLED when ctx ends, and what [change.OpenWorktree],
// [change.Brief] and [change.Advance] return. Driven again it goes on from its
// files.
func DriveChange(ctx context.Context, in ChangeInput, options Options) (ChangeOutcome, error) {
	documents, err := change.Brief(options.Desk, in.Project, in.ID)
	if err != nil {
		return ChangeOutcome{}, err
	}
	w, err := change.OpenWorktree(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), options.Desk, in.Project, in.Home, in.ID)
	if err != nil {
		return ChangeOutcome{}, err
	}
	if in.Note == nil {
		in.Note = func(string) {}
	}
	l := &loop{in: in, desk: options.Desk, worktree: w, documents: documents}
	if _, err := l.advance(ctx); err != nil {
		return ChangeOutcome{}, err
	}
	board, err := job.OpenChange(ctx, options.Desk, l.present)
	if err != nil {
		return ChangeOutcome{}, err
	}
	defer board.Close()
	defer l.close()
	if err := board.GrantAgain(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByRule})); err != nil {
		return ChangeOutcome{}, err
	}
	l.codeSettler = codeSettler{board: board}
	out, err := drive(ctx, board, rules{settle: l.settle, outOfBudget: l.outOfBudget}, options)
	return ChangeOutcome{Outcome: out, Phase: l.status.Phase, Branch: w.Branch, Worktree: w.Path, Rounds: l.status.Reviews, Spent: board.Spent()}, err
}

// loop is the loop of a change.
type loop struct {
	codeSettler
	in        ChangeInput
	desk      run.Desk
	worktree  *change.Worktree
	documents []change.Document

	status  change.Status
	round   int64 // counted by the reviews that were kept
	earlier []review.Identified
	diff    *change.Diff     // of the round's commit, nil while it is implemented
	asked   []job.CodeReview // about it
}

func (l *loop) close() {
	if l.diff != nil {
		l.diff.Close()
		l.diff = nil
	}
}

// advance moves the change on by the review that was kept last, and finds out where
// it stands. It reports whether the change goes on.
func (l *loop) advance(ctx context.Context) (more bool, err error) {
	if l.status, err = change.StatusOf(ctx, l.desk, l.in.Project, l.in.ID); err != nil {
		return false, err
	}
	if l.status.Reviews > 0 {
		moved, err := change.Advance(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), l.desk, l.in.Project, l.in.ID)
		if err != nil {
			return false, err
		}
		if l.status, err = change.StatusOf(ctx, l.desk, l.in.Project, l.in.ID); err != nil {
			return false, err
		}
		if moved.Changed {
			l.in.Note(moved.Message)
		}
	}
	if round := int64(l.status.Reviews) + 1; round != l.round {
		l.round, l.asked = round, nil
		l.close()
	}
	l.earlier, err = change.EarlierIssues(l.desk, l.in.Project, l.in.ID)
	return l.status.Phase != change.Complete && l.status.NeedsPerson == "", err
}

// present is the change as it stands, for its board.
func (l *loop) present(ctx context.Context) (job.Change, error) {
	folder, err := l.desk.Reach.Open("change", filepath.Dir(l.status.StatePath))
	if err != nil {
		return job.Change{}, err
	}
	folder.Share() // people share a repository
	c := job.Change{ID: l.in.ID, CreatedAt: l.worktree.Base, Folder: folder, Budget: l.in.Budget, Reviews: l.asked}
	c.Implement = &job.Implementation{
		ID: job.ImplementID(l.round), Folder: l.worktree.Path,
		Brief: job.ImplementBrief{ChangeID: l.in.ID, Round: l.round, Tests: l.in.Tests.Command, Protected: change.Protected(l.desk)},
		Touched: func(ctx context.Context) (files []string, forbidden [][2]string, err error) {
			work, err := l.worktree.Inspect(ctx, l.desk)
			for _, f := range work.Forbidden {
				forbidden = append(forbidden, [2]string{f.File, f.Why})
			}
			return work.Files, forbidden, err
		},
	}
	for _, d := range l.documents {
		c.Implement.Brief.Documents = append(c.Implement.Brief.Documents, [2]string{d.Name, d.Text})
	}
	if len(l.earlier) > 0 {
		c.Implement.Brief.Issues = review.IssueList(l.earlier)
	}
	return c, nil
}

// settle does everything that needs no agent: it commits what was implemented, runs
// the tests, keeps the review and moves the change on.
func (l *loop) settle(ctx context.Context) (StepResult, error) {
	for {
		more, err := l.advance(ctx)
		if err != nil {
			return StepResult{}, err
		}
		if !more {
			if l.status.NeedsPerson != "" {
				return StepResult{RunID: l.in.ID, WaitingFor: ForPerson, Reason: l.status.NeedsPerson, Next: l.status.Next}, nil
			}
			return StepResult{RunID: l.in.ID, WaitingFor: ForNothing, Reason: "the change is complete"}, l.worktree.Check(ctx)
		}
		if err := l.board.Reload(ctx); err != nil {
			return StepResult{}, err
		}
		out, err := l.codeSettler.settle(ctx)
		if err != nil || out.WaitingFor != ForNothing {
			return out, err
		}
		if l.asked == nil {
			err = l.submit(ctx)
		} else {
			err = l.keep(ctx)
		}
		if err != nil {
			return StepResult{}, err
		}
	}
}

// submit commits what was implemented and asks for its review.
func (l *loop) submit(ctx context.Context) error {
	work, err := l.worktree.Inspect(ctx, l.desk)
	if err != nil {
		return err
	}
	if len(work.Forbidden) > 0 { // touched after the implementation was judged
		return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("file", work.Forbidden[0].File, "worktree", l.worktree.Path),
			"%s was changed: %s", work.Forbidden[0].File, work.Forbidden[0].Why)
	}
	if len(work.Files) > 0 {
		commit, err := l.worktree.Commit(ctx, l.desk, work, fmt.Sprintf("%s: round %d\n\nImplemented by an agent; not reviewed yet.", l.in.ID, l.round))
		if err != nil {
			return err
		}
		l.in.Note(fmt.Sprintf("round %d is commit %.12s", l.round, commit))
	}
	var tests *review.TestRun
	if l.in.Tests.Command != "" {
		t := l.in.Tests
		t.Dir = l.worktree.Path
		ran, err := runTests(ctx, t)
		if err != nil {
			return err
		}
		l.in.Note(fmt.Sprintf("tests: %d passed, %d failed, %d skipped", ran.Passed, ran.Failed, ran.Skipped))
		tests = &ran
		if err := l.worktree.Restore(ctx, l.desk); err != nil {
			return err
		}
	}
	d, err := change.ReadDiff(ctx, l.desk, l.worktree.Path, change.DiffInput{Base: l.worktree.Base, Committed: true, Head: l.worktree.Head()})
	if err != nil {
		return err
	}
	l.diff = d
	shown := review.Touch(d.Files)
	for i, p := range d.Prompts(l.in.ID, tests, l.earlier) {
		l.asked = append(l.asked, job.CodeReview{ID: job.CodeReviewID(l.round, i+1), Prompt: p,
			About: review.Reviewed{Lines: d.Lines, Shown: shown.Has, Tests: tests, Earlier: p.Earlier}})
	}
	if len(l.asked) == 0 {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", l.in.ID, "worktree", l.worktree.Path), "the change has nothing that can be reviewed")
	}
	return nil
}

// keep keeps the review that the reviewers of the round wrote, where the branch still
// has what they reviewed.
func (l *loop) keep(ctx context.Context) error {
	p, warnings, err := l.board.Reviewed()
	if err != nil {
		return err
	}
	if err := l.worktree.Check(ctx); err != nil {
		return err
	}
	if err := l.worktree.Restore(ctx, l.desk); err != nil { // a reviewer may have been there
		return err
	}
	hidden := notShown(l.diff)
	for _, what := range hidden {
		l.in.Note(what)
	}
	kept, err := change.KeepReview(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), l.desk, l.in.Project, p, append(warnings, hidden...))
	if err == nil {
		l.in.Note(kept.Message)
	}
	return err
}
