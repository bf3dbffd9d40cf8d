package step

import (
	"context"
	"slices"
	"sync"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

// pageTexts reads the texts of sources from the archive, each once.
type pageTexts struct {
	ctx    context.Context
	open   func() (*citedArchive, error)
	read   map[string]string
	err    error
	memory *run.Memory
	name   string // in the memory: stands for all that texts follow from
	known  *knownTexts
}

// citedArchive is what the outputs of a run cite, and what its archive has of it.
type citedArchive struct {
	cited    cited
	archived *archived
}

// knownTexts are the texts that were read, by source. Several may share them.
type knownTexts struct {
	archived bool // the run keeps pages to look at
	all      bool // no other source has one

	mu sync.Mutex
	of map[string]knownText
}

type knownText struct {
	page.Content
	url string // where a reader finds it
	ok  bool   // the source is valid or paywalled, and has a text
}

// openTexts opens the texts of a run: its archive, where the memory of the call does not
// know what it has. A call with a memory needs all of them sooner or later, each time in
// another step, and reads them at once, so that not every step opens the archive.
func openTexts(ctx context.Context, r *run.Run) (t *pageTexts, err error) {
	t = &pageTexts{ctx: ctx, read: map[string]string{}, memory: r.Desk().Memory}
	t.open = sync.OnceValues(func() (*citedArchive, error) { return openCited(ctx, r) })
	if t.memory != nil {
		if t.name, err = textsDigest(r); err != nil {
			return nil, err
		}
	}
	t.known, err = run.Recall(t.memory, "texts "+t.name, func() (*knownTexts, error) {
		from, err := t.open()
		if err != nil {
			return nil, err
		}
		known := &knownTexts{archived: len(from.archived.counts) > 0, of: map[string]knownText{}}
		if t.memory != nil {
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

// ground checks the claims of a document against the texts of its sources.
func (t *pageTexts) ground(document []byte) (claim.Grounding, error) {
	found := claim.Ground(document, t.of)
	return found, t.err
}

// links lead a reader to each match on its page.
func (t *pageTexts) links(found claim.Grounding) map[claim.Match]string {
	on := map[string][]claim.Match{}
	for _, claim := range found.Claims {
		for _, match := range slices.Concat(claim.Quotations, claim.Numbers) {
			on[match.CID] = append(on[match.CID], match)
		}
	}
	links := map[claim.Match]string{}
	for cid, matches := range on {
		for _, match := range claim.Confirm(t.read[cid], matches) {
			links[match] = link.TextLink(t.url(cid), t.read[cid], match.Start, match.End)
		}
	}
	return links
}

// claims are the claims of a document that have something to look for, with links
// to what was found.
func (t *pageTexts) claims(document []byte) ([]claim.Claim, error) {
	found, err := t.ground(document)
	if err != nil {
		return nil, err
	}
	links := t.links(found)
	var claims []claim.Claim
	for _, c := range found.Claims {
		if len(c.Quotations)+len(c.Numbers) == 0 {
			continue
		}
		for _, list := range [][]claim.Match{c.Quotations, c.Numbers} {
			for i := range list {
				list[i].Link = links[list[i]]
			}
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// of is the text of a source that is valid or paywalled; it is false for other
// sources, and for those without a text.
func (t *pageTexts) of(cid string) (string, bool) {
	content, ok := t.content(cid)
	return content.Text, ok
}

// content is the page of such a source.
func (t *pageTexts) content(cid string) (page.Content, bool) {
	known := t.text(cid)
	if known.ok {
		t.read[cid] = known.Text
	}
	return known.Content, known.ok
}

// url is where a reader finds a source.
func (t *pageTexts) url(cid string) string { return t.text(cid).url }

// text is what is known of a source, nothing after an error.
func (t *pageTexts) text(cid string) knownText {
	t.known.mu.Lock()
	defer t.known.mu.Unlock()
	known, found := t.known.of[cid]
	if found || t.known.all || t.err != nil {
		return known
	}
	from, err := t.open()
	if err == nil {
		known, err = from.text(t.ctx, cid)
	}
	if t.err = err; err != nil {
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
