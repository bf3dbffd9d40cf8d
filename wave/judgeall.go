package wave

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/perspective"
)

// judgeAll judges the outputs of the chosen perspectives, each in one pass, on
// all cores. Results are in the order of the perspectives. None of the outputs
// may be the file that the report will replace, which is nil when there is none.
//
// With partial, a missing output is a result as well, not an error.
func judgeAll(ctx context.Context, req ReviewInput, partial bool, chosen []perspective.Perspective, replaced fs.FileInfo) ([]OutputResult, error) {
	b := &batch{
		ctx: ctx, req: req, partial: partial, chosen: chosen, replaced: replaced, results: make([]OutputResult, len(chosen)), faults: make([]error, len(chosen)),
	}
	err := parallel.Each(ctx, len(chosen), req.Progress, func() func(int) error {
		var judge Judge
		return func(i int) error {
			b.faults[i] = b.judge(&judge, i)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	if b.clash.Load() {
		return nil, reportReplacesInput(req)
	}
	return b.results, b.failure()
}

// batch is the work that the workers of one review share. None of them stops at
// an output that cannot be judged: which others are missing belongs to the answer.
type batch struct {
	ctx      context.Context
	req      ReviewInput
	partial  bool
	chosen   []perspective.Perspective
	replaced fs.FileInfo
	results  []OutputResult
	faults   []error     // why an output could not be judged, by its index
	absent   atomic.Bool // an output is missing: all that matters is which others are
	clash    atomic.Bool // an output is the file that the report will replace
}

func (b *batch) judge(judge *Judge, i int) error {
	p := &b.chosen[i]
	path := b.path(i)
	file, err := artifact.OpenFile(b.ctx, "markdown_path", path)
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
	defer file.Close()
	if b.replaced != nil && isSame(b.replaced, infoOf(file)) {
		b.clash.Store(true)
	}
	if b.absent.Load() {
		return nil
	}
	verdict, err := judge.Judge(b.ctx, p.Contract, file)
	if err != nil {
		return Unreadable(b.ctx, nil, path, err)
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
func missing(p *perspective.Perspective, path string) OutputResult {
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
		ids := make([]string, 0, min(len(missing), b.req.MaxFailures))
		for _, i := range missing[:cap(ids)] {
			ids = append(ids, b.chosen[i].ID)
		}
		details = append(details, tidegate.D("missing_perspective_ids", ids)...)
	}
	return notFound(b.chosen[first].ID, b.path(first), details)
}

func (b *batch) details(i int) tidegate.Details {
	return tidegate.D("perspective_id", b.chosen[i].ID, "markdown_path", b.path(i))
}

func (b *batch) path(i int) string { return filepath.Join(b.req.OutputsDir, b.chosen[i].ID+".md") }
