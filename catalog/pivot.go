package catalog

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/tool"
)

func pivotTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_pivot_decide", Set: "pivot", Core: true, Effect: tool.WritesOnRequest, Idempotent: true,
			Refine: refinePivotDecide,
			Command: &tool.Command{
				Path:     "pivot decide",
				Operands: runOperand,
				Hide:     []string{"manifest_path"},
				Defaults: byHand("decided by hand"),
				Flags: []tool.Flag{
					{Name: "explicit-gaps", Kind: tool.PathFlag, About: "JSON file with a list of gaps to decide on instead of those in the outputs"},
					{Name: "dry-run", Kind: tool.Switch, About: "decide, and write nothing"},
				},
				Formats: []string{"markdown"},
				Fill:    env.fillPivot,
			},
		}, func(ctx context.Context, call tool.Caller, in step.PivotInput) (pivot.Decision, error) {
			in.Progress = call.Progress
			return step.DecidePivot(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_pivot_rules", Set: "pivot", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "pivot rules", Formats: []string{"markdown"}},
		}, func(context.Context, tool.Caller, struct{}) (pivot.RuleList, error) {
			return pivot.ListRules(), nil
		}),
	}
}

// wave1ReportSchema and explicitGapSchema say what the entries of two lists are.
// Only their schemas are used: faults in the entries have codes of their own, so
// the decision checks them.
type wave1ReportSchema struct {
	OK              bool     `json:"ok" jsonschema:"true; an output that did not pass cannot be decided on"`
	PerspectiveID   string   `json:"perspective_id" jsonschema:"one of wave1_outputs"`
	MarkdownPath    string   `json:"markdown_path" jsonschema:"recorded, not opened"`
	Words           float64  `json:"words"`
	Sources         float64  `json:"sources"`
	MissingSections []string `json:"missing_sections" jsonschema:"empty; an output that lacks sections cannot be decided on"`
}

type explicitGapSchema struct {
	ID       string   `json:"gap_id" jsonschema:"unique in the list"`
	Priority string   `json:"priority" jsonschema:"P0 is the most urgent" enum:"P0,P1,P2,P3"`
	Text     string   `json:"text"`
	Tags     []string `json:"tags,omitzero"`
	From     string   `json:"from_perspective_id,omitzero" jsonschema:"the perspective that the gap belongs to"`
}

func refinePivotDecide(properties *codec.Value) {
	properties.Get("wave1_validation_reports").Set("items", tool.SchemaFor[wave1ReportSchema]())
	properties.Get("explicit_gaps").Set("items", tool.SchemaFor[explicitGapSchema]())
}

// fillPivot turns a run into what the tool asks for: its manifest, its outputs,
// and a validation report of each.
func (e tools) fillPivot(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	if err := e.fillRun(ctx, typed, args); err != nil {
		return err
	}
	in, err := step.PivotOf(ctx, e.Desk(artifact.Everywhere), args.Get("manifest_path").Str())
	if err != nil {
		return err
	}
	outputs, reports := codec.Of([]string{}), codec.Of([]string{})
	for i, o := range in.Outputs {
		outputs.Append(codec.Of(tidegate.Pairs("perspective_id", o.PerspectiveID, "output_md_path", o.Path)))
		reports.Append(in.Reports[i])
	}
	args.Set("wave1_outputs", outputs)
	args.Set("wave1_validation_reports", reports)
	if typed.Flags["dry-run"] != "" {
		args.Delete("manifest_path")
	}
	file := typed.Flags["explicit-gaps"]
	if file == "" {
		return nil
	}
	gaps, err := artifact.Everywhere.ReadJSON("explicit_gaps", file)
	if err != nil {
		return err
	}
	args.Set("explicit_gaps", gaps)
	return nil
}
