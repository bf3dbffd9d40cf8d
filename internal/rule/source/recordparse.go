package source

import (
	"bytes"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// ParseRecords reads citations.jsonl as [MarshalRecords], or another program,
// wrote it. Every record needs a status and a normalized_url that no other record
// has; whatever else is there is taken. Path names the file in details.
//
// It returns INVALID_JSON with the number of the line and
// SCHEMA_VALIDATION_FAILED.
func ParseRecords(path string, data []byte) ([]Record, error) {
	records, seen := []Record{}, map[string]bool{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		at := tidegate.Pairs("citations_path", path, "line_number", number)
		v, err := codec.Parse(line)
		if err != nil {
			return nil, codec.NotJSON(at, path, err)
		}
		r := recordOf(v)
		switch {
		case r.NormalizedURL == "":
			return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, append(tidegate.Pairs("path", "$.normalized_url"), at...), "the record in line %d has no normalized_url", number)
		case r.Status == "":
			return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, append(tidegate.Pairs("path", "$.status"), at...), "the record in line %d has no status", number)
		case seen[r.NormalizedURL]:
			return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, append(tidegate.Pairs("path", "$.normalized_url"), at...),
				"the record in line %d is the second one of %s", number, tidegate.Cut(r.NormalizedURL))
		}
		seen[r.NormalizedURL] = true
		records = append(records, r)
	}
	return records, nil
}

func recordOf(v *codec.Value) Record {
	r := Record{
		SchemaVersion: v.Get("schema_version").Str(), NormalizedURL: v.Get("normalized_url").Str(), CID: v.Get("cid").Str(), URL: v.Get("url").Str(),
		URLOriginal: v.Get("url_original").Str(), Status: Status(v.Get("status").Str()), CheckedAt: v.Get("checked_at").Str(), FoundBy: []FoundBy{},
		Notes: v.Get("notes").Str(), Title: v.Get("title").Str(), Publisher: v.Get("publisher").Str(), Snippet: v.Get("evidence_snippet").Str(),
		Rule: v.Get("rule").Str(), Author: v.Get("author").Str(), Published: v.Get("published").Str(), SameAs: v.Get("same_as").Str(),
		ReplacedBy: v.Get("replaced_by").Str(), Attached: v.Get("attached").Bool(), Identifier: v.Get("identifier").Str(), Undated: v.Get("undated").Bool(), Origin: originOf(v.Get("origin")),
	}
	status, _ := v.Get("http_status").Int()
	r.HTTPStatus = int(status)
	for _, f := range v.Get("found_by").Elems() {
		wave, _ := f.Get("wave").Int()
		r.FoundBy = append(r.FoundBy, FoundBy{Wave: int(wave), Perspective: f.Get("perspective_id").Str(), AgentType: f.Get("agent_type").Str(),
			ArtifactPath: f.Get("artifact_path").Str(), SourceLine: f.Get("source_line").Str()})
	}
	return r
}
