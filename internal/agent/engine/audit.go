package engine

import (
	"context"

	"github.com/tidegate/tidegate"
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
	board, err := job.OpenChange(ctx, options.Desk, func(context.Context) (job.Change, error) {
		folder, err := options.Desk.Reach.Open("audit", parts.Path)
		return job.Change{ID: parts.ID, CreatedAt: parts.CreatedAt, Folder: folder, Budget: budget, Questions: parts.Questions}, err
	})
	if err != nil {
		return "", spent, err
	}
	defer board.Close()
	if err := board.GrantAgain(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByRule})); err != nil {
		return "", spent, err
	}
	s := &codeSettler{board: board}
	out, err := drive(ctx, board, rules{settle: func(ctx context.Context) (StepResult, error) {
		out, err := s.settle(ctx)
		if err != nil || out.WaitingFor != ForNothing {
			return out, err
		}
		more, err := parts.Advance()
		if err != nil || !more {
			return out, err
		}
		if err := board.Reload(ctx); err != nil {
			return out, err
		}
		return s.settle(ctx)
	}, outOfBudget: s.outOfBudget}, options)
	if err == nil && out.WaitingFor != ForNothing {
		why = out.Reason
	}
	return why, board.Spent(), err
}
