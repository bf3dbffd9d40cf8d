package stage

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// LimitInput are the arguments of [Limit].
type LimitInput struct {
	ManifestPath string  `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Name         string  `json:"name" jsonschema:"the limit, such as max_review_iterations, or one of the budget, such as max_minutes"`
	Value        float64 `json:"value" jsonschema:"its value from here on"`
	Reason       string  `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// LimitResult is the result of [Limit].
type LimitResult struct {
	OK               codec.True `json:"ok"`
	RunID            string     `json:"run_id"`
	Limit            string     `json:"limit"`
	From             float64    `json:"from"`
	To               float64    `json:"to"`
	ManifestRevision int64      `json:"manifest_revision"`
}

// Limit sets one of a run's limits. It changes nothing where the limit has that
// value already. It is a person's decision. It returns INVALID_ARGS for a name
// that is not a limit and a value out of its range, INVALID_STATE for a run that
// is final, and the errors of [run.Open] and [run.Run.Decide].
func Limit(ctx context.Context, desk run.Desk, in LimitInput) (LimitResult, error) {
	if slices.Contains(run.BudgetNames(), in.Name) {
		return limitBudget(ctx, desk, in)
	}
	value := int64(in.Value)
	if float64(value) != in.Value {
		return LimitResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("value", in.Value), "%s must be a whole number", tidegate.Cut(in.Name))
	}
	if err := run.CheckLimit(in.Name, value); err != nil {
		return LimitResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *LimitResult) error {
		*out = LimitResult{RunID: r.ID(), Limit: in.Name, To: in.Value}
		decision := run.Decision{What: "limit", Fields: tidegate.Pairs("name", in.Name, "value", in.Value, "reason", run.Note(in.Reason))}
		_, err := r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
			from, known := u.Manifest().Limit(in.Name)
			out.From, out.ManifestRevision = from, u.Manifest().Revision()
			if known && from == float64(in.Value) {
				return nil
			}
			err := u.SetLimit(in.Name, value, "operator-cli limit: "+cmp.Or(run.Note(in.Reason), "set by a person"))
			out.ManifestRevision = u.Manifest().Revision()
			return err
		}))
		return err
	})
}

func limitBudget(ctx context.Context, desk run.Desk, in LimitInput) (LimitResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *LimitResult) error {
		before, err := r.Policy()
		if err != nil {
			return err
		}
		_, err = SetBudget(ctx, desk, BudgetInput(in))
		from := before.Budget.Of(in.Name)
		if math.IsInf(from, 1) {
			from = 0 // there was no limit
		}
		*out = LimitResult{RunID: r.ID(), Limit: in.Name, From: from, To: in.Value, ManifestRevision: r.Manifest().Revision()}
		return err
	})
}

// Report shows the result to a person.
func (l LimitResult) Report() report.Report {
	out := report.Report{Name: "run_limit", Title: "run " + l.RunID, Status: report.Pass, Summary: l.Limit + " was set"}
	if l.From == float64(l.To) {
		out.Summary = l.Limit + " is what it was"
	}
	table := report.NewTable("Limit", ">Was", ">Is")
	table.Row(report.None, l.Limit, l.From, l.To)
	out.Add(table)
	return out
}
