package step

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// ReadPerspectives reads and checks the perspectives at path, once. It returns
// NOT_FOUND, READ_FAILED, INVALID_JSON or SCHEMA_VALIDATION_FAILED; arg is the
// argument that named the path.
func ReadPerspectives(desk run.Desk, arg, path string, use wave.Use) (*wave.Perspectives, error) {
	data, err := desk.Reach.ReadDocument(arg, path)
	if err != nil {
		return nil, err
	}
	doc, err := wave.ParsePerspectives(data, use)
	if syntax := (*codec.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, codec.NotJSON(tidegate.Pairs(arg, path), path, syntax)
	}
	return doc, err
}

// LintInput is what [Lint] looks at.
type LintInput struct {
	PerspectivesPath string `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	MaxFindings      int    `json:"max_findings,omitzero" jsonschema:"most findings to list; all are counted" min:"1" max:"10000" default:"100"`
}

// Lint is the tool deep_research_perspectives_check: [wave.Lint] of a file. It also
// returns NOT_FOUND and READ_FAILED.
func Lint(ctx context.Context, desk run.Desk, in LintInput) (wave.LintResult, error) {
	data, err := desk.Reach.ReadDocument("perspectives_path", in.PerspectivesPath)
	if err != nil {
		return wave.LintResult{}, err
	}
	return wave.Lint(in.PerspectivesPath, data, in.MaxFindings)
}

// ValidateInput are the arguments of [Validate].
type ValidateInput struct {
	PerspectivesPath string `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	PerspectiveID    string `json:"perspective_id" jsonschema:"the perspective whose contract applies"`
	MarkdownPath     string `json:"markdown_path" path:"absolute" jsonschema:"absolute path of the output, a markdown file"`
}

// Validate is the tool deep_research_wave_output_validate: [wave.Validate] of a
// file. It also returns NOT_FOUND, the errors of [ReadPerspectives],
// PERSPECTIVE_NOT_FOUND and CANCELLED.
func Validate(ctx context.Context, desk run.Desk, in ValidateInput) (wave.Validation, error) {
	doc, err := ReadPerspectives(desk, "perspectives_path", in.PerspectivesPath, wave.Contracts)
	if err != nil {
		return wave.Validation{}, err
	}
	p, ok := doc.Find(in.PerspectiveID)
	if !ok {
		return wave.Validation{}, perspectiveNotFound(doc, in.PerspectiveID, in.PerspectivesPath)
	}
	file, err := desk.Reach.OpenFile("markdown_path", in.MarkdownPath)
	if err != nil {
		return wave.Validation{}, err
	}
	defer file.Close()
	return wave.Validate(*p, in.MarkdownPath, artifact.Until(ctx, file))
}

// perspectiveNotFound names the ids that there are, where they are few enough to
// look through.
func perspectiveNotFound(doc *wave.Perspectives, id, path string) error {
	const few = 10
	listed := ""
	if n := len(doc.List); n > 0 && n <= few {
		ids := make([]string, n)
		for i, p := range doc.List {
			ids[i] = p.ID
		}
		listed = "; it lists " + strings.Join(ids, ", ")
	}
	return tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.Pairs("perspective_id", id), "%s lists no perspective %q%s", path, tidegate.Cut(id), listed)
}

// RetryPromptInput are the arguments of [RetryPrompt].
type RetryPromptInput struct {
	PerspectivesPath string   `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	OutputsDir       string   `json:"outputs_dir" path:"absolute" jsonschema:"absolute path of the folder with one <perspective_id>.md per perspective"`
	PerspectiveIDs   []string `json:"perspective_ids,omitzero" jsonschema:"judge only these perspectives" minitems:"1"`
	MaxFailures      int      `json:"max_failures,omitzero" jsonschema:"most prompts to make; all outputs are judged" min:"1" max:"500" default:"25"`
	// Progress is that of [wave.Outputs].
	Progress func(done, total int) `json:"-"`
}

// RetryPrompt is the tool deep_research_wave_retry_prompt: [wave.RetryPrompt] of
// the outputs in a folder. It writes nothing and returns the errors of [Review]
// that are not about its report.
func RetryPrompt(ctx context.Context, desk run.Desk, in RetryPromptInput) (wave.RetryPrompts, error) {
	folder := WaveReviewInput{PerspectivesPath: in.PerspectivesPath, OutputsDir: in.OutputsDir, PerspectiveIDs: in.PerspectiveIDs, MaxFailures: in.MaxFailures, Progress: in.Progress}
	outputs, err := folder.outputs(ctx, desk, nil)
	if err != nil {
		return wave.RetryPrompts{}, err
	}
	prompts, err := wave.RetryPrompt(ctx, outputs)
	prompts.PerspectivesPath, prompts.OutputsDir = in.PerspectivesPath, in.OutputsDir
	return prompts, err
}

// outputs reads the contracts and selects those that are asked for, in byte
// order of the ids. What is empty is for [wave.Review] to refuse. Opened, unless it
// is nil, sees every output first, from several goroutines.
func (in WaveReviewInput) outputs(ctx context.Context, desk run.Desk, opened func(*os.File)) (wave.Outputs, error) {
	doc, err := ReadPerspectives(desk, "perspectives_path", in.PerspectivesPath, wave.Contracts)
	if err != nil || len(doc.List) == 0 {
		return wave.Outputs{}, err
	}
	dir, err := desk.Reach.Open("outputs_dir", in.OutputsDir)
	if err != nil {
		return wave.Outputs{}, err
	}
	dir.Close()
	chosen := doc.List
	if len(in.PerspectiveIDs) > 0 {
		ids := slices.Clone(in.PerspectiveIDs)
		slices.Sort(ids)
		chosen = nil
		for _, id := range slices.Compact(ids) {
			p, ok := doc.Find(id)
			if !ok {
				return wave.Outputs{}, perspectiveNotFound(doc, id, in.PerspectivesPath)
			}
			chosen = append(chosen, *p)
		}
	}
	path := func(i int) string { return filepath.Join(in.OutputsDir, chosen[i].ID+".md") }
	return wave.Outputs{
		Perspectives: chosen, Path: path, MaxFailures: in.MaxFailures, Progress: in.Progress,
		Open: func(i int) (io.ReadCloser, error) {
			file, err := desk.Reach.OpenFile("markdown_path", path(i))
			if err != nil {
				return nil, err
			}
			if opened != nil {
				opened(file)
			}
			return untilDone(ctx, file), nil
		},
	}, nil
}

// untilDone is a file as long as ctx lasts.
func untilDone(ctx context.Context, file *os.File) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{artifact.Until(ctx, file), file}
}
