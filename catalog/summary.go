package catalog

import (
	"context"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/summary"
	"github.com/tidegate/tidegate/tool"
)

type summaryPackIn struct {
	ManifestPath        tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath    tool.Path `json:"perspectives_path,omitzero" jsonschema:"absolute path of perspectives.json; default: where the manifest says"`
	CitationsPath       tool.Path `json:"citations_path,omitzero" jsonschema:"absolute path of the citation pool, citations.jsonl; default: where the manifest says"`
	Mode                string    `json:"mode,omitzero" jsonschema:"fixture takes the summaries from files, generate makes them from the wave outputs by rule" enum:"fixture,generate" default:"fixture"`
	FixtureSummariesDir tool.Path `json:"fixture_summaries_dir,omitzero" jsonschema:"absolute path of the folder that holds <perspective_id>.md for every perspective, for mode fixture" requiredif:"mode=fixture"`
	SummaryPackPath     tool.Path `json:"summary_pack_path,omitzero" jsonschema:"absolute path of the pack to write, inside the run; default: where the manifest says"`
	SummariesDir        tool.Path `json:"summaries_dir,omitzero" jsonschema:"absolute path of the folder to write the summaries to, inside the run; default: where the manifest says"`
	Reason              string    `json:"reason" jsonschema:"why, for the audit log"`
	DryRun              bool      `json:"dry_run,omitzero" jsonschema:"check everything and write nothing"`
}

// fillSummary finds the run, and takes the summaries from the wave outputs when
// no folder with summaries is given.
func (e *Env) fillSummary(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	if args.Get("fixture_summaries_dir") == nil {
		args.Set("mode", codec.Of(string(summary.Generate)))
	}
	return e.fillRun(ctx, typed, args)
}

func summaryTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_summary_pack_build", Set: "summary", Effect: tool.Writes, Destroys: true,
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
		}, func(ctx context.Context, in summaryPackIn) (summary.Result, error) {
			return summary.Build(ctx, env.clock(), summary.Request{
				ManifestPath: string(in.ManifestPath), PerspectivesPath: string(in.PerspectivesPath), CitationsPath: string(in.CitationsPath),
				Mode: summary.Mode(in.Mode), FixtureSummariesDir: string(in.FixtureSummariesDir),
				SummaryPackPath: string(in.SummaryPackPath), SummariesDir: string(in.SummariesDir),
				Reason: in.Reason, DryRun: in.DryRun, Progress: tool.Progress(ctx),
			})
		}),
	}
}
