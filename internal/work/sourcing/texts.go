package sourcing

import (
	"context"
	"sync"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Texts reads the texts of sources from the archive, each once.
type Texts struct {
	ctx    context.Context
	open   func() (*citedArchive, error)
	Shown  map[string]string
	Err    error
	Memory *store.Memory
	Name   string // in the memory: stands for all that texts follow from
	known  *knownTexts
}

// citedArchive is what the outputs of a run cite, and what its archive has of it.
type citedArchive struct {
	cited    cited
	archived *archived
}

// knownTexts are the texts that were read, by source. Several may share them.
type knownTexts struct {
	all bool // no other source has one

	mu sync.Mutex
	of map[string]knownText
}

type knownText struct {
	page.Content
	url string // where a reader finds it
	ok  bool   // the source is valid or paywalled, and has a text
}

// OpenTexts opens the texts of a run: its archive, where the memory of the call does not
// know what it has. A call with a memory needs all of them sooner or later, each time in
// another step, and reads them at once, so that not every step opens the archive.
func OpenTexts(ctx context.Context, r *run.Run) (t *Texts, err error) {
	t = &Texts{ctx: ctx, Shown: map[string]string{}, Memory: r.Desk().Memory}
	t.open = sync.OnceValues(func() (*citedArchive, error) { return openCited(ctx, r) })
	if t.Memory != nil {
		if t.Name, err = textsDigest(r); err != nil {
			return nil, err
		}
	}
	t.known, err = store.Recall(t.Memory, "texts "+t.Name, func() (*knownTexts, error) {
		from, err := t.open()
		if err != nil {
			return nil, err
		}
		known := &knownTexts{of: map[string]knownText{}}
		if t.Memory != nil {
			known.readAll(ctx, from)
		}
		return known, nil
	})
	return t, err
}

// readAll reads the texts of all sources. Where one cannot be read, each is left to who
// asks for it.
func (k *knownTexts) readAll(ctx context.Context, from *citedArchive) {
	sources := from.cited.sources
	texts := make([]knownText, len(sources))
	err := parallel.All(ctx, len(sources), func(i int) (err error) {
		texts[i], err = from.text(ctx, sources[i].CID)
		return err
	})
	if err != nil {
		return
	}
	for i := range sources {
		k.of[sources[i].CID] = texts[i]
	}
	k.all = true
}

func openCited(ctx context.Context, r *run.Run) (*citedArchive, error) {
	c, err := citedInRun(r)
	if err != nil {
		return nil, err
	}
	e, err := openArchived(ctx, r)
	return &citedArchive{c, e}, err
}

// textsDigest stands for everything that the texts of a run's sources follow from: what
// its outputs cite, the archive, the lines of the log by which its records count, and the
// policy.
func textsDigest(r *run.Run) (string, error) {
	parts := []any{r.Manifest().Doc().Get("created_at").Str(), r.Manifest().Query()}
	add := func(name string) error {
		digest, err := r.Folder().Digest(name)
		if err = artifact.UnlessMissing(err); err == nil {
			parts = append(parts, name, digest)
		}
		return err
	}
	waves, err := r.Waves()
	if err != nil {
		return "", err
	}
	names := []string{run.PolicyFile, archiveFile}
	for _, wave := range waves {
		outputs, err := r.Outputs(r.WaveDir(wave), nil)
		if err != nil {
			return "", err
		}
		names = append(append(names, r.ContractsOf(wave)), outputs...)
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return "", err
		}
	}
	lines, err := r.EventsOf(run.EventFetched, run.EventSearched, run.EventAttached, run.EventReplaced)
	for _, line := range lines {
		parts = append(parts, line.Number, line.Entry)
	}
	return codec.Digest(parts), err
}

// Text is the text of a source that is valid or paywalled; it is false for other
// sources, and for those without a text.
func (t *Texts) Text(cid string) (string, bool) {
	content, ok := t.Content(cid)
	return content.Text, ok
}

// Content is the page of such a source.
func (t *Texts) Content(cid string) (page.Content, bool) {
	known := t.text(cid)
	if known.ok {
		t.Shown[cid] = known.Text
	}
	return known.Content, known.ok
}

// URL is where a reader finds a source.
func (t *Texts) URL(cid string) string { return t.text(cid).url }

// text is what is known of a source, nothing after an error.
func (t *Texts) text(cid string) knownText {
	t.known.mu.Lock()
	defer t.known.mu.Unlock()
	known, found := t.known.of[cid]
	if found || t.known.all || t.Err != nil {
		return known
	}
	from, err := t.open()
	if err == nil {
		known, err = from.text(t.ctx, cid)
	}
	if t.Err = err; err != nil {
		return knownText{}
	}
	t.known.of[cid] = known
	return known
}

// text reads a source from the archive.
func (c *citedArchive) text(ctx context.Context, cid string) (knownText, error) {
	cited, err := c.cited.source(cid)
	if err != nil {
		return knownText{}, nil // nobody cites it
	}
	known := knownText{url: cited.Normalized}
	if url, ok := c.archived.wanted(cited); ok {
		known.url = url
	}
	records, err := c.archived.judgePages(ctx, []source.Source{*cited})
	if err != nil || !records[0].Usable() {
		return known, err
	}
	entry, found := c.archived.entry(cited)
	if !found {
		return known, nil
	}
	read, err := c.archived.page(ctx, entry.URL)
	if err != nil || read == nil {
		return known, err
	}
	known.Content = read.Content()
	known.ok = known.Text != ""
	return known, nil
}

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
