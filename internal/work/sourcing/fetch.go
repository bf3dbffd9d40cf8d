package sourcing

import (
	"context"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Fetch fetches URLs, each once, and hands over the results as they come. This
// package reaches pages only by it, and opens no connection itself.
type Fetch func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error

// FetchInput are the arguments of [FetchSources].
type FetchInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Again        bool   `json:"again,omitzero" jsonschema:"also fetch the sources again that are blocked by what the archive has of them, and those whose address was refused, which a person may have allowed since"`
}

// FetchResult is the result of [FetchSources].
type FetchResult struct {
	OK          codec.True `json:"ok"`
	RunID       string     `json:"run_id"`
	Sensitivity string     `json:"sensitivity"`
	ArchivePath string     `json:"archive_path"`
	Sources     int        `json:"sources" jsonschema:"that the outputs cite"`
	Fetched     int        `json:"fetched" jsonschema:"in this call, whatever became of them"`
	Responded   int        `json:"responded" jsonschema:"of those fetched, how many have a response"`
	Missing     int        `json:"missing" jsonschema:"sources of which the archive has nothing, such as those that are not URLs"`
}

// FetchSources fetches the sources that the outputs of a run cite and that its
// archive does not have yet. Each record counts from the line of the log that
// names its digest. So a call that is killed loses at most what it was writing,
// and the next one goes on.
//
// It returns the errors of [run.Open] and [run.Run.Update], INVALID_STATE for a
// run whose sensitivity is no_web, in which nothing is fetched, and CANCELLED,
// after which what was fetched is kept.
func FetchSources(ctx context.Context, desk run.Desk, fetch Fetch, in FetchInput) (FetchResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *FetchResult) error {
		if sensitivity := r.Manifest().Sensitivity(); sensitivity == noWeb {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID(), "sensitivity", sensitivity),
				"the sensitivity of run %q is no_web, so nothing is fetched for it; `tidegate citations attach` gives it evidence", r.ID())
		}
		c, err := citedInRun(r)
		if err != nil {
			return err
		}
		e, err := openArchived(ctx, r)
		if err != nil {
			return err
		}
		urls, err := e.toFetch(ctx, c.sources, in.Again)
		if err != nil {
			return err
		}
		*out = FetchResult{RunID: r.ID(), Sensitivity: r.Manifest().Sensitivity(), ArchivePath: r.Path(archiveFile), Sources: len(c.sources)}
		err = e.fetch(ctx, fetch, urls, nil, func(batch []*archive.Packed) {
			out.Fetched += len(batch)
			for _, packed := range batch {
				if packed.Entry().Kind == archive.Responded {
					out.Responded++
				}
			}
		})
		if err == nil {
			_, err = e.lookUp(ctx, fetch, c.sources, func([]*archive.Packed) {})
		}
		for i := range c.sources {
			if _, found := e.entry(&c.sources[i]); !found {
				out.Missing++
			}
		}
		return err
	})
}

// toFetch lists the URLs whose pages are missing, in the order of the sources.
func (e *archived) toFetch(ctx context.Context, sources []source.Source, again bool) ([]string, error) {
	retried := map[string]bool{}
	if again {
		records, err := e.judge(ctx, sources)
		if err != nil {
			return nil, err
		}
		for i := range records {
			retried[records[i].CID] = records[i].Status == source.Blocked
		}
	}
	var urls []string
	for i := range sources {
		entry, found := e.entry(&sources[i])
		refused := again && entry.Kind == archive.Refused // a person may have allowed it since
		if url, ok := e.wanted(&sources[i]); ok && (!found || refused || retried[sources[i].CID]) {
			urls = append(urls, url)
		}
	}
	return urls, nil
}

// fetch fetches URLs into the archive, and calls progress with what was kept.
// What has come when ctx ends is kept. The given sources, which may be nil, will be
// judged next; they are judged as their pages come.
func (e *archived) fetch(ctx context.Context, fetch Fetch, urls []string, judged []source.Source, progress func([]*archive.Packed)) error {
	if len(urls) == 0 {
		return nil
	}
	f, err := frozenOf(ctx, e.run)
	if err != nil {
		return err
	}
	if f != nil {
		defer f.close()
		web := fetch
		fetch = func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
			return f.fetch(ctx, urls, keep, web)
		}
	}
	byURL := e.byPage(judged)
	keep := func(batch []*archive.Packed, more tidegate.Details) error {
		ctx := context.WithoutCancel(ctx)
		var records []archive.Ref
		_, err := e.run.Update(ctx, run.Unfinished(func(u *run.Update) error {
			var err error
			fields := append(tidegate.Pairs("sensitivity", e.run.Manifest().Sensitivity(), "captures", len(batch)), more...)
			records, err = e.keep(ctx, u, run.EventFetched, "citations_fetch", fields, batch...)
			return err
		}))
		if err != nil {
			return err
		}
		e.kept(records)
		progress(batch)
		return e.judgeKept(ctx, batch, byURL)
	}
	shared := e.sharing(ctx)
	if f == nil { // pages that it may not take from an earlier run have changed since
		if urls, err = e.takeShared(ctx, shared, urls, keep); err != nil || len(urls) == 0 {
			return err
		}
	}
	err = fetch(ctx, urls, func(batch []*archive.Packed) error {
		err := keep(batch, nil)
		if err == nil {
			e.share(shared, batch)
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return tidegate.Errorf(tidegate.Cancelled, tidegate.Pairs("run_id", e.run.ID()), "fetching was given up; what was fetched is kept, and the next call continues (%w)", ctx.Err())
	}
	return err
}

// Report shows what was fetched.
func (f FetchResult) Report() report.Report {
	r := report.Report{Name: "citations_fetch", Title: "Sources of run " + f.RunID, Status: report.Pass,
		Summary: report.Counted(f.Fetched, "source") + " fetched, of which " + strconv.Itoa(f.Responded) + " answered"}
	r.Add(report.Fields{{Name: "cited", Value: strconv.Itoa(f.Sources)}, {Name: "without evidence", Value: strconv.Itoa(f.Missing)}, {Name: "archive", Value: f.ArchivePath}})
	return r
}
