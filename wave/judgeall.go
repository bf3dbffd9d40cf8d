package wave

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/internal/parallel"
	"github.com/tidegate/tidegate/perspective"
)

// judgeAll judges the outputs of the chosen perspectives, each in one pass, on
// all cores. Results are in the order of the perspectives.
func judgeAll(ctx context.Context, req ReviewRequest, chosen []perspective.Perspective) ([]OutputResult, error) {
	b := &batch{ctx: ctx, req: req, chosen: chosen, results: make([]OutputResult, len(chosen))}
	err := parallel.Each(ctx, len(chosen), req.Progress, func() func(int) error {
		var judge Judge
		return func(i int) error {
			if err := b.judge(&judge, i); err != nil {
				b.note(i, err)
			}
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
	ctx     context.Context
	req     ReviewRequest
	chosen  []perspective.Perspective
	results []OutputResult

	absent atomic.Bool // an output is missing: all that matters is which others are

	mu         sync.Mutex
	missing    []int // indices
	unreadable int   // index of the first, when fault is set
	fault      error
}

func (b *batch) judge(judge *Judge, i int) error {
	p := &b.chosen[i]
	path := b.path(i)
	file, err := artifact.OpenFile(b.ctx, "markdown_path", path)
	if err != nil {
		return err
	}
	defer file.Close()
	if b.absent.Load() {
		return nil
	}
	verdict, err := judge.Judge(b.ctx, p.Contract, file)
	if err != nil {
		return unreadable(b.ctx, nil, path, err)
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

// note keeps what stops the review.
func (b *batch) note(i int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		b.absent.Store(true)
		b.missing = append(b.missing, i)
	} else if b.fault == nil || i < b.unreadable {
		b.unreadable, b.fault = i, err
	}
}

// failure is what stopped the review, or nil: missing outputs first, then the
// first in order that cannot be read.
func (b *batch) failure() error {
	if len(b.missing) == 0 {
		if b.fault == nil {
			return nil
		}
		e := tidegate.AsError(b.fault)
		return tidegate.Errorf(e.Code, b.details(b.unreadable), "%s", e.Message)
	}
	slices.Sort(b.missing)
	first := b.missing[0]
	details := b.details(first)
	if len(b.missing) > 1 {
		ids := make([]string, 0, min(len(b.missing), b.req.MaxFailures))
		for _, i := range b.missing[:cap(ids)] {
			ids = append(ids, b.chosen[i].ID)
		}
		details = append(details, tidegate.D("missing_perspective_ids", ids)...)
	}
	return tidegate.Errorf(tidegate.OutputNotFound, details, "the output of %s is missing: expected %s", b.chosen[first].ID, b.path(first))
}

func (b *batch) details(i int) tidegate.Details {
	return tidegate.D("perspective_id", b.chosen[i].ID, "markdown_path", b.path(i))
}

func (b *batch) path(i int) string { return filepath.Join(b.req.OutputsDir, b.chosen[i].ID+".md") }
