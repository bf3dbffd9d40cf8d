package catalog

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// fillSummary finds the run, and takes the summaries from the wave outputs when
// no folder with summaries is given.
func (e tools) fillSummary(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	if args.Get("fixture_summaries_dir") == nil {
		args.Set("mode", codec.Of(step.PackGenerated))
	}
	return e.fillRun(ctx, typed, args)
}

func summaryTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_summary_pack_build", Set: "summary", Core: true, Effect: tool.Writes, Destroys: true,
			Command: &tool.Command{
				Path:     "summary build",
				Operands: runOperand,
				Rename: map[string]string{
					"fixture_summaries_dir": "fixtures", "perspectives_path": "perspectives", "citations_path": "citations", "summary_pack_path": "pack",
				},
				Hide:     []string{"manifest_path", "mode"},
				Fill:     env.fillSummary,
				Defaults: byHand("built by hand"),
				Formats:  []string{"markdown"},
			},
		}, func(ctx context.Context, call tool.Caller, in step.PackInput) (step.PackResult, error) {
			in.Progress = call.Progress
			return step.BuildPack(ctx, env.Desk(call.Reach), in)
		}),
	}
}
