package sourcing

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// archived is what the sources of a run are judged by: its archive, as far as
// the log says that a record counts, and what a person decided.
type archived struct {
	run      *run.Run
	archive  *archive.List
	counts   map[string]int    // digests of records, and the line of the log by which each counts
	replaced map[string]string // cid → the URL that a person named in its place
	attached map[string]bool   // cids of the sources that a person attached a file to, later
	created  time.Time
	allowed  policy.Policy // which sources the run allows
	// dates are those by which searches found pages, by normalised URL; nil where the run
	// asks for no dates.
	dates map[string]string
	// originsKept says whether records say where URLs come from, as the run's policy has it.
	originsKept string
	// until is the last line of the log that shows where URLs come from; 0 for all of it.
	// What the judged sources' own pages link to counts whenever they were fetched.
	until int
	// frozen is the run whose archive answers in the place of the web.
	frozen run.Frozen

	lines int          // of the log about sources that were read
	last  *codec.Value // of them

	// judged has, by cid, the sources whose pages this process fetched and judged
	// before they were read back.
	judged map[string]source.Judgement

	parent *archived        // what this is a part of; nil for the whole
	mu     *sync.Mutex      // guards whole, which several may share, and what counts in it
	whole  *archive.Archive // to add to
}

// openArchived reads the log and the archive.
func openArchived(ctx context.Context, r *run.Run) (*archived, error) {
	e := newArchived(r)
	e.mu = new(sync.Mutex)
	if _, err := e.readLog(); err != nil {
		return nil, err
	}
	kept, err := r.Policy()
	if err != nil {
		return nil, err
	}
	e.allowed, e.originsKept, e.frozen = kept.Sources, kept.Origins, kept.Frozen
	if e.whole, err = archive.Open(ctx, r.Folder(), archiveFile, e.countsRecord); err != nil {
		return nil, err
	}
	e.archive = &e.whole.List
	return e, e.readDates(ctx)
}

// Pages is what was fetched for a run, as far as the log says that it counts. It returns
// the errors of reading the run.
func Pages(ctx context.Context, r *run.Run) (*archive.List, error) {
	e, err := openArchived(ctx, r)
	if err != nil {
		return nil, err
	}
	return e.archive, nil
}

func newArchived(r *run.Run) *archived {
	e := &archived{run: r, counts: map[string]int{}, replaced: map[string]string{}, attached: map[string]bool{}, judged: map[string]source.Judgement{}}
	e.created, _ = time.Parse(time.RFC3339Nano, r.Manifest().Doc().Get("created_at").Str())
	return e
}

// readLog takes in the lines of the log that were not read yet. It is false when the
// log does not go on from those that were. A fetch that a line of a no_web run claims
// does not count.
func (e *archived) readLog() (current bool, err error) {
	lines, err := e.run.EventsOf(run.EventFetched, run.EventSearched, run.EventAttached, run.EventReplaced)
	if err != nil {
		return false, err
	}
	if e.lines > len(lines) || e.lines > 0 && lines[e.lines-1].Entry != e.last {
		return false, nil
	}
	for _, line := range lines[e.lines:] {
		switch line.Event {
		case run.EventFetched, run.EventSearched:
			if line.Entry.Get("sensitivity").Str() != noWeb {
				e.count(line.Entry, line.Number)
			}
		case run.EventAttached:
			e.count(line.Entry, line.Number)
			e.attach(line.Entry.Get("cid").Str())
		case run.EventReplaced:
			e.replace(line.Entry.Get("cid").Str(), line.Entry.Get("url").Str())
		}
		e.lines, e.last = e.lines+1, line.Entry
	}
	return true, nil
}

func (e *archived) countsRecord(digest string) bool { return e.counts[digest] > 0 }

// readDates takes the dates of pages from what searches found, where the run asks for
// dates.
func (e *archived) readDates(ctx context.Context) error {
	if e.allowed.Since == "" && !e.allowed.Dated {
		return nil
	}
	lines, err := e.run.EventsOf(run.EventSearched)
	dates := map[string]string{}
	for _, line := range lines {
		if line.Entry.Get("search_id").Str() == "" { // nobody answered
			continue
		}
		made, err := e.searched(ctx, line.Entry)
		if err != nil {
			return err
		}
		for _, found := range made.Results {
			if url, err := link.Normalize(found.URL); err == nil && dates[url] == "" {
				dates[url] = found.Date
			}
		}
	}
	e.dates = dates
	return err
}

// about is a copy of the evidence that has what concerns some sources, and nothing
// else. It costs what there is about them, however large the archive is.
func (e *archived) about(sources []source.Source) *archived {
	part := newArchived(e.run)
	part.parent, part.mu, part.whole = e, e.mu, e.whole
	part.allowed, part.dates, part.originsKept, part.frozen = e.allowed, e.dates, e.originsKept, e.frozen
	var urls []string
	for i := range sources {
		source := &sources[i]
		urls = append(urls, attachedURL(source.CID))
		if url, ok := source.FetchURL(); ok {
			urls = append(urls, url)
		}
		if url, ok := e.replaced[source.CID]; ok {
			urls = append(urls, url)
			part.replaced[source.CID] = url
		}
		if e.attached[source.CID] {
			part.attached[source.CID] = true
		}
	}
	part.archive = e.archive.Of(urls, part.countsRecord)
	for _, entry := range part.archive.Entries() {
		for _, record := range entry.Records {
			if line := e.counts[record.Digest]; line > 0 {
				part.counts[record.Digest] = line
			}
		}
	}
	return part
}

// attach and replace are a person's decisions; the later one about a source counts.
func (e *archived) attach(cid string) {
	e.attached[cid] = true
	delete(e.replaced, cid)
}

func (e *archived) replace(cid, url string) {
	e.replaced[cid] = url
	delete(e.attached, cid)
}

const noWeb = "no_web"

func (e *archived) count(line *codec.Value, number int) {
	for _, record := range line.Get("records").Elems() {
		if digest := record.Get("digest").Str(); e.counts[digest] == 0 {
			e.counts[digest] = number
		}
	}
}

// keep adds captures to the archive, and then stages the lines by which their
// records count. Captures that do not count, because the update fails or the
// process is killed, are fetched again.
func (e *archived) keep(ctx context.Context, u *run.Update, event run.Event, kind string, fields tidegate.Details, batch ...*archive.Packed) ([]archive.Ref, error) {
	e.mu.Lock()
	entries, err := e.whole.Append(ctx, u.Lock(), batch...)
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if e.archive != &e.whole.List {
		e.archive.Add(entries...)
	}
	var records []archive.Ref
	for _, entry := range entries {
		records = append(records, entry.Records...)
	}
	for part := range slices.Chunk(records, store.RecordsPerLine) {
		u.Log(event, kind, append(slices.Clone(fields), tidegate.Pairs("archive", archiveFile, "records", part)...))
	}
	return records, nil
}

// kept makes the records count whose lines have just been added to the log.
func (e *archived) kept(records []archive.Ref) {
	for _, record := range records {
		e.counts[record.Digest] = math.MaxInt
	}
}

// judge judges sources by the evidence and nothing else.
func (e *archived) judge(ctx context.Context, sources []source.Source) ([]source.Record, error) {
	records, err := e.judgePages(ctx, sources)
	if err == nil && e.originsKept != "" {
		err = e.setOrigins(ctx, sources, records)
	}
	return records, err
}

// judgePages is judge without where the sources come from.
func (e *archived) judgePages(ctx context.Context, sources []source.Source) ([]source.Record, error) {
	return source.Judge(ctx, sources, source.Evidence{
		Page: e.page,
		Attached: func(ctx context.Context, cid string) (*source.Page, error) {
			if !e.attached[cid] {
				return nil, nil
			}
			return e.page(ctx, attachedURL(cid))
		},
		Replaced: e.replaced, Judged: e.judged, Work: e.work, Dates: e.dates, Policy: e.allowed, Created: e.created,
	})
}

// judgeKept judges those sources whose pages have just been kept, while the next
// ones are fetched. A packed capture is the same as the one in the archive.
func (e *archived) judgeKept(ctx context.Context, batch []*archive.Packed, byURL map[string][]*source.Source) error {
	judged := make([][]source.Judgement, len(batch))
	err := parallel.Each(ctx, len(batch), nil, func() func(int) error {
		return func(i int) error {
			capture := batch[i].Capture()
			for _, cited := range byURL[capture.URL] {
				judged[i] = append(judged[i], source.JudgePage(cited, PageOf(capture), e.allowed))
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	for i, packed := range batch {
		for k, source := range byURL[packed.Capture().URL] {
			e.judged[source.CID] = judged[i][k]
		}
	}
	return nil
}

// byPage has the sources that are judged by the page of their own URL, by that URL.
func (e *archived) byPage(sources []source.Source) map[string][]*source.Source {
	byURL := map[string][]*source.Source{}
	for i := range sources {
		source := &sources[i]
		if url, ok := e.wanted(source); ok && !e.attached[source.CID] && e.replaced[source.CID] == "" {
			byURL[url] = append(byURL[url], source)
		}
	}
	return byURL
}

// attachedURL is the name in the archive of the file that a person attached to a
// source.
func attachedURL(cid string) string { return "attached://" + cid }

// wanted is the URL whose page is the evidence of a source, apart from a file that
// a person attached. It is false for a source that cannot be fetched, and for one that
// the run does not allow, whatever its page says.
func (e *archived) wanted(source *source.Source) (string, bool) {
	url, ok := e.replaced[source.CID]
	if !ok {
		url, ok = source.FetchURL()
	}
	_, refused := e.allowed.Refuses(policy.Source{URL: url})
	return url, ok && !refused && !strings.HasPrefix(url, OwnDocuments)
}

// entry finds what the archive has of a source.
func (e *archived) entry(source *source.Source) (archive.Entry, bool) {
	if entry, found := e.archive.Find(attachedURL(source.CID)); found && e.attached[source.CID] {
		return entry, true
	}
	if url, ok := e.wanted(source); ok {
		return e.archive.Find(url)
	}
	return archive.Entry{}, false
}

// page reads what the archive has of a URL, nil when it has nothing.
func (e *archived) page(ctx context.Context, url string) (*source.Page, error) {
	entry, found := e.archive.Find(url)
	if !found {
		return nil, nil
	}
	capture, err := e.archive.Read(ctx, entry)
	if err != nil {
		return nil, err
	}
	return PageOf(capture), nil
}

// faults are what a capture without a response says about a source.
var faults = map[archive.Kind]source.Fault{
	archive.Refused: source.RefusedAddress, archive.NoSuchName: source.NoSuchName, archive.TimedOut: source.TimedOut, archive.BadTLS: source.BadTLS,
	archive.Unreachable: source.NoConnection, archive.Broken: source.NoConnection, archive.Redirects: source.TooManyRedirects,
	archive.Absent: source.Absent,
}

// PageOf is a capture in the form by which sources are judged.
func PageOf(c archive.Capture) *source.Page {
	last := c.Last()
	page := &source.Page{URL: c.URL, FetchedAt: c.Time, Body: last.Body, ContentType: last.Get("Content-Type"), Header: map[string][]string{}, Attached: c.Kind == archive.Attached}
	switch c.Kind {
	case archive.Attached:
		return page
	case archive.Responded:
		page.Status, page.FinalURL = last.Status, last.URL
		page.Truncated = last.Truncated == "length"
	case archive.Malformed:
		page.Fault = source.BadRedirect
		if len(c.Hops) == 0 {
			page.Fault = source.BadURL
		}
	default:
		page.Fault = faults[c.Kind]
	}
	for _, field := range last.Header {
		page.Header[field.Name] = append(page.Header[field.Name], field.Value)
	}
	for i, hop := range c.Hops {
		if i+1 < len(c.Hops) && hop.Status >= 300 && hop.Status < 400 {
			page.Redirects = append(page.Redirects, source.Hop{URL: hop.URL, Status: hop.Status})
		}
	}
	return page
}

// evidenceIndex is evidence/index.json: where the archive has the evidence of
// each source. It is made from the archive, for people and programs that read it
// without tidegate, and tidegate never relies on it.
type evidenceIndex struct {
	SchemaVersion string      `json:"schema_version"`
	RunID         string      `json:"run_id"`
	Archive       string      `json:"archive"`
	Items         []indexItem `json:"items"`
}

type indexItem struct {
	CID         string        `json:"cid"`
	URL         string        `json:"url"`
	Kind        archive.Kind  `json:"kind"`
	Offset      int64         `json:"offset"` // of the record that holds the page, or says why there is none
	Digest      string        `json:"digest"`
	FinalURL    string        `json:"final_url,omitzero"`
	Status      int           `json:"status,omitzero"`
	ContentType string        `json:"content_type,omitzero"`
	FetchedAt   string        `json:"fetched_at"`
	Records     []archive.Ref `json:"records"`
}

// index lists the evidence of the sources that have any, in their order.
func (e *archived) index(sources []source.Source) evidenceIndex {
	index := evidenceIndex{SchemaVersion: "evidence_index.v1", RunID: e.run.ID(), Archive: archiveFile, Items: []indexItem{}}
	for i := range sources {
		entry, found := e.entry(&sources[i])
		if !found {
			continue
		}
		record := entry.Records[len(entry.Records)-1]
		if (entry.Kind == archive.Responded || entry.Kind == archive.Attached) && len(entry.Records) > 1 {
			record = entry.Records[len(entry.Records)-2]
		}
		index.Items = append(index.Items, indexItem{
			CID: sources[i].CID, URL: entry.URL, Kind: entry.Kind, Offset: record.Offset, Digest: record.Digest, FinalURL: entry.FinalURL,
			Status: entry.Status, ContentType: entry.ContentType, FetchedAt: entry.Time.UTC().Format("2006-01-02T15:04:05.000Z"), Records: entry.Records,
		})
	}
	return index
}
