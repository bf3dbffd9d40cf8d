package step

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
)

// fixtures are verdicts on sources that a caller hands in. They count in legacy
// runs only; elsewhere a source is judged by evidence.
type fixtures struct {
	items []*codec.Value          // cleaned, in file order
	byKey map[string]*codec.Value // by normalized_url, url_original and cid
}

// fixtureFields are the fields of a verdict, except http_status.
var fixtureFields = []string{"normalized_url", "url_original", "cid", "status", "url", "title", "publisher", "evidence_snippet", "notes"}

// readFixtures reads verdicts: a list, an object with the list items, or an
// object of normalised URL to verdict or status. It is nil without a path. It
// returns NOT_FOUND, READ_FAILED, INVALID_JSON and SCHEMA_VALIDATION_FAILED.
func readFixtures(ctx context.Context, arg, path string) (*fixtures, error) {
	if path == "" {
		return nil, nil
	}
	doc, err := artifact.ReadJSON(ctx, arg, path)
	if err != nil {
		return nil, err
	}
	f := &fixtures{byKey: map[string]*codec.Value{}}
	list := doc
	if doc.Kind() == codec.Object {
		list = doc.Get("items")
	}
	switch {
	case list.Kind() == codec.Array:
		for i, entry := range list.Elems() {
			if entry.Kind() != codec.Object {
				return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D(arg, path, "index", i), "verdict %d must be an object", i)
			}
			f.add(entry)
		}
	case doc.Kind() == codec.Object:
		for _, m := range doc.Members() {
			entry := m.Value.Clone()
			if m.Value.Kind() == codec.String {
				entry = codec.NewObject()
				entry.Set("status", m.Value)
			} else if m.Value.Kind() != codec.Object {
				return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D(arg, path, "normalized_url", tidegate.Cut(m.Key)), "a verdict must be an object or a status")
			}
			entry.Set("normalized_url", codec.Of(m.Key))
			f.add(entry)
		}
	default:
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D(arg, path), "verdicts must be a list or an object")
	}
	return f, nil
}

// add keeps what a verdict says, blank texts left out.
func (f *fixtures) add(entry *codec.Value) {
	clean := codec.NewObject()
	for _, name := range fixtureFields {
		if text := strings.TrimSpace(entry.Get(name).Str()); text != "" {
			clean.Set(name, codec.Of(text))
		}
	}
	if status, ok := entry.Get("http_status").Float(); ok {
		clean.Set("http_status", codec.Of(int64(status)))
	}
	f.items = append(f.items, clean)
	for _, name := range []string{"normalized_url", "url_original", "cid"} {
		if key := clean.Get(name).Str(); key != "" {
			f.byKey[name+" "+key] = clean
		}
	}
}

// digest is the digest of the verdicts, nil without any.
func (f *fixtures) digest() any {
	if f == nil {
		return nil
	}
	return codec.Digest(tidegate.D("schema", "citations_validate.offline_fixtures.v1", "items", append([]*codec.Value{}, f.items...)))
}

// apply puts verdicts in place of what the evidence says.
func (f *fixtures) apply(sources []source.Source, records []source.Record) {
	if f == nil {
		return
	}
	for i := range records {
		r := &records[i]
		verdict := f.byKey["normalized_url "+r.NormalizedURL]
		for _, url := range sources[i].URLs {
			if verdict == nil {
				verdict = f.byKey["url_original "+url]
			}
		}
		if verdict == nil {
			verdict = f.byKey["cid "+r.CID]
		}
		if verdict == nil {
			continue
		}
		r.Status, r.Rule = source.Invalid, "fixture"
		switch status := source.Status(verdict.Get("status").Str()); status {
		case source.Valid, source.Paywalled, source.Blocked, source.Mismatch:
			r.Status = status
		}
		if r.Notes = verdict.Get("notes").Str(); r.Notes == "" {
			r.Notes = "fixture status=" + string(r.Status)
		}
		if url := verdict.Get("url").Str(); url != "" {
			r.URL = link.Mask(url)
		}
		status, _ := verdict.Get("http_status").Int()
		r.HTTPStatus = int(status)
		r.Title, r.Publisher, r.Snippet = verdict.Get("title").Str(), verdict.Get("publisher").Str(), verdict.Get("evidence_snippet").Str()
	}
}
