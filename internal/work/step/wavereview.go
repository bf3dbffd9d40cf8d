package step

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// WaveReviewInput says which outputs [ReviewWave] judges. Paths are absolute.
type WaveReviewInput struct {
	PerspectivesPath string   `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	OutputsDir       string   `json:"outputs_dir" path:"absolute" jsonschema:"absolute path of the folder with one <perspective_id>.md per perspective"`
	PerspectiveIDs   []string `json:"perspective_ids,omitzero" jsonschema:"judge only these perspectives" minitems:"1"`
	MaxFailures      int      `json:"max_failures,omitzero" jsonschema:"most outputs to name among those that failed; all are judged" min:"1" max:"500" default:"25"`
	ReportPath       string   `json:"report_path,omitzero" path:"absolute" jsonschema:"absolute path to write the result to, a .json file in a folder that exists" writes:"true"`
	// Progress is that of [wave.Outputs].
	Progress func(done, total int) `json:"-"`
}

// ReviewWave is the tool deep_research_wave_review: [wave.ReviewWave] of the outputs in a
// folder, with its report in an allowed place. In a run that is the run's own wave
// review, and the log records it. Elsewhere it is a file that is new or already a
// wave review.
//
// It returns the errors of [ReadPerspectives] and [wave.ReviewWave], NOT_FOUND for the
// folder and PERSPECTIVE_NOT_FOUND; INVALID_ARGS for a report in the place of
// something that the review reads, PATH_NOT_ALLOWED for another place in
// a run or in a folder of code changes, and WRITE_FAILED for a file that holds
// something else. In a run it also returns INVALID_STATE (it is final), TAMPERED
// and LOCK_HELD.
func ReviewWave(ctx context.Context, desk run.Desk, in WaveReviewInput) (wave.ReviewResult, error) {
	if in.ReportPath == "" {
		return in.review(ctx, desk, wave.Review)
	}
	holder := run.HolderOf(desk, in.ReportPath)
	if holder.Run == "" {
		return in.reviewIntoFile(ctx, desk, holder)
	}
	return ReviewWaveInRun(ctx, desk, filepath.Join(holder.Run, run.ManifestFile), in)
}

// ReviewWaveInRun is [ReviewWave] with a report that lies in a run.
func ReviewWaveInRun(ctx context.Context, desk run.Desk, manifestPath string, in WaveReviewInput) (wave.ReviewResult, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *wave.ReviewResult) error {
		name := r.Layout().WaveReview
		if given, err := r.Name("report_path", in.ReportPath); err != nil || given != name {
			return notForReport(in.ReportPath, "the run keeps its wave review in "+name)
		}
		if _, err := in.replacedByReport(desk); err != nil {
			return err
		}
		result, err := in.review(ctx, desk, wave.Review)
		if err != nil {
			return err
		}
		result.ReportPath = &in.ReportPath
		*out = result
		_, err = r.UpdateBeside(ctx, run.Unfinished(func(u *run.Update) error {
			u.Log(run.EventReviewed, "wave_review", append(tidegate.Pairs("pass", result.Pass, "validated", result.Validated, "failed", result.Failed), in.args(r)...))
			return u.WriteJSON(name, inRecord(r, result))
		}))
		return err
	})
}

// args are the arguments by which a review of a run is done again. One of files
// outside the run is not.
func (in WaveReviewInput) args(r *run.Run) tidegate.Details {
	perspectives, outputs := r.InRecord(in.PerspectivesPath), r.InRecord(in.OutputsDir)
	if filepath.IsAbs(perspectives) || filepath.IsAbs(outputs) {
		return nil
	}
	return run.Args("perspectives_path", perspectives, "outputs_dir", outputs, "perspective_ids", in.PerspectiveIDs, "max_failures", in.MaxFailures)
}

// inRecord is a review as a run keeps it: with names of files that hold wherever
// the run lies.
func inRecord(r *run.Run, result wave.ReviewResult) wave.ReviewResult {
	result.PerspectivesPath, result.OutputsDir = r.InRecord(result.PerspectivesPath), r.InRecord(result.OutputsDir)
	report := r.InRecord(*result.ReportPath)
	result.ReportPath = &report
	result.Results = slices.Clone(result.Results)
	for i, each := range result.Results {
		result.Results[i].MarkdownPath = r.InRecord(each.MarkdownPath)
	}
	return result
}

// ReviewWaveThere is [wave.ReviewWaveThere] of the outputs in a folder. It writes nothing.
func ReviewWaveThere(ctx context.Context, desk run.Desk, in WaveReviewInput) (wave.ReviewResult, error) {
	return in.review(ctx, desk, wave.ReviewThere)
}

func (in WaveReviewInput) review(ctx context.Context, desk run.Desk, judge func(context.Context, wave.Outputs) (wave.ReviewResult, error)) (wave.ReviewResult, error) {
	outputs, err := in.outputs(ctx, desk, nil)
	if err != nil {
		return wave.ReviewResult{}, err
	}
	result, err := judge(ctx, outputs)
	result.PerspectivesPath, result.OutputsDir = in.PerspectivesPath, in.OutputsDir
	return result, err
}

// reviewIntoFile writes the report to a file that belongs to no run, and that is
// nothing which the review reads, by whatever name.
func (in WaveReviewInput) reviewIntoFile(ctx context.Context, desk run.Desk, holder run.Holder) (wave.ReviewResult, error) {
	if err := freeForReport(ctx, desk, holder, in.ReportPath); err != nil {
		return wave.ReviewResult{}, err
	}
	var replaced fs.FileInfo
	var clash atomic.Bool
	outputs, err := in.outputs(ctx, desk, func(output *os.File) {
		if replaced != nil && isSame(replaced, infoOf(output)) {
			clash.Store(true)
		}
	})
	if err != nil {
		return wave.ReviewResult{}, err
	}
	if replaced, err = in.replacedByReport(desk); err != nil {
		return wave.ReviewResult{}, err
	}
	result, err := wave.Review(ctx, outputs)
	if clash.Load() && ctx.Err() == nil {
		err = in.reportReplacesInput()
	}
	if err != nil {
		return wave.ReviewResult{}, err
	}
	result.PerspectivesPath, result.OutputsDir, result.ReportPath = in.PerspectivesPath, in.OutputsDir, &in.ReportPath
	document, err := codec.MarshalFile(result)
	if err != nil {
		return wave.ReviewResult{}, err
	}
	return result, desk.Reach.WriteFile("report_path", in.ReportPath, document)
}

// replacedByReport is the file that the report will replace, nil when there is
// none. It returns INVALID_ARGS when that is perspectives.json.
func (in WaveReviewInput) replacedByReport(desk run.Desk) (fs.FileInfo, error) {
	replaced := fileInfo(desk, "report_path", in.ReportPath)
	if isSame(replaced, fileInfo(desk, "perspectives_path", in.PerspectivesPath)) {
		return nil, in.reportReplacesInput()
	}
	return replaced, nil
}

// fileInfo is nil for what cannot be opened: the code that reads or writes
// the file says why.
func fileInfo(desk run.Desk, arg, path string) fs.FileInfo {
	file, err := desk.Reach.OpenFile(arg, path)
	if err != nil {
		return nil
	}
	defer file.Close()
	return infoOf(file)
}

func infoOf(file *os.File) fs.FileInfo {
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return info
}

func isSame(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }

func (in WaveReviewInput) reportReplacesInput() error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("report_path", tidegate.Cut(in.ReportPath)),
		"report_path must not be one of the files that the review reads")
}

// freeForReport refuses a place that means something to a program, because an agent chooses
// the path of a report, and some of its content. Many programs look for a folder's settings in
// files of other kinds than JSON; a manifest and gates make a run of their folder.
func freeForReport(ctx context.Context, desk run.Desk, holder run.Holder, path string) error {
	if holder.Changes != "" {
		return notForReport(path, "it lies in a folder of code changes")
	}
	if err := run.CheckOutside(ctx, desk, "report_path", path); err != nil {
		return err
	}
	refused := func(problem string) error {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("report_path", path), "%s: %s", problem, path)
	}
	if name := strings.ToLower(filepath.Base(path)); !strings.HasSuffix(name, ".json") || name == run.ManifestFile || name == "gates.json" {
		return refused("a report has a name that ends in .json and that no file of a run has")
	}
	data, err := desk.Reach.ReadDocument("report_path", path)
	if err != nil && tidegate.CodeOf(err) != tidegate.InvalidJSON {
		return nil // new, or for the write to refuse with its reason
	}
	if doc, err := codec.Parse(data); err == nil && doc.Get("results").Kind() == codec.Array && doc.Get("retry_directives").Kind() == codec.Array {
		return nil
	}
	return refused("the file that is there holds something other than a wave review")
}

func notForReport(path, problem string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("report_path", path), "report_path cannot be %s: %s", path, problem)
}

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
