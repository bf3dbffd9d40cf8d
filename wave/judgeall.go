package wave

import (
	"context"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/parallel"
)

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
