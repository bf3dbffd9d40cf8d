package catalog

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/step"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

func waveTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name:       "deep_research_wave_output_validate",
			Set:        "wave",
			Core:       true,
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path: "wave validate",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "ID", Field: "perspective_id", About: "the perspective that the output was written for"},
					{Name: "OUTPUT", Field: "markdown_path", About: "the markdown file to judge"},
				},
			},
		}, wave.Validate),
		declare(tool.Spec{
			Name:       "deep_research_wave_review",
			Set:        "wave",
			Core:       true,
			Effect:     tool.WritesOnRequest,
			Idempotent: true,
			Command: &tool.Command{
				Path: "wave review",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "OUTPUTS_DIR", Field: "outputs_dir", About: "the folder with one <perspective id>.md per perspective"},
				},
				Rename:  map[string]string{"perspective_ids": "only", "report_path": "report"},
				Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Watch:   watchWave,
				Instead: reviewThere,
			},
		}, func(ctx context.Context, in wave.ReviewInput) (wave.ReviewResult, error) {
			in.Progress = tool.Progress(ctx)
			return step.Review(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name:       "deep_research_wave_retry_prompt",
			Set:        "wave",
			Core:       true,
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path: "wave retry-prompt",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "OUTPUTS_DIR", Field: "outputs_dir", About: "the folder with one <perspective id>.md per perspective"},
				},
				Rename: map[string]string{"perspective_ids": "only"}, Formats: []string{"markdown"}, Piped: "markdown",
			},
		}, func(ctx context.Context, in wave.RetryPromptInput) (wave.RetryPrompts, error) {
			in.Progress = tool.Progress(ctx)
			return wave.RetryPrompt(ctx, in)
		}),
		declare(tool.Spec{
			Name:       "deep_research_perspectives_check",
			Set:        "wave",
			Core:       true,
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path: "perspectives check",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json"},
				},
				Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Watch:   func(args *codec.Value) []string { return []string{args.Get("perspectives_path").Str()} },
			},
		}, perspective.Lint),
	}
}

// reviewThere shows what can be judged of a wave of which outputs are missing.
func reviewThere(ctx context.Context, in any, err *tidegate.Error) (report.Report, bool) {
	if err.Code != tidegate.OutputNotFound {
		return report.Report{}, false
	}
	there, failed := wave.ReviewThere(ctx, in.(wave.ReviewInput))
	return there.Report(), failed == nil
}

func watchWave(args *codec.Value) []string {
	return []string{args.Get("perspectives_path").Str(), args.Get("outputs_dir").Str()}
}
