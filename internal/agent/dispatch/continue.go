package dispatch

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// RecordConfinement records how the agents of the team are kept when they go on with a run.
func (e *Env) RecordConfinement(ctx context.Context, manifest string, t *Team) error {
	r, err := run.Open(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return err
	}
	policy, err := r.Policy()
	web := hasWeb(r.Manifest().Sensitivity(), policy.Frozen)
	r.Close()
	if err != nil {
		return err
	}
	kept, err := t.confinement(web)
	if err != nil || kept.Mode == "" {
		return err
	}
	return stage.Confine(ctx, e.OwnDesk(), manifest, kept)
}

// KeptAgents are the names of the agents that a run keeps, and its status.
func (e *Env) KeptAgents(ctx context.Context, manifest string) (map[string]run.Agent, run.Status, error) {
	r, err := run.Open(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	sources, err := r.Sources(ctx) // before anything is spent
	if err != nil {
		return nil, "", err
	}
	if sources != nil {
		sources.Close()
	}
	policy, err := r.Policy()
	return policy.Agents, r.Manifest().Status(), err
}

// Consent takes a person's decisions with run continue: a larger budget, yes to the
// plan, and that a run goes on that was paused or stopped by its budget.
func (e *Env) Consent(ctx context.Context, manifest string, budget map[string]float64) error {
	for _, row := range BudgetFlags {
		value, given := budget[row.Name]
		if !given {
			continue
		}
		in := stage.BudgetInput{ManifestPath: manifest, Name: row.Name, Value: value, Reason: "run continue"}
		if _, err := stage.SetBudget(ctx, e.OwnDesk(), in); err != nil {
			return err
		}
	}
	if err := e.ResumePaused(ctx, manifest); err != nil {
		return err
	}
	r, err := run.Open(ctx, e.OwnDesk(), manifest, "status")
	if err != nil {
		return err
	}
	defer r.Close()
	policy, err := r.Policy()
	if err != nil || !policy.ConfirmPlan || r.Manifest().Status().Final() {
		return err
	}
	data, err := r.Folder().Read(r.Layout().Perspectives)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil // the planner has not named any yet
	}
	if err != nil {
		return err
	}
	return step.ConfirmPlan(ctx, e.OwnDesk(), manifest, codec.DigestBytes(data))
}

// ResumePaused lets a run go on that a person paused.
func (e *Env) ResumePaused(ctx context.Context, manifest string) error {
	r, err := run.Open(ctx, e.OwnDesk(), manifest, "status")
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Manifest().Status() == run.Paused {
		_, err = stage.Resume(ctx, e.OwnDesk(), stage.ResumeInput{ManifestPath: manifest, Reason: "run continue"})
	}
	return err
}
