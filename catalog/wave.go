package catalog

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

func waveTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_wave_output_validate", Set: "wave", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "wave validate",
				Operands: []tool.Operand{
					contractsOperand,
					{Name: "ID", Field: "perspective_id", About: "the perspective that the output was written for"},
					{Name: "OUTPUT", Field: "markdown_path", About: "the markdown file to judge; that of the run when absent", Optional: true},
				},
				Fill: env.fillWave("markdown_path", "OUTPUT"),
			},
		}, at(env, step.Validate)),
		declare(tool.Spec{
			Name: "deep_research_wave_review", Set: "wave", Core: true, Effect: tool.WritesOnRequest, Idempotent: true,
			Command: &tool.Command{
				Path:     "wave review",
				Operands: []tool.Operand{contractsOperand, outputsOperand},
				Fill:     env.fillWave("outputs_dir", "OUTPUTS_DIR"),
				Rename:   map[string]string{"perspective_ids": "only", "report_path": "report"},
				Formats:  []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Watch:    watchWave,
				Instead:  env.reviewThere,
			},
		}, func(ctx context.Context, call tool.Caller, in step.WaveReviewInput) (wave.ReviewResult, error) {
			in.Progress = call.Progress
			return step.ReviewWave(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_wave_retry_prompt", Set: "wave", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "wave retry-prompt",
				Operands: []tool.Operand{contractsOperand, outputsOperand},
				Fill:     env.fillWave("outputs_dir", "OUTPUTS_DIR"),
				Rename:   map[string]string{"perspective_ids": "only"}, Formats: []string{"markdown"}, Piped: "markdown",
			},
		}, func(ctx context.Context, call tool.Caller, in step.RetryPromptInput) (wave.RetryPrompts, error) {
			in.Progress = call.Progress
			return step.RetryPrompt(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_perspectives_check", Set: "wave", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "perspectives check",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json, or a run by its id"},
				},
				Fill: func(ctx context.Context, typed tool.Typed, args *codec.Value) error {
					if isFile(typed.Operands["PERSPECTIVES"]) {
						return nil
					}
					return env.fillContracts(ctx, args, func(*run.Run, run.Stage) {})
				},
				Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Watch:   func(args *codec.Value) []string { return []string{args.Get("perspectives_path").Str()} },
			},
		}, at(env, step.Lint)),
	}
}

var contractsOperand = tool.Operand{Name: "PERSPECTIVES", Field: "perspectives_path",
	About: "perspectives.json with the contracts, or a run by its id, whose contracts and outputs are meant then"}

var outputsOperand = tool.Operand{Name: "OUTPUTS_DIR", Field: "outputs_dir",
	About: "the folder with one <perspective id>.md per perspective; that of the run when absent", Optional: true}

// fillWave takes a run in the place of contracts and outputs: its own, of the
// wave that it is in, else of the first. It returns INVALID_ARGS for contracts
// without outputs.
func (e tools) fillWave(argument, operand string) func(context.Context, tool.Typed, *codec.Value) error {
	return func(ctx context.Context, typed tool.Typed, args *codec.Value) error {
		if typed.Operands[operand] != "" {
			return nil
		}
		if isFile(typed.Operands["PERSPECTIVES"]) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(operand, nil), "%s is missing: only a run has outputs of its own", operand)
		}
		return e.fillContracts(ctx, args, func(r *run.Run, wave run.Stage) {
			path := r.Path(r.WaveDir(wave))
			if argument == "markdown_path" {
				path = r.Path(r.Output(wave, typed.Operands["ID"]))
			}
			args.Set(argument, codec.Of(path))
		})
	}
}

// fillContracts replaces a run in perspectives_path by the contracts of that run,
// and hands the run to more. What names no run is left as it is: the tool says what
// is wrong with it.
func (e tools) fillContracts(ctx context.Context, args *codec.Value, more func(r *run.Run, wave run.Stage)) error {
	name, err := filepath.Rel(e.Dir, args.Get("perspectives_path").Str())
	if err != nil {
		name = args.Get("perspectives_path").Str()
	}
	manifest, _, err := run.FindByBeginning(e.Desk(artifact.Everywhere), e.Home, e.Dir, name)
	if err != nil {
		return err
	}
	r, err := run.Open(ctx, e.Desk(artifact.Everywhere), manifest)
	if err != nil {
		return err
	}
	defer r.Close()
	wave := run.Wave1
	if r.Manifest().Stage() == run.Wave2 {
		wave = run.Wave2
	}
	args.Set("perspectives_path", codec.Of(r.Path(r.ContractsOf(wave))))
	more(r, wave)
	return nil
}

// isFile reports whether a path leads to a file that can be read.
func isFile(path string) bool {
	file, err := artifact.Everywhere.OpenFile("path", path)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// reviewThere shows what can be judged of a wave when some outputs are missing.
func (e tools) reviewThere(ctx context.Context, in any, err *tidegate.Error) (report.Report, bool) {
	if err.Code != tidegate.OutputNotFound {
		return report.Report{}, false
	}
	there, failed := step.ReviewWaveThere(ctx, e.Desk(artifact.Everywhere), in.(step.WaveReviewInput))
	return there.Report(), failed == nil
}

func watchWave(args *codec.Value) []string {
	return []string{args.Get("perspectives_path").Str(), args.Get("outputs_dir").Str()}
}
