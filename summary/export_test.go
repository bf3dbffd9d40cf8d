package summary

import (
	"context"
	"io"
	"strings"

	"github.com/tidegate/tidegate/markdown"
)

// FindURLs lists the raw URLs of a text, trimmed.
func FindURLs(text string) []string {
	var found []string
	finder := newURLFinder([]byte(text))
	for at := 0; ; {
		url, ok := finder.next(at)
		if !ok {
			return found
		}
		url = trimURL([]byte(text), url)
		found = append(found, text[url.start:url.end])
		at = url.end
	}
}

// FindCitations lists what stands between the brackets of the citations of a
// text.
func FindCitations(text string) []string {
	var found []string
	for at := 0; ; {
		citation, ok := nextCitation([]byte(text), at)
		if !ok {
			return found
		}
		found = append(found, string(citation.cid([]byte(text))))
		at = citation.end
	}
}

// URLKey is urlKey.
func URLKey(url string) string { return urlKey(url) }

// Pool is what a build knows of the citations, and LeftOut what a generated
// summary does not hold of its output.
type (
	Pool    = citationPool
	LeftOut = leftOut
)

// CIDs lists the ids that may be cited, in byte order, with a star after the
// paywalled ones.
func (p *citationPool) CIDs() []string {
	cids := []string{}
	for _, ref := range p.ids.sorted() {
		cid := string(p.ids.text(ref))
		if p.ids.status(ref) == statusPaywalled {
			cid += "*"
		}
		cids = append(cids, cid)
	}
	return cids
}

// CIDOf is the cid that stands for a URL, "" when none does.
func (p *citationPool) CIDOf(url string) string {
	ref := p.urls.find([]byte(url))
	if ref == 0 {
		return ""
	}
	return string(p.ids.text(ref))
}

// Has is has.
func (p *citationPool) Has(cid string) bool { return p.has([]byte(cid)) }

// Carry is the text that a generated summary carries of a passage.
func (p *citationPool) Carry(passage string) string {
	text, _ := (&carrier{pool: p}).carry([]byte(passage))
	return string(text)
}

// Clean reports whether a text has no raw URL and no unknown citation.
func (p *citationPool) Clean(text string) bool { return (&carrier{pool: p}).clean([]byte(text)) }

// Stream is the fault of a text that is read in windows.
func (p *citationPool) Stream(text string) error {
	h := newHygiene(p)
	if err := h.stream(strings.NewReader(text)); err != nil {
		return err
	}
	return h.fault("p")
}

// Whole is the fault of a text that is in memory.
func (p *citationPool) Whole(text string) error {
	h := newHygiene(p)
	h.whole([]byte(text))
	return h.fault("p")
}

// Generate is the summary of an output, of at most limit bytes, made from a draft
// for one of at most held bytes, and what it leaves out.
func (p *citationPool) Generate(output []byte, limit, held int) (string, LeftOut) {
	d, err := (&writer{pool: p}).read(strings.NewReader(string(output)), held)
	if err != nil {
		panic(err)
	}
	text, left := d.compose(limit)
	return string(text), left
}

// Check is check.
func (s Summary) Check(path string) error { return s.check(path) }

// ReadPool reads a pool, with all URLs that it has when they are asked for.
func ReadPool(ctx context.Context, r io.Reader, path string, withURLs bool) (*Pool, error) {
	p := &Pool{}
	if withURLs {
		p.urls = &urlIndex{refs: map[string]urlRef{}}
	}
	return p, p.read(ctx, r, path)
}

// ReadPoolFor reads a pool with the URLs that an output names, and says how many
// URLs it holds.
func ReadPoolFor(ctx context.Context, pool, output string) (*Pool, int, error) {
	wanted := newURLFilter()
	if err := wanted.addFrom(new(markdown.Scanner), strings.NewReader(output)); err != nil {
		return nil, 0, err
	}
	p := &Pool{urls: &urlIndex{refs: map[string]urlRef{}, wanted: wanted}}
	err := p.read(ctx, strings.NewReader(pool), "/pool")
	return p, len(p.urls.refs), err
}
