package catalog

import (
	"context"

	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

type validateIn struct {
	PerspectivesPath tool.Path `json:"perspectives_path" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	PerspectiveID    string    `json:"perspective_id" jsonschema:"the perspective whose contract applies"`
	MarkdownPath     tool.Path `json:"markdown_path" jsonschema:"absolute path of the output, a markdown file"`
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
				Path: "wave validate",
				Operands: []tool.Operand{
					{Name: "PERSPECTIVES", Field: "perspectives_path", About: "perspectives.json with the contracts"},
					{Name: "ID", Field: "perspective_id", About: "the perspective that the output was written for"},
					{Name: "OUTPUT", Field: "markdown_path", About: "the markdown file to judge"},
				},
				Example: "tidegate wave validate perspectives.json p1 wave-1/p1.md",
			},
		}, func(_ context.Context, in validateIn) (wave.Validation, error) {
			return wave.Validate(string(in.PerspectivesPath), in.PerspectiveID, string(in.MarkdownPath))
		}),
	}
}
