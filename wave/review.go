package wave

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
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

// judgeAll judges outputs. With partial, a missing output is a result as well, not
// an error.
func judgeAll(ctx context.Context, o Outputs, partial bool) ([]OutputResult, error) {
	n := len(o.Perspectives)
	if n == 0 {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$.perspectives"),
			"$.perspectives is empty; a review needs at least one perspective")
	}
	b := &batch{Outputs: o, partial: partial, results: make([]OutputResult, n), faults: make([]error, n)}
	err := parallel.Each(ctx, n, o.Progress, func() func(int) error {
		var judge Judge
		return func(i int) error {
			b.faults[i] = b.judge(&judge, i)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return b.results, b.failure()
}

// batch is the work that the workers of one review share. None of them stops at
// an output that cannot be judged: which others are missing belongs to the answer.
type batch struct {
	Outputs
	partial bool
	results []OutputResult
	faults  []error     // why an output could not be judged, by its index
	absent  atomic.Bool // an output is missing: all that matters is which others are
}

func (b *batch) judge(judge *Judge, i int) error {
	p, path := &b.Perspectives[i], b.Path(i)
	output, err := b.Open(i)
	if err != nil {
		switch {
		case tidegate.CodeOf(err) != tidegate.FileNotFound:
		case b.partial:
			b.results[i] = missing(p, path)
			return nil
		default:
			b.absent.Store(true)
		}
		return err
	}
	defer output.Close()
	if b.absent.Load() {
		return nil
	}
	verdict, err := judge.Judge(p.Contract, output)
	if err != nil {
		return Unreadable(nil, path, err)
	}
	result := OutputResult{
		PerspectiveID: p.ID, MarkdownPath: path, Pass: true,
		Metrics:  Metrics{Words: verdict.Words, Sources: verdict.Sources, MissingSections: verdict.MissingSections},
		contract: &p.Contract, faults: verdict.Faults,
	}
	if failure := verdict.Failure(); failure != nil {
		result.Pass, result.Failure = false, &Failure{failure.Code, failure.Message, failure.Details}
	}
	b.results[i] = result
	return nil
}

// missing is the result for an output that is not there.
func missing(p *Perspective, path string) OutputResult {
	err := tidegate.AsError(notFound(p.ID, path, nil))
	return OutputResult{PerspectiveID: p.ID, MarkdownPath: path, contract: &p.Contract, missing: true,
		Failure: &Failure{err.Code, err.Message, err.Details}, faults: []Fault{{Error: tidegate.AsError(tidegate.Errorf(err.Code, nil, "the file is not there")), ChangeNote: "Write the output."}}}
}

func notFound(id, path string, details tidegate.Details) error {
	return tidegate.Errorf(tidegate.OutputNotFound, details, "the output of %s is missing: expected %s", id, path)
}

// failure is what stopped the review, or nil: missing outputs first, then the
// first output in order that cannot be read.
func (b *batch) failure() error {
	var missing, unreadable []int
	for i, err := range b.faults {
		switch {
		case err == nil:
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			missing = append(missing, i)
		default:
			unreadable = append(unreadable, i)
		}
	}
	switch {
	case len(missing) > 0:
		return b.notFound(missing)
	case len(unreadable) > 0:
		return tidegate.WithDetails(b.faults[unreadable[0]], b.details(unreadable[0]))
	}
	return nil
}

func (b *batch) notFound(missing []int) error {
	first := missing[0]
	details := b.details(first)
	if len(missing) > 1 {
		ids := make([]string, 0, min(len(missing), b.MaxFailures))
		for _, i := range missing[:cap(ids)] {
			ids = append(ids, b.Perspectives[i].ID)
		}
		details = append(details, tidegate.Pairs("missing_perspective_ids", ids)...)
	}
	return notFound(b.Perspectives[first].ID, b.Path(first), details)
}

func (b *batch) details(i int) tidegate.Details {
	return tidegate.Pairs("perspective_id", b.Perspectives[i].ID, "markdown_path", b.Path(i))
}
