package summary

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/wave"
)

// generate makes the summaries from the wave outputs. Each may grow to the cap of
// one summary; when they are too large together, the largest are cut down to one
// size at which all of them fit.
func (p *plan) generate(ctx context.Context) error {
	drafts := make([]*draft, len(p.perspectives))
	err := parallel.Each(ctx, len(drafts), nil, func() func(int) error {
		w := writer{pool: p.pool}
		return func(i int) (err error) {
			drafts[i], err = p.readSource(ctx, &w, p.perspectives[i])
			return err
		}
	})
	if err != nil {
		return err
	}
	limit := p.limits.summaryBytes()
	if err := p.compose(ctx, drafts, limit); err != nil {
		return err
	}
	if p.sum() == nil {
		return nil
	}
	if err := p.compose(ctx, drafts, min(limit, level(p.sizes(), p.limits.totalBytes()))); err != nil {
		if tidegate.CodeOf(err) == tidegate.SizeCapExceeded {
			return p.limits.totalTooLarge(p.total)
		}
		return err
	}
	return p.sum()
}

// readSource makes a draft of the output of one perspective. It returns NOT_FOUND,
// READ_FAILED, PATH_NOT_ALLOWED, and SCHEMA_VALIDATION_FAILED when there is no
// text to make a draft of.
func (p *plan) readSource(ctx context.Context, w *writer, of wave.Perspective) (*draft, error) {
	details := tidegate.D("perspective_id", of.ID, "source_artifact", of.SourceArtifact)
	file, err := p.run.Folder().Open(of.SourceArtifact)
	if err != nil {
		return nil, tidegate.WithDetails(err, details)
	}
	defer file.Close()
	d, err := w.read(artifact.Until(ctx, file), p.limits.summaryBytes())
	switch {
	case err != nil:
		return nil, tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", of.SourceArtifact, err)
	case d.empty():
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, details,
			"%s has no list item or paragraph outside Sources and Gaps, and no source that the citation pool maps", of.SourceArtifact)
	}
	return d, nil
}

// compose writes the summaries, each of at most limit bytes, and checks them
// like any other.
func (p *plan) compose(ctx context.Context, drafts []*draft, limit int) error {
	p.made = make([]made, len(drafts))
	return parallel.Each(ctx, len(drafts), p.req.Progress, func() func(int) error {
		return func(i int) (err error) {
			data, left := drafts[i].compose(limit)
			if len(data) == 0 {
				return summaryTooLarge(p.perspectives[i].ID)
			}
			p.made[i], err = p.check(i, data)
			p.made[i].left = left
			return err
		}
	})
}
