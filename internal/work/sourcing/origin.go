package sourcing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

// setOrigins says of each source where it comes from, as far as the run shows that.
func (e *archived) setOrigins(ctx context.Context, sources []source.Source, records []source.Record) error {
	known, err := e.origins()
	if err != nil {
		return err
	}
	lacking := false
	for i := range sources {
		s := &sources[i]
		if e.replaced[s.CID] != "" || e.attached[s.CID] || strings.HasPrefix(s.Normalized, OwnDocuments) {
			known[s.Normalized] = source.Origin{Kind: source.FromPerson}
		}
		_, found := known[s.Normalized]
		lacking = lacking || !found
	}
	if lacking {
		if err := e.followLinks(ctx, sources, known); err != nil {
			return err
		}
	}
	for i := range records {
		origin, found := known[records[i].NormalizedURL]
		if !found {
			origin.Kind = source.FromNowhere
		}
		records[i].Origin = &origin
	}
	return nil
}

// origins are where URLs come from, by their normal form, without what pages link to. The
// person's word comes first, then the searches that the run keeps, then the clients'.
func (e *archived) origins() (map[string]source.Origin, error) {
	known := map[string]source.Origin{}
	add := func(url string, origin source.Origin) {
		if _, found := known[url]; !found {
			known[url] = origin
		}
	}
	for _, url := range source.URLsIn(e.run.Manifest().Query()) {
		add(url, source.Origin{Kind: source.FromPerson})
	}
	searches, err := e.shown(run.EventSearched)
	if err != nil {
		return nil, err
	}
	for _, search := range searches {
		id := search.Entry.Get("search_id").Str()
		if id == "" { // nobody answered
			continue
		}
		data, err := e.run.Folder().Read(SearchFile(id))
		if err != nil {
			return nil, err
		}
		doc, err := codec.ParseFile("path", e.run.Path(SearchFile(id)), data)
		if err != nil {
			return nil, err
		}
		for _, r := range doc.Get("results").Elems() {
			rank, _ := r.Get("rank").Int()
			if url, err := link.Normalize(r.Get("url").Str()); err == nil {
				add(url, source.Origin{Kind: source.FromSearch, Search: id, Rank: int(rank)})
			}
		}
	}
	return known, e.foundByClients(func(url string) { add(url, source.Origin{Kind: source.FromClient}) })
}

// shown are the lines of the log about some events, as far as they show origins.
func (e *archived) shown(events ...run.Event) ([]run.Entry, error) {
	lines, err := e.run.EventsOf(events...)
	if past := slices.IndexFunc(lines, func(l run.Entry) bool { return e.until > 0 && l.Number > e.until }); past >= 0 {
		lines = lines[:past]
	}
	return lines, err
}

// foundByClients hands over the URLs that the tools of agents' clients returned, as the
// kept events of the waves' attempts say, up to what the log has of them: an attempt goes
// on, and its events with it, after an answer was judged by them.
func (e *archived) foundByClients(each func(url string)) error {
	return e.eachKept("wave", func(events string) error {
		foundIn(events, each)
		return nil
	})
}

// eachKept visits the kept events of the attempts at jobs whose id begins in a way, up to
// what the log has of them.
func (e *archived) eachKept(jobs string, visit func(events string) error) error {
	lines, err := e.shown(run.EventAnswered, run.EventEnded)
	if err != nil {
		return err
	}
	kept := map[string]int{} // bytes, by the folder of the attempt
	for _, l := range lines {
		id := l.Entry.Get("job_id").Str()
		attempt, _ := l.Entry.Get("attempt").Int()
		if n, ok := l.Entry.Get("events").Int(); ok && strings.HasPrefix(id, jobs) {
			kept[run.AttemptDir(id, int(attempt))] = int(n)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(kept)) {
		data, err := e.run.Folder().Read(dir + "/events.jsonl")
		if err != nil {
			continue // what is gone shows nothing
		}
		if err := visit(string(data[:min(max(kept[dir], 0), len(data))])); err != nil {
			return err
		}
	}
	return nil
}

// foundIn hands over what tools returned in an attempt, but for what the agent had put
// into their input before: a page that says which address was asked for did not find it.
func foundIn(events string, each func(url string)) {
	said, found := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(events) {
		event, err := codec.Parse([]byte(line))
		if kind := event.Get("kind").Str(); err != nil || kind != "tool" && kind != "other" {
			continue
		}
		raw, err := codec.Parse([]byte(event.Get("raw").Str()))
		if err != nil {
			continue
		}
		source.ClientCalled(raw, func(text string) {
			for _, url := range source.URLsIn(text) {
				said[url] = said[url] || !found[url]
			}
		})
		source.ClientFound(raw, func(text string) {
			for _, url := range source.URLsIn(text) {
				if !said[url] {
					found[url] = true
					each(url)
				}
			}
		})
	}
}

// followLinks adds what archived pages link to whose own origin is known: a page that an
// agent made up says nothing about where another comes from.
func (e *archived) followLinks(ctx context.Context, sources []source.Source, known map[string]source.Origin) error {
	pages, wanted := map[string]archive.Entry{}, map[string]bool{}
	var queue []string
	for _, entry := range e.linking(sources) {
		url, err := link.Normalize(entry.URL)
		if _, seen := pages[url]; err != nil || seen || entry.Kind != archive.Responded {
			continue
		}
		pages[url], wanted[url] = entry, true
		if _, found := known[url]; found {
			queue = append(queue, url)
		}
	}
	for i := range sources {
		wanted[sources[i].Normalized] = true
	}
	for ; len(queue) > 0; queue = queue[1:] {
		entry, archived := pages[queue[0]]
		if !archived {
			continue
		}
		capture, err := e.whole.Read(ctx, entry)
		if err != nil {
			return err
		}
		last := capture.Last()
		for _, l := range page.Links(last.Body, last.Get("Content-Type")) {
			to, err := link.Resolve(last.URL, l.URL)
			if _, found := known[to]; err != nil || found || !wanted[to] || l.URL == "" {
				continue
			}
			known[to] = source.Origin{Kind: source.FromLink, Page: link.Mask(entry.URL)}
			queue = append(queue, to)
		}
	}
	return nil
}

// linking are the captures whose links show where URLs come from: those of the sources
// themselves, and those that the run has besides, as far as the log shows origins.
func (e *archived) linking(sources []source.Source) []archive.Entry {
	var entries []archive.Entry
	for i := range sources {
		if entry, found := e.entry(&sources[i]); found {
			entries = append(entries, entry)
		}
	}
	whole := e
	if e.parent != nil {
		whole = e.parent
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, entry := range whole.archive.Entries() {
		late := func(ref archive.Ref) bool { return e.until > 0 && whole.counts[ref.Digest] > e.until }
		if whole.archive.Counts(entry) && !slices.ContainsFunc(entry.Records, late) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// ofNowhere are the faults of sources whose origin nothing shows, where the run requires
// one.
func (e *archived) ofNowhere(sources []source.Source, records []source.Record) []SourceFault {
	var faults []SourceFault
	for i := range records {
		if e.originsKept != run.OriginsRequired || records[i].Origin == nil || records[i].Origin.Kind != source.FromNowhere {
			continue
		}
		url := tidegate.Cut(sources[i].URLs[0])
		faults = append(faults, SourceFault{
			Code: tidegate.OriginUnknown, Line: sources[i].FoundBy[0].Number,
			Message:    "nothing shows where the source " + url + " comes from: no search of the run found it, no page of the run links to it, and the person did not name it",
			ChangeNote: "Find the source by a search, name a page that was found and says the same, or take out the source and what rests on it: " + url,
		})
	}
	return faults
}
