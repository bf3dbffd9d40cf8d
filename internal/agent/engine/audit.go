package engine

import (
	"context"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ReadReport lets second readers read the parts of an audited report, as those of a run
// are read: with planted errors, in jobs that the folder of the audit keeps. It returns
// why not all of them were read, "" where they were, and what it took. It returns
// LOCK_HELD when another process drives it, CANCELLED, and the errors of reading and
// writing the folder.
func ReadReport(ctx context.Context, parts *audit.Parts, budget run.Budget, options Options) (why string, spent job.Spent, err error) {
	out, err := driveFolder(ctx, options, "audit", parts.Folder.Path(), func() job.Change {
		return job.Change{ID: parts.ID, CreatedAt: parts.CreatedAt, Budget: budget, Questions: parts.Questions}
	}, func(context.Context) (bool, error) { return parts.Advance() })
	if err == nil && out.WaitingFor != ForNothing {
		why = out.Reason
	}
	return why, out.spent, err
}

// folderOutcome is how driving work in a folder that is no run's ended.
type folderOutcome struct {
	Outcome
	spent   job.Spent
	refused bool // tries are used up, and the last answer was refused
}

// driveFolder drives the jobs in a folder that is no run's, for a person who wants them
// done: those that have used up their tries get them again. Change is the work as it is;
// once every answer is accepted, advance says whether there is more of it.
func driveFolder(ctx context.Context, options Options, what, path string, change func() job.Change, advance func(context.Context) (more bool, err error)) (folderOutcome, error) {
	board, err := job.OpenChange(ctx, options.Desk, func(context.Context) (job.Change, error) {
		c := change()
		var err error
		c.Folder, err = options.Desk.Reach.Open(what, path)
		return c, err
	})
	if err != nil {
		return folderOutcome{}, err
	}
	defer board.Close()
	s := &codeSettler{board: board}
	if err := s.grantAgain(ctx); err != nil {
		return folderOutcome{}, err
	}
	out, err := drive(ctx, board, s.rules(advance), options)
	return folderOutcome{out, board.Spent(), s.refused}, err
}
