package research

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

// again are the options of a run whose question is asked again.
var again = slices.DeleteFunc(slices.Clone(brief.Options), func(o brief.Option) bool { return !o.Again })

// Rewrite begins a run that builds on the updated one, for the sentences that no longer
// stand. It returns the errors of [dispatch.Env.Rewrite] and of research.
func Rewrite(ctx context.Context, env *dispatch.Env, call cli.Invocation, updated library.Updated) error {
	return commands{env}.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		var o dispatch.Order
		err := brief.Read(&o.Brief, again, call.Flags)
		if err == nil {
			o, err = env.Rewrite(ctx, o, call.Args[0], updated)
		}
		if err != nil {
			return nil, err
		}
		return s.pursue(ctx, o)
	})
}

// compareAgain adds to the result of a run how its report differs from the one before.
func (s *session) compareAgain(ctx context.Context, before string, result *Result) error {
	if before == "" || result == nil || result.Status != run.Completed {
		return nil
	}
	compared, err := library.Compare(ctx, s.OwnDesk(), library.CompareInput{A: before, B: result.Root, Runs: s.Home, Dir: s.Dir})
	result.Compared = &compared
	return err
}
