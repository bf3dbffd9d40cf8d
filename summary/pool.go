package summary

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// citationPool is what a build knows of the citations: the ids that may be
// cited, which are those with a line whose status is valid or paywalled, and,
// where a build asks for them, the URLs that stand for them.
type citationPool struct {
	ids  idSet
	urls *urlIndex // nil when no URLs were asked for
}

// read reads a citation pool, JSON lines of citation.v1, as a stream. It uses
// cid and status: a line without a string in both, or with a blank cid, is
// skipped. Every other known field must have its type where it is there.
//
// It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED with the number of the
// line, READ_FAILED and CANCELLED; path names the pool in their details.
func (p *citationPool) read(ctx context.Context, r io.Reader, path string) error {
	names := make([]string, len(citationFields))
	for i, f := range citationFields {
		names[i] = f.name
	}
	err := codec.EachLine(r, names, func(number int, members []codec.LineMember) error {
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
		return nil
	case errors.As(err, &syntax):
		return codec.NotJSON(tidegate.D("citations_path", path, "line_number", syntax.Line), path, syntax)
	case errors.As(err, &typed) || ctx.Err() != nil:
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, tidegate.D("citations_path", path), "%s cannot be read to its end: %w", path, err)
}

func (p *citationPool) line(path string, number int, members []codec.LineMember) error {
	cid, status := members[fieldCID], members[fieldStatus]
	if cid.Kind != codec.String || status.Kind != codec.String || len(bytes.TrimSpace(cid.Text)) == 0 {
		return nil
	}
	for i, f := range citationFields {
		if kind := members[i].Kind; kind != f.kind && kind != codec.Absent && kind != codec.Null {
			return tidegate.Errorf(tidegate.SchemaValidationFailed,
				tidegate.D("path", "$."+f.name, "citations_path", path, "line_number", number),
				"$.%s in line %s must be of type %v, got %v", f.name, strconv.Itoa(number), f.kind, kind)
		}
	}
	var rank byte
	switch string(status.Text) {
	case citationValid:
		rank = statusValid
	case citationPaywalled:
		rank = statusPaywalled
	default:
		return nil
	}
	ref, err := p.ids.add(cid.Text, rank)
	if err != nil {
		return err
	}
	if p.urls != nil && citable(cid.Text) {
		for rank, field := range []int{fieldNormalizedURL, fieldURL, fieldURLOriginal} {
			if url := members[field]; url.Kind == codec.String {
				p.urls.add(url.Text, ref, byte(rank))
			}
		}
	}
	return nil
}

// has reports whether an id may be cited.
func (p *citationPool) has(cid []byte) bool { return p.ids.find(cid) != 0 }

// citable reports whether an id can stand between [@ and ] in a summary: it
// must end where the citation ends, and bring no raw URL with it.
func citable(cid []byte) bool {
	urls := newURLFinder(cid)
	_, isURL := urls.next(0)
	return !isURL && !bytes.ContainsAny(cid, "]\r\n")
}
