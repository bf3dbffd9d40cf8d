package wave

import (
	"context"
	"fmt"
	"io"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Outputs are the outputs of a wave, wherever they lie.
type Outputs struct {
	Perspectives []Perspective // whose outputs to judge; results come in this order
	// Open opens the output of the i-th perspective. An error with the code
	// NOT_FOUND says that there is none. It is called from several goroutines.
	Open func(i int) (io.ReadCloser, error)
	// Path is what results call that output.
	Path        func(i int) string
	MaxFailures int // most outputs to name among those that failed; all are judged
	// Progress gets how many outputs have been judged; it may be nil. It may be
	// called from several goroutines.
	Progress func(done, total int)
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

	contract *Contract
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

// Review judges the outputs of a wave, each in one pass, on all cores. Outputs that
// fail are data, not errors. It returns SCHEMA_VALIDATION_FAILED without
// perspectives, because a review of nothing must not pass; OUTPUT_NOT_FOUND, which
// names the outputs that are missing; the first other error of Open in the order of
// perspectives; READ_FAILED and CANCELLED.
func Review(ctx context.Context, o Outputs) (ReviewResult, error) { return review(ctx, o, false) }

// ReviewThere judges a wave of which some outputs are missing, for a person who
// wants to see the others all the same. Those that are missing have failed with
// OUTPUT_NOT_FOUND. It returns the errors of [Review] except that one.
func ReviewThere(ctx context.Context, o Outputs) (ReviewResult, error) { return review(ctx, o, true) }

func review(ctx context.Context, o Outputs, partial bool) (ReviewResult, error) {
	results, err := judgeAll(ctx, o, partial)
	if err != nil {
		return ReviewResult{}, err
	}
	review := ReviewResult{Validated: len(results), Results: results}
	for _, r := range results {
		if r.Pass {
			continue
		}
		review.Failed++
		if review.Failed > o.MaxFailures {
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
	return review, nil
}
