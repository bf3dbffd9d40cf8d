package research

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// orderAgain is the order of a completed run once more: its question, perspectives and
// settings. Agents, budget, documents and what is said about the way are typed anew. It
// returns INVALID_ARGS where a question is typed, too, or the run had documents and none are
// named; NOT_FOUND, INVALID_STATE for a run that is not finished, and the errors of reading
// it.
func (e *Env) orderAgain(ctx context.Context, call cli.Invocation) (order, error) {
	name := call.Flag("again")
	for _, other := range []struct {
		typed bool
		what  string
	}{{len(call.Args) > 0, "a question"}, {call.Flag("from") != "", "--from"}} {
		if other.typed {
			return order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("again", tidegate.Cut(name)), "give %s or --again, which asks the question of a run", other.what)
		}
	}
	manifest, err := run.Find(e.desk(), e.Home, e.Dir, name)
	if err != nil {
		return order{}, err
	}
	o, r, err := e.orderLike(ctx, call, manifest)
	if err != nil {
		return order{}, err
	}
	defer r.Close()
	if o.earlier, err = r.Earlier(); err != nil {
		return order{}, err
	}
	o.before = r.Root()
	o.perspectives, err = readPerspectives(r.Path(r.Layout().Perspectives))
	return o, err
}

// Rewrite begins a run that builds on the updated one, for the sentences that no longer
// stand: with its question and settings, and perspectives that a planner names. It returns
// INVALID_ARGS for an audit, which has no question, and the errors of research.
func (e *Env) Rewrite(ctx context.Context, call cli.Invocation, updated library.Updated) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		if updated.Of.Kind != library.Run {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("rewrite", updated.Of.ID), "%s is an audit: only the report of a run can be written anew", updated.Of.ID)
		}
		manifest, err := run.Find(e.desk(), e.Home, e.Dir, call.Args[0])
		if err != nil {
			return nil, err
		}
		o, r, err := e.orderLike(ctx, call, manifest)
		if err != nil {
			return nil, err
		}
		r.Close()
		o.frozen = run.Frozen{} // what changed is on the web
		if err := e.buildOn(ctx, &o, manifest, &updated); err != nil {
			return nil, err
		}
		return s.pursue(ctx, o, "")
	})
}

// orderLike is an order with the question and settings of a finished run, which the caller
// closes.
func (e *Env) orderLike(ctx context.Context, call cli.Invocation, manifest string) (order, *run.Run, error) {
	r, err := run.OpenFinished(ctx, e.desk(), manifest)
	if err != nil {
		return order{}, nil, err
	}
	o, err := e.orderKept(r, call)
	if err != nil {
		r.Close()
		return order{}, nil, err
	}
	return o, r, nil
}

// orderKept is the order that a run keeps.
func (e *Env) orderKept(r *run.Run, call cli.Invocation) (order, error) {
	kept, err := r.Policy()
	if err != nil {
		return order{}, err
	}
	o := order{
		kept: kept.Agents, question: r.Manifest().Query(), sensitivity: r.Manifest().Sensitivity(), servers: kept.Servers, origins: kept.Origins, sources: kept.Sources, frozen: kept.Frozen, from: kept.From,
		evidence: run.EvidenceChoice{NoGrounding: !kept.Evidence.Grounding, NoReader: !kept.Evidence.Reader, OneAgent: call.Flag("one-agent") == "true", Adapt: call.Flag("adapt") == "true"},
		yes:      call.Flag("yes") == "true", planOnly: call.Flag("plan-only") == "true",
	}
	if o.frozen.IsZero() {
		o.search = kept.Search
	}
	if o.shape, err = r.Shape(); err != nil {
		return order{}, err
	}
	if o.parallel, o.budget, err = budgetTyped(call); err != nil {
		return order{}, err
	}
	own, err := step.AttachedDocuments(r)
	if err != nil {
		return order{}, err
	}
	if o.files = call.Flag("files"); o.files != "" {
		o.documents, err = step.ReadDocuments(e.desk(), o.files)
	} else if len(own) > 0 {
		err = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("files", nil), "run %q had documents of your own: name their folder with --files", r.ID())
	}
	return o, err
}

// compareAgain adds to the result of a run how its report differs from the one before.
func (e *Env) compareAgain(ctx context.Context, before string, result *Result) error {
	if before == "" || result == nil || result.Status != run.Completed {
		return nil
	}
	compared, err := library.Compare(ctx, e.desk(), library.CompareInput{A: before, B: result.Root, Runs: e.Home, Dir: e.Dir})
	result.Compared = &compared
	return err
}
