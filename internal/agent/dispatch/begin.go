package dispatch

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// MakeRun makes the run. Its id is made of the first words of the question.
func (e *Env) MakeRun(ctx context.Context, o Order) (manifest string, err error) {
	t, in := o.Team, o.InitInput
	in.Agents = t.names()
	if in.Search, in.Origins = nil, ""; len(t.search) > 0 || !o.Frozen.IsZero() {
		in.Search, in.Origins = t.searchNames(), run.OriginsShown
	}
	if o.Origins == run.OriginsRequired {
		in.Origins = o.Origins
	}
	in.Evidence.Single = !in.Evidence.OneAgent && t.single()
	if in.Estimate, err = e.expected(ctx, o); err != nil {
		return "", err
	}
	if in.Confinement, err = t.confinement(o.hasWeb()); err != nil {
		return "", err
	}
	n := o.Perspectives
	if o.Contracts != nil {
		n = o.Contracts.Get("perspectives").Len()
	}
	if limit := int64(n); n > UsualPerspectives {
		in.Limits = &run.Limits{MaxWave1Agents: &limit}
	}
	name := nameOf(o.Query)
	for i := 1; ; i++ {
		in.RunID = name
		if i > 1 {
			in.RunID = fmt.Sprintf("%s-%d", name, i)
		}
		made, err := run.Create(ctx, e.OwnDesk(), e.Home, in)
		if err == nil && made.Created {
			manifest = filepath.Join(made.Root, run.ManifestFile)
			break
		}
		if err != nil && tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict {
			return "", err
		}
	}
	if len(o.Documents.List) > 0 {
		if err := sourcing.AttachDocuments(ctx, e.OwnDesk(), manifest, o.Documents); err != nil {
			return "", err
		}
	}
	if o.Contracts == nil {
		return manifest, nil
	}
	return manifest, e.TakePerspectives(ctx, manifest, o.Contracts)
}

// TakePerspectives writes a person's perspectives into the run.
func (e *Env) TakePerspectives(ctx context.Context, manifest string, doc *codec.Value) error {
	r, err := run.Open(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return err
	}
	defer r.Close()
	doc = doc.Clone()
	doc.Set("run_id", codec.Of(r.ID()))
	doc.Set("created_at", r.Manifest().Doc().Get("created_at"))
	_, err = step.WritePerspectives(ctx, e.OwnDesk(), step.PerspectivesInput{
		PerspectivesPath: r.Path(r.Layout().Perspectives), Value: doc, Reason: "named by the person",
	})
	return err
}

// Drive has a team drive a run until it ends or needs a person. Through, where it is not nil,
// stands before what fetches pages. It returns CANCELLED, and the errors of [engine.Drive].
func (e *Env) Drive(ctx context.Context, manifest string, t *Team, parallel int, through func(sourcing.Fetch) sourcing.Fetch) (engine.Outcome, error) {
	options := e.Options(t)
	options.Fetch, options.Relay, options.Parallel = t.fetch, ownRelay(), parallel
	options.Searches = e.Workers == nil && e.Search != nil
	if t.ownPages {
		options.Desk.Sharing = nil
	}
	if through != nil {
		options.Fetch = through(t.fetch)
	}
	return engine.Drive(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), manifest, options)
}

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
	for _, o := range brief.Limits() {
		value, given := budget[o.Limit]
		if !given {
			continue
		}
		in := stage.LimitInput{ManifestPath: manifest, Name: o.Limit, Value: value, Reason: "run continue"}
		if _, err := stage.Limit(ctx, e.OwnDesk(), in); err != nil {
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
	if err != nil {
		return artifact.UnlessMissing(err) // the planner has not named any yet
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
