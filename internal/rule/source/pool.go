package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/link"
)

// Pool is the citations that may be cited: those with a line whose status is
// valid or paywalled. Where a reader asks for them, it also has the URLs that
// stand for them.
type Pool struct {
	valid  map[string]bool // false for a citation that is paywalled
	urls   map[string]naming
	wanted func(key string) bool
}

// ReadPool reads a citation pool, JSON lines of citation.v1, as a stream. It uses
// cid and status: a line without a string in both, or with a blank cid, is
// skipped. Every other known field must have its type where it is present. A cid
// that is valid on one line and paywalled on another is valid. The pool also knows
// the citation of each URL whose key is wanted; wanted may be nil.
//
// It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED with the number of the
// line, READ_FAILED and CANCELLED; path names the pool in their details.
func ReadPool(ctx context.Context, r io.Reader, path string, wanted func(key string) bool) (*Pool, error) {
	p := &Pool{valid: map[string]bool{}, urls: map[string]naming{}, wanted: wanted}
	err := codec.EachLine(r, fieldNames(), func(number int, members []codec.LineMember) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.line(path, number, members)
	})
	var (
		syntax *codec.SyntaxError
		typed  *tidegate.Error
	)
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &syntax):
		return nil, codec.NotJSON(tidegate.Pairs("citations_path", path, "line_number", syntax.Line), path, syntax)
	case errors.As(err, &typed) || ctx.Err() != nil:
		return nil, err
	}
	return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("citations_path", path), "%s cannot be read to its end: %w", path, err)
}

func (p *Pool) line(path string, number int, members []codec.LineMember) error {
	cid, status := members[fieldCID], members[fieldStatus]
	if cid.Kind != codec.String || status.Kind != codec.String || len(bytes.TrimSpace(cid.Text)) == 0 {
		return nil
	}
	for i, f := range fields {
		if kind := members[i].Kind; kind != f.kind && kind != codec.Absent && kind != codec.Null {
			return tidegate.Errorf(tidegate.SchemaValidationFailed,
				tidegate.Pairs("path", "$."+f.name, "citations_path", path, "line_number", number),
				"$.%s in line %s must be of type %v, got %v", f.name, strconv.Itoa(number), f.kind, kind)
		}
	}
	valid := Status(status.Text) == Valid
	if !valid && Status(status.Text) != Paywalled {
		return nil
	}
	id := string(cid.Text)
	p.valid[id] = p.valid[id] || valid
	if p.wanted != nil && claim.Citable(cid.Text) {
		for rank, field := range []int{fieldNormalizedURL, fieldURL, fieldURLOriginal} {
			if url := members[field]; url.Kind == codec.String {
				p.addURL(string(url.Text), id, rank)
			}
		}
	}
	return nil
}

// Has reports whether an id may be cited.
func (p *Pool) Has(cid string) bool {
	_, known := p.valid[cid]
	return known
}

// Paywalled reports whether an id may be cited and all its lines say that its page
// is behind a paywall.
func (p *Pool) Paywalled(cid string) bool {
	valid, known := p.valid[cid]
	return known && !valid
}

// CIDs are the ids that may be cited, in byte order.
func (p *Pool) CIDs() []string { return slices.Sorted(maps.Keys(p.valid)) }

// Citable reports whether an id may be cited, and reads as itself in a citation.
func (p *Pool) Citable(cid string) bool { return p.Has(cid) && claim.Citable([]byte(cid)) }

// naming is the citation of a URL. A lower rank has more authority: normalized_url
// belongs to one citation, while url and url_original may have lost what
// distinguished two of them.
type naming struct {
	cid  string // "" when two citations have the URL: then neither is known to be meant
	rank int
}

func (p *Pool) addURL(raw, cid string, rank int) {
	key := link.Key(raw)
	if !p.wanted(key) {
		return
	}
	was, taken := p.urls[key]
	switch {
	case !taken || rank < was.rank:
		p.urls[key] = naming{cid, rank}
	case rank == was.rank && cid != was.cid:
		p.urls[key] = naming{"", rank}
	}
}

// CIDOf is the citation that stands for a URL as it is written in a text, ""
// when there is none. A URL without a scheme is looked for with both.
func (p *Pool) CIDOf(url string) string {
	keys := link.Keys(url)
	if len(keys) == 1 {
		return p.urls[keys[0]].cid
	}
	secure, isSecure := p.urls[keys[0]]
	plain, isPlain := p.urls[keys[1]]
	switch {
	case !isPlain || secure == plain:
		return secure.cid
	case !isSecure:
		return plain.cid
	}
	return ""
}
