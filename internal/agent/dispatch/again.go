package dispatch

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// AskAgain fills in an order from a finished run: its question, perspectives and settings.
// Agents, budget, documents and who may read the report are those of the order. It returns
// INVALID_ARGS where the run had documents and none are named, NOT_FOUND, INVALID_STATE for a
// run that is not finished, and the errors of reading it.
func (e *Env) AskAgain(ctx context.Context, o Order, name string) (Order, error) {
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, name)
	if err != nil {
		return Order{}, err
	}
	o, r, err := e.orderOfRun(ctx, o, manifest)
	if err != nil {
		return Order{}, err
	}
	defer r.Close()
	if o.Earlier, err = r.Earlier(); err != nil {
		return Order{}, err
	}
	o.Before = r.Root()
	o.Contracts, err = ReadPerspectives(r.Path(r.Layout().Perspectives))
	return o, err
}

// Rewrite fills in an order that builds on the updated run, for the sentences that no longer
// stand: with its question and settings, and perspectives that a planner names. It returns
// INVALID_ARGS for an audit, which has no question, and the errors of AskAgain.
func (e *Env) Rewrite(ctx context.Context, o Order, name string, updated library.Updated) (Order, error) {
	if updated.Of.Kind != library.Run {
		return Order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("rewrite", updated.Of.ID), "%s is an audit: only the report of a run can be written anew", updated.Of.ID)
	}
	manifest, err := run.Find(e.OwnDesk(), e.Home, e.Dir, name)
	if err != nil {
		return Order{}, err
	}
	o, r, err := e.orderOfRun(ctx, o, manifest)
	if err != nil {
		return Order{}, err
	}
	r.Close()
	o.Frozen = run.Frozen{} // what changed is on the web
	return o, e.buildOn(ctx, &o, manifest, &updated)
}

// orderOfRun fills in an order from a finished run, which the caller closes.
func (e *Env) orderOfRun(ctx context.Context, o Order, manifest string) (Order, *run.Run, error) {
	r, err := run.OpenFinished(ctx, e.OwnDesk(), manifest)
	if err != nil {
		return Order{}, nil, err
	}
	if err = o.settingsOf(r); err == nil && o.Files == "" {
		var own []sourcing.Document
		if own, err = sourcing.AttachedDocuments(r); err == nil && len(own) > 0 {
			err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("files", nil), "run %q had documents of your own: name their folder with --files", r.ID())
		}
	}
	if err != nil {
		r.Close()
		return Order{}, nil, err
	}
	return o, r, nil
}

// settingsOf fills in what a run keeps of what a person asked.
func (o *Order) settingsOf(r *run.Run) error {
	kept, err := r.Policy()
	if err != nil {
		return err
	}
	o.Query, o.Sensitivity, o.Kept = r.Manifest().Query(), r.Manifest().Sensitivity(), kept.Agents
	kept.Repeat(&o.InitInput)
	o.Shape, err = r.Shape()
	return err
}
