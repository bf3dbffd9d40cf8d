package catalog

import (
	"context"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
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

type checkIn struct {
	PerspectivesPath tool.Path `json:"perspectives_path" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	MaxFindings      int       `json:"max_findings,omitzero" jsonschema:"most findings to list; all are counted" min:"1" max:"10000" default:"100"`
}

func waveTools(*Env) []*tool.Tool {
	return []*tool.Tool{
		tool.New(tool.Spec{
			Name: "deep_research_wave_output_validate",
			Set:  "wave",
			Summary: "Use this to check one agent output against its contract before anything trusts it. " +
				"It counts words and sources, looks for the required sections, and refuses with the one rule that is broken and where.",
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path:  "wave validate",
				Short: "Judge one output by its contract",
				Long: `Judge one output by the contract of its perspective: required sections, words,
and the form and number of its sources. An output that does not meet it is
refused with the first rule that it breaks, and exit status 1.`,
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "ID", Field: "perspective_id", About: "the perspective that the output was written for"},
					{Name: "OUTPUT", Field: "markdown_path", About: "the markdown file to judge"},
				},
				Example: "tidegate wave validate perspectives.json grid drafts/grid.md",
			},
		}, func(ctx context.Context, in validateIn) (wave.Validation, error) {
			return wave.Validate(ctx, string(in.PerspectivesPath), in.PerspectiveID, string(in.MarkdownPath))
		}),
		tool.New(tool.Spec{
			Name: "deep_research_wave_review",
			Set:  "wave",
			Summary: "Use this when the agents of a wave have finished, to judge all their outputs by contract at once. " +
				"It answers pass or fail with figures for every perspective and, for those that failed, a directive that tells the agent what to change.",
			Effect:     tool.WritesOnRequest,
			Idempotent: true,
			Command: &tool.Command{
				Path:  "wave review",
				Short: "Judge all outputs of a wave",
				Long: `Judge the outputs of a wave, one <perspective id>.md for each perspective, by
their contracts. The table shows words and sources against their caps and every
rule that an output breaks with its place; below it stands what to change. The
exit status is 1 when an output fails.`,
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "OUTPUTS_DIR", Field: "outputs_dir", About: "the folder with one <perspective id>.md per perspective"},
				},
				Rename:  map[string]string{"perspective_ids": "only", "report_path": "report"},
				Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Example: "tidegate wave review perspectives.json drafts\n" +
					"tidegate wave review perspectives.json drafts --only grid --format sarif",
				Watch: watchWave,
			},
		}, func(ctx context.Context, in reviewIn) (wave.ReviewResult, error) {
			return wave.Review(ctx, wave.ReviewRequest{
				PerspectivesPath: string(in.PerspectivesPath), OutputsDir: string(in.OutputsDir), PerspectiveIDs: in.PerspectiveIDs,
				MaxFailures: in.MaxFailures, ReportPath: string(in.ReportPath), Progress: tool.Progress(ctx),
			})
		}),
		tool.New(tool.Spec{
			Name: "deep_research_wave_retry_prompt",
			Set:  "wave",
			Summary: "Use this after a review that failed, to get a prompt for each agent that has to write its output again. " +
				"A prompt names every fault with its numbers and lines and states every rule of the contract, so that an agent that follows it passes.",
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path:  "wave retry-prompt",
				Short: "Write the prompts by which agents mend the outputs that failed",
				Long: `Judge the outputs of a wave as ` + "`tidegate wave review`" + ` does, and by what a run
asks beyond that: that a reader can see all of an output. Print for each one that
fails a prompt to send to its agent. A prompt names every fault with its numbers
and lines, and every rule by which the next attempt will be judged.`,
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "OUTPUTS_DIR", Field: "outputs_dir", About: "the folder with one <perspective id>.md per perspective"},
				},
				Rename: map[string]string{"perspective_ids": "only"},
				Example: "tidegate wave retry-prompt perspectives.json drafts --only grid\n" +
					"tidegate wave retry-prompt perspectives.json drafts --format json",
			},
		}, func(ctx context.Context, in retryPromptIn) (wave.RetryPrompts, error) {
			return wave.RetryPrompt(ctx, wave.ReviewRequest{
				PerspectivesPath: string(in.PerspectivesPath), OutputsDir: string(in.OutputsDir), PerspectiveIDs: in.PerspectiveIDs,
				MaxFailures: in.MaxFailures, Progress: tool.Progress(ctx),
			})
		}),
		tool.New(tool.Spec{
			Name: "deep_research_perspectives_check",
			Set:  "wave",
			Summary: "Use this before a wave starts, to find contracts that no output can meet or that mean something else than their author thinks. " +
				"It checks the whole document and lists errors and warnings with their paths.",
			Effect:     tool.Reads,
			Idempotent: true,
			Command: &tool.Command{
				Path:  "perspectives check",
				Short: "Find contracts that no output can meet",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json"},
				},
				Long: `Check perspectives.json before a wave starts.

An error is what makes the document unusable: a field that the schema refuses, a
required title that no heading can have, a word cap below the words of the
required headings. With an error the exit status is 1. A warning is what is
probably not meant: no Gaps section for the pivot, titles that differ only in
letter case, a cap that leaves no room. Warnings alone leave the exit status 0.`,
				Formats: []string{"markdown", "sarif", "junit", "github", "rdjson"},
				Example: "tidegate perspectives check perspectives.json",
				Watch:   func(args *codec.Value) []string { return []string{args.Get("perspectives_path").Str()} },
			},
		}, func(ctx context.Context, in checkIn) (perspective.LintResult, error) {
			return perspective.Lint(ctx, string(in.PerspectivesPath), in.MaxFindings)
		}),
	}
}

func watchWave(args *codec.Value) []string {
	return []string{args.Get("perspectives_path").Str(), args.Get("outputs_dir").Str()}
}
