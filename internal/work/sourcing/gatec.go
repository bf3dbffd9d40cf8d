package sourcing

import (
	"bytes"
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// StaleCitations is the warning of gate C about a run whose records differ from
// what its archive gives.
const StaleCitations = "STALE_CITATIONS"

// JudgeC is the judge of gate C. It takes the URLs from the run's outputs and
// judges them from the archive again; the records must say the same.
func JudgeC(ctx context.Context, r *run.Run) (run.Judgement, error) {
	c, err := citedInRun(r)
	if err != nil {
		return run.Judgement{}, err
	}
	names := append(c.files, citationFilesOf(r).records, IndexFile)
	before, err := run.Bind(r.Folder(), names)
	if err != nil {
		return run.Judgement{}, err
	}
	out := run.Judgement{Gate: "C"}
	records, err := recordsOf(ctx, r, c, &out)
	if err != nil {
		return run.Judgement{}, err
	}
	if out.Bound, err = run.Bind(r.Folder(), names); err != nil {
		return run.Judgement{}, err
	}
	if codec.Digest(before.Value()) != codec.Digest(out.Bound.Value()) {
		return run.Judgement{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_root", r.Root()),
			"the outputs or the records change while they are judged; judge the gate again when nobody writes to the run")
	}
	found := source.ComputeGateC(c.sources, records)
	out.InputsDigest = found.InputsDigest
	m := found.Metrics
	out.Metrics = tidegate.Pairs("validated_url_rate", m.Validated, "invalid_url_rate", m.Invalid, "uncategorized_url_rate", m.Uncategorized,
		"archived_rate", m.Archived, "unchecked", m.Unchecked)
	if m.Origins != nil {
		counts := tidegate.Details{}
		for _, kind := range source.OriginKinds {
			counts = append(counts, tidegate.Detail{Key: string(kind), Value: m.Origins[kind]})
		}
		out.Metrics = append(out.Metrics, tidegate.Detail{Key: "origins", Value: counts})
	}
	out.Warnings = append(out.Warnings, found.Warnings...)
	if !found.Pass && len(found.Warnings) == 0 {
		out.Warnings = append(out.Warnings, "TOO_FEW_VALID_SOURCES")
	}
	return out, nil
}

// recordsOf are the records that gate C counts. It warns where the run keeps
// different ones.
func recordsOf(ctx context.Context, r *run.Run, c cited, out *run.Judgement) ([]source.Record, error) {
	name := citationFilesOf(r).records
	kept, err := r.Folder().Read(name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs("citations_path", r.Path(name)))
	}
	e, err := openArchived(ctx, r)
	if err != nil {
		return nil, err
	}
	records, err := e.judge(ctx, c.sources)
	if err != nil {
		return nil, err
	}
	judged, err := source.MarshalRecords(records)
	if err != nil {
		return nil, err
	}
	index, err := codec.MarshalFile(e.index(c.sources))
	if err != nil {
		return nil, err
	}
	keptIndex, err := r.Folder().Read(IndexFile)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return nil, err
	}
	switch {
	case !bytes.Equal(judged, kept):
		out.Warnings = append(out.Warnings, StaleCitations)
		out.Notes = name + " does not say what the archive gives; judge the sources again"
	case !bytes.Equal(index, keptIndex):
		out.Warnings = append(out.Warnings, StaleCitations)
		out.Notes = IndexFile + " is not that of the archive; judge the sources again"
	}
	return records, nil
}
