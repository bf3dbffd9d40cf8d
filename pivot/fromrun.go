package pivot

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/wave"
)

// FromRun is the input for a run as it stands: every perspective's wave-1
// output, validated. An output that does not meet its contract has a report
// that says so, which [Decide] refuses. Paths are absolute.
//
// It returns what [run.Open] and [perspective.Read] return, and NOT_FOUND,
// READ_FAILED or PATH_NOT_ALLOWED for the first output in byte order of the ids
// that cannot be read.
func FromRun(ctx context.Context, manifestPath string) (Input, error) {
	r, err := run.Open(ctx, manifestPath)
	if err != nil {
		return Input{}, err
	}
	defer r.Close()
	doc, err := perspective.Read(ctx, "perspectives_path", r.Path(r.Layout().Perspectives), perspective.Contracts)
	if err != nil {
		return Input{}, err
	}
	n := len(doc.Perspectives)
	in := Input{Outputs: make([]Output, n), Reports: make([]*codec.Value, n), ManifestPath: manifestPath}
	err = parallel.Each(ctx, n, nil, func() func(i int) error {
		var judge wave.Judge
		return func(i int) error {
			p := doc.Perspectives[i]
			o := Output{p.ID, r.Path(r.Output(run.Wave1, p.ID))}
			report, err := validate(ctx, &judge, p.Contract, o)
			in.Outputs[i], in.Reports[i] = o, report
			return err
		}
	})
	return in, err
}

// validate is the report on an output, as the validator gives it.
func validate(ctx context.Context, judge *wave.Judge, contract perspective.Contract, o Output) (*codec.Value, error) {
	file, err := source{}.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	verdict, err := judge.Judge(ctx, contract, file)
	if err != nil {
		return nil, o.unreadable(err)
	}
	if f := verdict.Failure(); f != nil {
		return codec.Of(tidegate.D("ok", false, "perspective_id", o.PerspectiveID,
			"error", tidegate.D("code", f.Code, "message", f.Message, "details", f.Details))), nil
	}
	return codec.Of(Report{
		OK: true, PerspectiveID: o.PerspectiveID, MarkdownPath: o.Path, Words: float64(verdict.Words), Sources: float64(verdict.Sources),
	}), nil
}
