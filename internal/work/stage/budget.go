package stage

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// BudgetInput are the arguments of [SetBudget].
type BudgetInput struct {
	ManifestPath string
	Name         string // one of the names of the budget
	Value        float64
	Reason       string
}

// BudgetResult is the result of [SetBudget].
type BudgetResult struct {
	OK     codec.True `json:"ok"`
	RunID  string     `json:"run_id"`
	Name   string     `json:"name"`
	To     float64    `json:"to"`
	Status run.Status `json:"status"`
}

// SetBudget sets the value of one name of a run's budget. It is a person's decision:
// a run that stopped because its budget was used up goes on. It returns
// INVALID_ARGS for a name that is not part of the budget and a value out of its
// range, INVALID_STATE for a run that is final, and the errors of [run.Open] and
// [run.Run.Update].
func SetBudget(ctx context.Context, desk run.Desk, in BudgetInput) (BudgetResult, error) {
	if err := run.CheckBudget(in.Name, in.Value); err != nil {
		return BudgetResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *BudgetResult) error {
		*out = BudgetResult{RunID: r.ID(), Name: in.Name, To: in.Value}
		decision := run.Decision{What: "limit", Fields: tidegate.Pairs("name", in.Name, "value", in.Value, "reason", run.Note(in.Reason))}
		_, err := r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
			if err := u.SetBudget(in.Name, in.Value, in.Reason); err != nil {
				return err
			}
			if status, ok := next(u.Manifest().Status(), ByAccept); ok && stoppedByBudget(u.Manifest()) {
				if err := u.AcceptFailures(status, run.Note(in.Reason), "operator-cli limit: "+run.Note(in.Reason)); err != nil {
					return err
				}
			}
			out.Status = u.Manifest().Status()
			return nil
		}))
		return err
	})
}

// stoppedByBudget reports whether the run failed because a budget was used up, and
// nobody has accepted that yet.
func stoppedByBudget(m run.Manifest) bool {
	failures := m.Failures()
	if len(failures) == 0 {
		return false
	}
	last := failures[len(failures)-1]
	return last.Get("accepted_at") == nil && last.Get("code").Str() == string(tidegate.BudgetExhausted)
}
