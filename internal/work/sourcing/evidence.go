package sourcing

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Evidence is what a run keeps of its sources, for somebody who reads it.
type Evidence struct {
	from *citedArchive
	// Records are what the sources are worth, as the run keeps them.
	Records []source.Record
}

// OpenEvidence reads what a run keeps of its sources. It returns the errors of reading its
// log, archive, outputs and citations; a run that has judged no source is NOT_FOUND.
func OpenEvidence(ctx context.Context, r *run.Run) (*Evidence, error) {
	records, err := readRecords(r, "")
	if err != nil {
		return nil, err
	}
	from, err := openCited(ctx, r)
	return &Evidence{from, records}, err
}

// Source is a source with what the run keeps of it.
type Source struct {
	source.Source
	URL     string           // of the page that it is judged by; "" for a person's file
	Capture *archive.Capture // nil where the archive has nothing
	Records []archive.Ref    // of the capture
}

// Source finds a source of the run; nil for an id that it does not have. It returns the
// errors of reading the archive.
func (e *Evidence) Source(ctx context.Context, cid string) (*Source, error) {
	of, err := e.from.cited.source(cid)
	if err != nil {
		return nil, nil
	}
	out := &Source{Source: *of}
	archived := e.from.archived
	if url, ok := archived.wanted(of); ok && !archived.attached[cid] {
		out.URL = url
	}
	entry, found := archived.entry(of)
	if !found {
		return out, nil
	}
	capture, err := archived.archive.Read(ctx, entry)
	out.Capture, out.Records = &capture, entry.Records
	return out, err
}
