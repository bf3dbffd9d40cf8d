package audit

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// Sources are the sources of the report with what each is worth by the archive. It returns
// the errors of reading the audit.
func (a *Audit) Sources(ctx context.Context) ([]source.Source, []source.Record, error) {
	body, err := a.folder.Read(a.Report.File)
	if err != nil {
		return nil, nil, err
	}
	document, err := foreign.Read(a.Report.Name, body)
	if err != nil {
		return nil, nil, err
	}
	sources := document.Sources()
	records, err := source.Judge(ctx, sources, a.evidence())
	return sources, records, err
}

// Capture is what the archive has of a URL, with the places of its records; nil where it
// has nothing. It returns the errors of reading the archive.
func (a *Audit) Capture(ctx context.Context, url string) (*archive.Capture, []archive.Ref, error) {
	entry, found := a.archive.Find(url)
	if !found {
		return nil, nil, nil
	}
	capture, err := a.archive.Read(ctx, entry)
	return &capture, entry.Records, err
}
