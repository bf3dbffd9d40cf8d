package dispatch

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
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
