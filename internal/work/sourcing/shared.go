package sourcing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// A page that a run fetched is noted in a folder beside the runs, in one file for each page
// and day: which run, when, and which records of its archive. The note is never the truth. A
// run that uses a page reads the records where they lie, by their digests, and only if the log
// of that run says that it fetched them; then it keeps them itself. So notes can be deleted at
// any time, and what nobody fetched here, such as an imported run or a person's files, is
// never shared.

// sharedDir is the folder of the notes.
const sharedDir = "archive"

const sharedSchema = "shared_page.v1"

// sharedPage is a note.
type sharedPage struct {
	SchemaVersion string        `json:"schema_version"`
	URL           string        `json:"url"`
	RunID         string        `json:"run_id"`
	FetchedAt     string        `json:"fetched_at"`
	Records       []archive.Ref `json:"records"`
}

const dayForm = "2006-01-02"

// sharedName is the file of the note about a page that was fetched at a day.
func sharedName(s *run.Shared, url string, day time.Time) string {
	sum := sha256.Sum256([]byte(s.Like + "\n" + url))
	return sharedDir + "/" + day.UTC().Format(dayForm) + "/" + hex.EncodeToString(sum[:]) + ".json"
}

// sharing is what the run shares, nil for nothing. Where that cannot be found out, every page
// is fetched.
func (e *archived) sharing(ctx context.Context) *run.Shared {
	find := e.run.Desk().Sharing
	if find == nil {
		return nil
	}
	s, err := find(ctx)
	if err != nil {
		return nil
	}
	return s
}

// share notes pages that were fetched and that count by now, for other runs.
func (e *archived) share(s *run.Shared, batch []*archive.Packed) {
	if s == nil || e.run.Manifest().Sensitivity() != synthesis.Normal || filepath.Dir(e.run.Root()) != filepath.Clean(s.Runs) {
		return
	}
	home, err := s.Reach.Open("home", filepath.Dir(s.Runs))
	if err != nil {
		return
	}
	defer home.Close()
	for _, packed := range batch {
		c := packed.Capture()
		entry, found := e.archive.Find(c.URL)
		if !packed.Fetched || !found || !canShare(c) {
			continue
		}
		note, err := codec.MarshalFile(sharedPage{sharedSchema, c.URL, e.run.ID(), tidegate.Stamp(c.Time), entry.Records})
		if err == nil {
			_ = home.Write(sharedName(s, c.URL, c.Time), note) // the others fetch it then
		}
	}
	if days, err := home.List(sharedDir); err == nil {
		for _, day := range days {
			if at, err := time.Parse(dayForm, day.Name()); err == nil && e.run.Desk().Now().Sub(at) > mostShared {
				_ = home.RemoveFolder(sharedDir + "/" + day.Name())
			}
		}
	}
}

// mostShared is how long notes are kept: longer than any may be used.
const mostShared = 32 * 24 * time.Hour

// canShare holds for a page that came whole.
func canShare(c archive.Capture) bool {
	last := c.Last()
	return c.Kind == archive.Responded && last.Status == 200 && last.Truncated == ""
}

// takeShared keeps the pages that other runs fetched lately, each with the line of the log
// that names where it is from, and returns the URLs that are left to fetch. A page that the
// run has is fetched, because it is asked for again.
func (e *archived) takeShared(ctx context.Context, s *run.Shared, urls []string, keep func([]*archive.Packed, tidegate.Details) error) (rest []string, err error) {
	if s == nil {
		return urls, nil
	}
	others := map[string]*otherRun{}
	defer func() {
		for _, o := range others {
			o.close()
		}
	}()
	for _, url := range urls {
		var packed *archive.Packed
		var note sharedPage
		if _, has := e.archive.Find(url); !has && ctx.Err() == nil {
			packed, note = e.ofOther(ctx, s, url, others)
		}
		if packed == nil {
			rest = append(rest, url)
			continue
		}
		from := tidegate.Pairs("url", url, "run_id", note.RunID, "fetched_at", note.FetchedAt, "record", note.Records[len(note.Records)-1].Digest)
		if err := keep([]*archive.Packed{packed}, tidegate.Pairs("shared", from)); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// ofOther is the page of a URL that another run fetched lately, nil where there is none that
// can be relied on.
func (e *archived) ofOther(ctx context.Context, s *run.Shared, url string, others map[string]*otherRun) (*archive.Packed, sharedPage) {
	now := e.run.Desk().Now()
	for day := now; now.Sub(day) < s.Fresh+24*time.Hour; day = day.Add(-24 * time.Hour) {
		data, err := s.Reach.ReadDocument("home", filepath.Join(filepath.Dir(s.Runs), filepath.FromSlash(sharedName(s, url, day))))
		var note sharedPage
		if err != nil || json.Unmarshal(data, &note) != nil || note.SchemaVersion != sharedSchema || run.CheckID(note.RunID) != nil || note.RunID == e.run.ID() {
			continue
		}
		if others[note.RunID] == nil {
			others[note.RunID] = openOther(ctx, e.run.Desk(), s, note.RunID)
		}
		packed := others[note.RunID].read(ctx, note.Records)
		if packed == nil {
			continue
		}
		if c := packed.Capture(); c.URL == url && canShare(c) && now.Sub(c.Time) <= s.Fresh && !c.Time.After(now) && tidegate.Stamp(c.Time) == note.FetchedAt {
			return packed, note
		}
	}
	return nil, sharedPage{}
}

// otherRun is another run of the home, as far as it shares what it fetched.
type otherRun struct {
	run     *run.Run
	fetched map[string]bool // digests of the records that it fetched
}

// openOther opens a run. One that cannot be read, or that does not share, has nothing.
func openOther(ctx context.Context, desk run.Desk, s *run.Shared, id string) *otherRun {
	desk.Reach = s.Reach
	r, err := run.Open(ctx, desk, filepath.Join(s.Runs, id, run.ManifestFile))
	if err != nil {
		return &otherRun{}
	}
	o := &otherRun{r, map[string]bool{}}
	lines, err := r.EventsOf(run.EventFetched)
	if err != nil || r.ID() != id || r.Manifest().Sensitivity() != synthesis.Normal {
		return o
	}
	for _, line := range lines {
		if line.Entry.Get("sensitivity").Str() != synthesis.Normal {
			continue
		}
		for _, record := range line.Entry.Get("records").Elems() {
			o.fetched[record.Get("digest").Str()] = true
		}
	}
	return o
}

func (o *otherRun) close() {
	if o.run != nil {
		o.run.Close()
	}
}

// read reads a capture, nil where the run did not fetch it or no longer has it.
func (o *otherRun) read(ctx context.Context, records []archive.Ref) *archive.Packed {
	if len(records) == 0 || slices.ContainsFunc(records, func(r archive.Ref) bool { return !o.fetched[r.Digest] }) {
		return nil
	}
	packed, err := archive.ReadPacked(ctx, o.run.Folder(), archiveFile, records)
	if err != nil {
		return nil
	}
	return packed
}
