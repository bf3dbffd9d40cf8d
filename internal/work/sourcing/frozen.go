package sourcing

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

// frozen answers in the place of the web, or before it, from what counts in the archive of a
// finished run, and opens no connection.
type frozen struct {
	run   *run.Run
	pages *archived
	alone bool            // the web is not asked
	stale map[string]bool // pages that say something else since, by the key of their address
}

// frozenOf opens what answers a run in the place of the web or before it; nil where nothing
// does. It returns the errors of [run.Run.Sources], and READ_FAILED.
func frozenOf(ctx context.Context, r *run.Run) (*frozen, error) {
	sources, err := r.Sources(ctx)
	if err != nil || sources == nil {
		return nil, err
	}
	f := &frozen{run: sources, stale: map[string]bool{}}
	policy, err := r.Policy()
	if err == nil {
		f.alone = !policy.Frozen.IsZero()
		f.pages, err = openArchived(ctx, sources)
	}
	var earlier *run.Earlier
	if err == nil && !f.alone {
		earlier, err = r.Earlier()
	}
	if err != nil {
		sources.Close()
		return nil, err
	}
	if earlier != nil {
		for _, url := range earlier.Changed {
			f.stale[link.Key(url)] = true
		}
	}
	return f, nil
}

func (f *frozen) close() { f.run.Close() }

// AtHand is a [Fetch] that hands over what the run of a manifest has at hand of a finished
// one, and asks the web for the rest, unless it is answered by that run alone.
func AtHand(desk run.Desk, manifestPath string, web Fetch) Fetch {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		r, err := run.Open(ctx, desk, manifestPath)
		if err != nil {
			return err
		}
		defer r.Close()
		f, err := frozenOf(ctx, r)
		if err != nil {
			return err
		}
		if f == nil {
			return web(ctx, urls, keep)
		}
		defer f.close()
		return f.fetch(ctx, urls, keep, web)
	}
}

// fetch hands over what the archive has of URLs. Of others it says that it has nothing, or
// asks the web.
func (f *frozen) fetch(ctx context.Context, urls []string, keep func([]*archive.Packed) error, web Fetch) error {
	byPage := map[string]archive.Entry{}
	for _, entry := range f.pages.whole.Entries() {
		if f.pages.whole.Counts(entry) && (f.alone || entry.Kind == archive.Responded && entry.Status == 200 && !f.stale[link.Key(entry.URL)]) {
			byPage[link.Key(entry.URL)] = entry
		}
	}
	var others []string
	for _, url := range urls {
		entry, found := byPage[link.Key(url)]
		if !found && !f.alone {
			others = append(others, url)
			continue
		}
		c := archive.Capture{URL: url, Kind: archive.Absent, Time: f.run.Desk().Now(), Detail: "the archive of run " + f.run.ID() + " does not have it"}
		if found {
			var err error
			if c, err = f.pages.whole.Read(ctx, entry); err != nil {
				return err
			}
			c.URL = url
		}
		packed, err := archive.Pack(c)
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		return web(ctx, others, keep)
	}
	return ctx.Err()
}

// isData reports whether a body is for programs: registries answer so.
func isData(contentType string) bool {
	return strings.Contains(contentType, "json") || strings.Contains(contentType, "atom")
}

// call answers a search of the archive by its pages that can be read, and leaves others to a
// service.
func (f *frozen) call(service archive.Call) archive.Call {
	return func(ctx context.Context, name string, r archive.Request) (archive.Capture, error) {
		if !strings.HasPrefix(r.URL, search.Archive.URL) {
			return service(ctx, name, r)
		}
		pages, err := f.readable(ctx)
		now := f.run.Desk().Now()
		return archive.Capture{URL: name, Kind: archive.Responded, Time: now, Hops: []archive.Hop{{
			URL: r.URL, Method: r.Method, Time: now, Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "application/json"}},
			Body: search.InArchive(search.Request{URL: r.URL}, pages),
		}}}, err
	}
}

// readable are the pages that somebody cited or might have, each as it was fetched last.
func (f *frozen) readable(ctx context.Context) ([]search.Page, error) {
	var pages []search.Page
	seen := map[string]bool{}
	for _, entry := range f.pages.whole.Entries() {
		last, found := f.pages.archive.Find(entry.URL)
		if !found || seen[entry.URL] || last.Kind != archive.Responded || last.Status != 200 || !strings.HasPrefix(entry.URL, "http") || isData(last.ContentType) {
			continue
		}
		seen[entry.URL] = true
		capture, err := f.pages.whole.Read(ctx, last)
		if err != nil {
			return nil, err
		}
		hop := capture.Last()
		content := page.Read(hop.Body, hop.Get("Content-Type"))
		pages = append(pages, search.Page{URL: entry.URL, Title: content.Title, Text: content.Text, Date: content.Published})
	}
	return pages, nil
}
