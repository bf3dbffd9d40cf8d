package wave

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/perspective"
)

// ReviewInput says which outputs [Review] judges. Paths are absolute.
type ReviewInput struct {
	PerspectivesPath string   `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of perspectives.json (perspectives.v1)"`
	OutputsDir       string   `json:"outputs_dir" path:"absolute" jsonschema:"absolute path of the folder with one <perspective_id>.md per perspective"`
	PerspectiveIDs   []string `json:"perspective_ids,omitzero" jsonschema:"judge only these perspectives" minitems:"1"`
	MaxFailures      int      `json:"max_failures,omitzero" jsonschema:"most outputs to name among those that failed; all are judged" min:"1" max:"500" default:"25"`
	ReportPath       string   `json:"report_path,omitzero" path:"absolute" jsonschema:"absolute path to write the result to, in a folder that exists" writes:"true"`
	// Progress gets how many outputs have been judged; it may be nil. It may be
	// called from several goroutines.
	Progress func(done, total int) `json:"-"`
}

// ReviewResult is the judgement of a wave.
type ReviewResult struct {
	OK               codec.True       `json:"ok"`
	Pass             bool             `json:"pass" jsonschema:"true when every output meets its contract"`
	PerspectivesPath string           `json:"perspectives_path" jsonschema:"echo of the argument"`
	OutputsDir       string           `json:"outputs_dir" jsonschema:"echo of the argument"`
	Validated        int              `json:"validated" jsonschema:"how many outputs were judged"`
	Failed           int              `json:"failed" jsonschema:"how many of them failed"`
	Results          []OutputResult   `json:"results" jsonschema:"one entry per perspective, in byte order of the ids"`
	RetryDirectives  []RetryDirective `json:"retry_directives" jsonschema:"what to change in the outputs that failed, at most max_failures of them"`
	Bounded          BoundedReport    `json:"report" jsonschema:"a summary of fixed size"`
	ReportPath       *string          `json:"report_path" jsonschema:"where the report was written, else null"`
}

// Passed reports whether every output meets its contract.
func (r ReviewResult) Passed() bool { return r.Pass }

// OutputResult is the judgement of one output of a wave.
type OutputResult struct {
	PerspectiveID string   `json:"perspective_id"`
	MarkdownPath  string   `json:"markdown_path"`
	Pass          bool     `json:"pass"`
	Metrics       Metrics  `json:"metrics"`
	Failure       *Failure `json:"failure" jsonschema:"the error that deep_research_wave_output_validate answers for this output, null when it passes"`

	contract *perspective.Contract
	faults   []Fault
	missing  bool // the file is not there
}

// Metrics are the figures of one output.
type Metrics struct {
	Words           int      `json:"words" jsonschema:"tokens between white space, markup included"`
	Sources         int      `json:"sources" jsonschema:"well-formed lines of the Sources section; 0 when the contract does not require one"`
	MissingSections []string `json:"missing_sections" jsonschema:"required titles without a heading, in contract order"`
}

// Failure is an error as it stands in an envelope.
type Failure struct {
	Code    tidegate.Code    `json:"code"`
	Message string           `json:"message"`
	Details tidegate.Details `json:"details"`
}

// RetryDirective says how an orchestrator can have one output written again.
type RetryDirective struct {
	PerspectiveID     string        `json:"perspective_id"`
	Action            string        `json:"action" enum:"retry"`
	ChangeNote        string        `json:"change_note" jsonschema:"what the agent has to change, at most 200 characters"`
	BlockingErrorCode tidegate.Code `json:"blocking_error_code"`
}

// BoundedReport is the part of a review whose size does not grow with the wave.
type BoundedReport struct {
	FailuresSample  []string `json:"failures_sample" jsonschema:"the first ids that failed, at most max_failures of them"`
	FailuresOmitted int      `json:"failures_omitted" jsonschema:"how many more failed"`
	Notes           string   `json:"notes"`
}

// Review judges the outputs of a wave, on all cores, and writes the result to
// ReportPath when there is one. Outputs that fail are data, not errors. It returns
// NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED (also for a
// document without perspectives: a review of nothing must not pass),
// PERSPECTIVE_NOT_FOUND, INVALID_ARGS (a report in the place of an input),
// OUTPUT_NOT_FOUND, WRITE_FAILED, PATH_NOT_ALLOWED and CANCELLED. The caller must
// know whether the report may be written there.
func Review(ctx context.Context, req ReviewInput) (ReviewResult, error) {
	chosen, err := choose(ctx, req)
	if err != nil {
		return ReviewResult{}, err
	}
	replaced, err := replacedByReport(ctx, req)
	if err != nil {
		return ReviewResult{}, err
	}
	results, err := judgeAll(ctx, req, false, chosen, replaced)
	if err != nil {
		return ReviewResult{}, err
	}
	review := conclude(req, results)
	if req.ReportPath != "" {
		review.ReportPath = &req.ReportPath
		document, err := codec.MarshalFile(review)
		if err != nil {
			return ReviewResult{}, err
		}
		if err := artifact.WriteFile(ctx, "report_path", req.ReportPath, document); err != nil {
			return ReviewResult{}, err
		}
	}
	return review, nil
}

// ReviewThere judges a wave of which some outputs are missing, for a person who
// wants to see the others all the same. Those that are missing have failed with
// OUTPUT_NOT_FOUND. It writes nothing, and returns the errors of [Review] except
// that one.
func ReviewThere(ctx context.Context, req ReviewInput) (ReviewResult, error) {
	chosen, err := choose(ctx, req)
	if err != nil {
		return ReviewResult{}, err
	}
	results, err := judgeAll(ctx, req, true, chosen, nil)
	if err != nil {
		return ReviewResult{}, err
	}
	return conclude(req, results), nil
}

// choose reads the contracts and selects those that are asked for, in byte
// order of the ids.
func choose(ctx context.Context, req ReviewInput) ([]perspective.Perspective, error) {
	doc, err := perspective.Read(ctx, "perspectives_path", req.PerspectivesPath, perspective.Contracts)
	if err != nil {
		return nil, err
	}
	if len(doc.Perspectives) == 0 {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$.perspectives"),
			"$.perspectives is empty; a review needs at least one perspective")
	}
	outputs, err := artifact.Open(ctx, "outputs_dir", req.OutputsDir)
	if err != nil {
		return nil, err
	}
	outputs.Close()
	if len(req.PerspectiveIDs) == 0 {
		return doc.Perspectives, nil
	}
	ids := slices.Clone(req.PerspectiveIDs)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	chosen := make([]perspective.Perspective, 0, len(ids))
	for _, id := range ids {
		p, ok := doc.Find(id)
		if !ok {
			return nil, perspectiveNotFound(doc, id, req.PerspectivesPath)
		}
		chosen = append(chosen, *p)
	}
	return chosen, nil
}

func conclude(req ReviewInput, results []OutputResult) ReviewResult {
	review := ReviewResult{
		PerspectivesPath: req.PerspectivesPath, OutputsDir: req.OutputsDir, Validated: len(results), Results: results,
	}
	for _, r := range results {
		if r.Pass {
			continue
		}
		review.Failed++
		if review.Failed > req.MaxFailures {
			review.Bounded.FailuresOmitted++
			continue
		}
		review.Bounded.FailuresSample = append(review.Bounded.FailuresSample, r.PerspectiveID)
		review.RetryDirectives = append(review.RetryDirectives, RetryDirective{
			PerspectiveID: r.PerspectiveID, Action: "retry", ChangeNote: tidegate.Cut(r.faults[0].ChangeNote), BlockingErrorCode: r.Failure.Code,
		})
	}
	review.Pass = review.Failed == 0
	review.Bounded.Notes = "All perspectives passed wave output contract validation."
	if !review.Pass {
		review.Bounded.Notes = fmt.Sprintf("%d/%d perspectives failed contract validation; retry directives emitted.", review.Failed, review.Validated)
	}
	return review
}
