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

// Limit sets one of a run's limits, or a value of its budget. It changes nothing where a
// limit has that value already. It is a person's decision. It returns INVALID_ARGS for a name
// that is not a limit and a value out of its range, INVALID_STATE for a run that
// is final, and the errors of [run.Open] and [run.Run.Decide].
func Limit(ctx context.Context, desk run.Desk, in LimitInput) (LimitResult, error) {
	if err := in.check(); err != nil {
		return LimitResult{}, err
	}
	set := setLimit
	if slices.Contains(run.BudgetNames(), in.Name) {
		set = setBudget
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *LimitResult) error {
		*out = LimitResult{RunID: r.ID(), Limit: in.Name, To: in.Value}
		decision := run.Decision{What: "limit", Fields: tidegate.Pairs("name", in.Name, "value", in.Value, "reason", run.Note(in.Reason))}
		_, err := r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) (err error) {
			out.From, err = set(u, in)
			out.ManifestRevision = u.Manifest().Revision()
			return err
		}))
		return err
	})
}

// check returns INVALID_ARGS for a name that neither the manifest nor the budget has, and for
// a value out of its range.
func (in LimitInput) check() error {
	if slices.Contains(run.BudgetNames(), in.Name) {
		return run.CheckBudget(in.Name, in.Value)
	}
	if float64(int64(in.Value)) != in.Value {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("value", in.Value), "%s must be a whole number", tidegate.Cut(in.Name))
	}
	return run.CheckLimit(in.Name, int64(in.Value))
}

func setLimit(u *run.Update, in LimitInput) (from float64, err error) {
	from, known := u.Manifest().Limit(in.Name)
	if known && from == in.Value {
		return from, nil
	}
	return from, u.SetLimit(in.Name, int64(in.Value), "operator-cli limit: "+cmp.Or(run.Note(in.Reason), "set by a person"))
}

// setBudget sets a value of the budget. A run that stopped because its budget was used up
// goes on.
func setBudget(u *run.Update, in LimitInput) (from float64, err error) {
	policy, err := u.Run().Policy()
	if err != nil {
		return 0, err
	}
	if from = policy.Budget.Of(in.Name); math.IsInf(from, 1) {
		from = 0 // there was no limit
	}
	if err := u.SetBudget(in.Name, in.Value, in.Reason); err != nil {
		return from, err
	}
	if status, ok := next(u.Manifest().Status(), ByAccept); ok && stoppedByBudget(u.Manifest()) {
		return from, u.AcceptFailures(status, run.Note(in.Reason), "operator-cli limit: "+run.Note(in.Reason))
	}
	return from, nil
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

// Confine records how the agents of a run are kept from now on. That they are not is a
// person's decision. It returns INVALID_STATE for a run that is final, and the errors of
// [run.Open] and [run.Run.Decide].
func Confine(ctx context.Context, desk run.Desk, manifestPath string, c run.Confinement) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	set := run.Unfinished(func(u *run.Update) error { return u.SetConfinement(c) })
	if c.Mode == run.ModeUnconfined {
		_, err = r.Decide(ctx, run.Decision{What: run.Confine, Fields: tidegate.Pairs("mode", c.Mode)}, set)
	} else {
		_, err = r.Update(ctx, set)
	}
	return err
}

// ChooseEvidence takes a person's choice of how the sentences of a run's report are
// checked. It returns INVALID_STATE for a run that is final, and the errors of [run.Open] and [run.Run.Decide].
func ChooseEvidence(ctx context.Context, desk run.Desk, manifestPath string, choice run.EvidenceChoice) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Decide(ctx, run.Decision{What: run.ChooseEvidence, Fields: tidegate.Pairs("choice", choice)},
		run.Unfinished(func(u *run.Update) error { return u.ChooseEvidence(choice) }))
	return err
}
