package source

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Record is one line of citations.jsonl: a source and what it is worth.
type Record struct {
	SchemaVersion string    `json:"schema_version"`
	NormalizedURL string    `json:"normalized_url"`
	CID           string    `json:"cid"`
	URL           string    `json:"url"`          // of the page that was read, credentials masked
	URLOriginal   string    `json:"url_original"` // the first in byte order of those that outputs have, credentials masked
	Status        Status    `json:"status"`
	CheckedAt     string    `json:"checked_at"` // when the page was fetched
	FoundBy       []FoundBy `json:"found_by"`
	Notes         string    `json:"notes"` // the reason of the status
	HTTPStatus    int       `json:"http_status,omitzero"`
	Title         string    `json:"title,omitzero"`
	Publisher     string    `json:"publisher,omitzero"`
	Snippet       string    `json:"evidence_snippet,omitzero"` // how the text begins
	Rule          string    `json:"rule"`                      // the rule of [Rules] that decided
	Author        string    `json:"author,omitzero"`
	Published     string    `json:"published,omitzero"` // a date as far as the page gives one
	SameAs        string    `json:"same_as,omitzero"`   // the cid of the same page under another URL
	ReplacedBy    string    `json:"replaced_by,omitzero"`
	Attached      bool      `json:"attached,omitzero"`
	Identifier    string    `json:"identifier,omitzero"` // doi:, arxiv:, pmid: or isbn: of a paper or book
	Undated       bool      `json:"undated,omitzero"`    // the run asks for dates, and the page has none
	Origin        *Origin   `json:"origin,omitzero"`     // nil in a run that does not keep it
}

// FoundBy is where an output names a source.
type FoundBy struct {
	Wave         int    `json:"wave"`
	Perspective  string `json:"perspective_id"`
	AgentType    string `json:"agent_type"`
	ArtifactPath string `json:"artifact_path"`
	SourceLine   string `json:"source_line,omitzero"`
}

// Archived reports whether the archive has something to judge the source by.
func (r *Record) Archived() bool { return r.HTTPStatus != 0 || r.Attached }

// Usable reports whether the source may be cited.
func (r *Record) Usable() bool { return r.Status.usable() }

// The lengths in characters of what a record quotes.
const (
	snippetLength = 240
	nameLength    = 300
)

// record makes the record of a judged subject.
func (s *subject) record(created time.Time) Record {
	rule, notes := s.judge()
	r := Record{
		SchemaVersion: version,
		NormalizedURL: s.source.Normalized,
		CID:           s.source.CID,
		URL:           link.Mask(s.source.URLs[0]),
		URLOriginal:   link.Mask(s.source.URLs[0]),
		Status:        rule.Status,
		CheckedAt:     tidegate.Stamp(created),
		FoundBy:       []FoundBy{},
		Notes:         tidegate.Cut(notes),
		Rule:          rule.Name,
		Identifier:    s.id.String(),
	}
	for _, f := range s.source.FoundBy {
		r.FoundBy = append(r.FoundBy, FoundBy{Wave: f.Wave, Perspective: f.Perspective, AgentType: f.AgentType, ArtifactPath: f.ArtifactPath, SourceLine: link.Mask(f.Line)})
	}
	if s.page == nil {
		return r
	}
	r.CheckedAt = tidegate.Stamp(s.page.FetchedAt)
	r.HTTPStatus = s.page.Status
	r.Attached = s.page.Attached
	if !s.page.Attached {
		r.URL = link.Mask(s.page.final())
	}
	if r.Status.usable() {
		r.Title = cutRunes(visible(s.content.Title), nameLength)
		r.Publisher = cutRunes(visible(s.content.Publisher), nameLength)
		r.Author = cutRunes(visible(s.content.Author), nameLength)
		r.Published = s.content.Published
		s.registered(&r)
		r.Undated = s.policy.Since != "" && !s.page.Attached && s.date() == ""
		r.Snippet = cutRunes(visible(page.CutBytes(s.content.Text, utf8.UTFMax*snippetLength)), snippetLength)
	}
	return r
}

// cutRunes keeps the first n characters, and shows the cut.
func cutRunes(s string, n int) string {
	at := 0
	for i := range s {
		if at++; at > n {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

// MarshalRecords writes records as citations.jsonl has them: one to a line.
func MarshalRecords(records []Record) ([]byte, error) {
	var out bytes.Buffer
	for i := range records {
		line, err := codec.MarshalLine(&records[i])
		if err != nil {
			return nil, err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
