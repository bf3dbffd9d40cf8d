package catalog

import (
	"context"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/step"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

type validateIn struct {
	PerspectivesPath tool.Path `json:"perspectives_path" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	PerspectiveID    string    `json:"perspective_id" jsonschema:"the perspective whose contract applies"`
	MarkdownPath     tool.Path `json:"markdown_path" jsonschema:"absolute path of the output, a markdown file"`
}

type reviewIn struct {
	PerspectivesPath tool.Path `json:"perspectives_path" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	OutputsDir       tool.Path `json:"outputs_dir" jsonschema:"absolute path of the folder with one <perspective_id>.md per perspective"`
	PerspectiveIDs   []string  `json:"perspective_ids,omitzero" jsonschema:"judge only these perspectives" minitems:"1"`
	MaxFailures      int       `json:"max_failures,omitzero" jsonschema:"most outputs to name among those that failed; all are judged" min:"1" max:"500" default:"25"`
	ReportPath       tool.Path `json:"report_path,omitzero" jsonschema:"absolute path to write the result to, in a folder that exists" writes:"true"`
}

type retryPromptIn struct {
	PerspectivesPath tool.Path `json:"perspectives_path" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	OutputsDir       tool.Path `json:"outputs_dir" jsonschema:"absolute path of the folder with one <perspective_id>.md per perspective"`
	PerspectiveIDs   []string  `json:"perspective_ids,omitzero" jsonschema:"judge only these perspectives" minitems:"1"`
	MaxFailures      int       `json:"max_failures,omitzero" jsonschema:"most prompts to make; all outputs are judged" min:"1" max:"500" default:"25"`
}

func waveTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name:       "deep_research_wave_output_validate",
			Set:        "wave",
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
		}, func(ctx context.Context, in validateIn) (wave.Validation, error) {
			return wave.Validate(ctx, string(in.PerspectivesPath), in.PerspectiveID, string(in.MarkdownPath))
		}),
		declare(tool.Spec{
			Name:       "deep_research_wave_review",
			Set:        "wave",
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
			},
		}, func(ctx context.Context, in reviewIn) (wave.ReviewResult, error) {
			return step.Review(ctx, env.clock(), wave.ReviewRequest{
				PerspectivesPath: string(in.PerspectivesPath), OutputsDir: string(in.OutputsDir), PerspectiveIDs: in.PerspectiveIDs,
				MaxFailures: in.MaxFailures, ReportPath: string(in.ReportPath), Progress: tool.Progress(ctx),
			})
		}),
		declare(tool.Spec{
			Name:       "deep_research_wave_retry_prompt",
			Set:        "wave",
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path: "wave retry-prompt",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "OUTPUTS_DIR", Field: "outputs_dir", About: "the folder with one <perspective id>.md per perspective"},
				},
				Rename: map[string]string{"perspective_ids": "only"},
			},
		}, func(ctx context.Context, in retryPromptIn) (wave.RetryPrompts, error) {
			return wave.RetryPrompt(ctx, wave.ReviewRequest{
				PerspectivesPath: string(in.PerspectivesPath), OutputsDir: string(in.OutputsDir), PerspectiveIDs: in.PerspectiveIDs,
				MaxFailures: in.MaxFailures, Progress: tool.Progress(ctx),
			})
		}),
		declare(tool.Spec{
			Name:       "deep_research_perspectives_check",
			Set:        "wave",
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

func watchWave(args *codec.Value) []string {
	return []string{args.Get("perspectives_path").Str(), args.Get("outputs_dir").Str()}
}
