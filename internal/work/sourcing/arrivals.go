package sourcing

import (
	"context"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Arrivals follow the archive of a run that goes on: each page is read and judged once.
type Arrivals struct {
	folder  *artifact.Folder
	archive *archive.Archive
	counts  map[string]bool // the digests of records that were fetched as sources
	seen    int             // entries of the archive
	last    []Arrival
}

// Arrival is a page that came in, and what it is worth by rule: nil where that cannot be told.
type Arrival struct {
	At     time.Time
	URL    string
	Record *source.Record
}

// Read returns the last most pages that came in, of a run whose log has these entries. What
// cannot be read does not arrive: the pages of the run say what is wrong.
func (a *Arrivals) Read(ctx context.Context, desk run.Desk, root string, entries []run.Entry, allowed policy.Policy, most int) []Arrival {
	if a.counts == nil {
		a.counts = map[string]bool{}
	}
	for _, e := range entries {
		if e.Event == run.EventFetched {
			for _, ref := range e.Entry.Get("records").Elems() {
				a.counts[ref.Get("digest").Str()] = true
			}
		}
	}
	if len(a.counts) == 0 {
		return nil
	}
	var err error
	if a.archive == nil {
		if a.folder, err = desk.Reach.Open("run", root); err != nil {
			return nil
		}
		if a.archive, err = archive.Open(ctx, a.folder, run.ArchiveFile, func(digest string) bool { return a.counts[digest] }); err != nil {
			a.Close()
			return nil
		}
	} else if err = a.archive.Refresh(ctx); err != nil {
		a.Close()
		return nil
	}
	all := a.archive.Entries()
	for i := max(a.seen, len(all)-most); i < len(all); i++ {
		if a.archive.Counts(all[i]) {
			a.last = append(a.last, Arrival{all[i].Time, all[i].URL, a.judged(ctx, all[i], allowed)})
		}
	}
	a.seen = len(all)
	a.last = a.last[max(0, len(a.last)-most):]
	return a.last
}

func (a *Arrivals) judged(ctx context.Context, entry archive.Entry, allowed policy.Policy) *source.Record {
	records, err := source.Judge(ctx, source.Sources([]source.Found{{Cited: source.Cited{URL: entry.URL}}}), source.Evidence{Policy: allowed,
		Page: func(ctx context.Context, _ string) (*source.Page, error) {
			capture, err := a.archive.Read(ctx, entry)
			if err != nil {
				return nil, err
			}
			return PageOf(capture), nil
		}})
	if err != nil || len(records) != 1 {
		return nil
	}
	return &records[0]
}

// Close closes the archive. Reading opens it again.
func (a *Arrivals) Close() {
	if a.folder != nil {
		a.folder.Close()
	}
	a.folder, a.archive, a.seen, a.last = nil, nil, 0, nil
}
