package synthesis

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// Summaries are the summaries of a pack while they are made: each has a size
// limit, must have no raw URL, and may cite only what the pool has as valid or
// paywalled.
type Summaries struct {
	Limits SummaryLimits
	Pool   *source.Pool
	Made   []MadeSummary // in byte order of the perspective ids

	held atomic.Int64 // bytes
}

// MadeSummary is one summary. What it belongs to is known from the beginning; the
// rest once it has passed its checks.
type MadeSummary struct {
	Summary
	Data       []byte
	Size       int
	ClaimCount int // all that there are
	Cited      int // different citations
	Left       LeftOut
}

// Take checks the i-th summary, also what the pack will say about it, and keeps it.
// It may be called from several goroutines. It returns RAW_URL_NOT_ALLOWED,
// UNKNOWN_CID, SIZE_CAP_EXCEEDED and SCHEMA_VALIDATION_FAILED.
func (s *Summaries) Take(i int, data []byte) error {
	m := &s.Made[i]
	text := claim.Inspect(data)
	if err := summaryFault(m.PerspectiveID, text, s.Pool); err != nil {
		return err
	}
	if len(data) > s.Limits.SummaryBytes() {
		return summaryTooLarge(m.PerspectiveID)
	}
	m.Data, m.Size, m.Cited, m.SummaryDigest = data, len(data), citedCount(text), codec.DigestBytes(data)
	m.KeyClaims, m.ClaimCount = claimsOf(text, s.Pool)
	if s.held.Add(int64(m.Size)) > int64(s.Limits.TotalBytes()) {
		m.Data = nil // refused as a whole; only an earlier fault is left to find
	}
	return m.check("$.summaries[" + strconv.Itoa(i) + "]")
}

// Generate makes the summaries from drafts, one each. Each may grow to the cap of
// one summary; when they are too large together, the largest are cut down to one
// size at which all of them fit. It returns the errors of [Summaries.Take].
func (s *Summaries) Generate(ctx context.Context, drafts []*SummaryDraft, progress func(done, total int)) error {
	limit := s.Limits.SummaryBytes()
	if err := s.compose(ctx, drafts, limit, progress); err != nil {
		return err
	}
	if s.Fit() == nil {
		return nil
	}
	total := s.Total()
	if err := s.compose(ctx, drafts, min(limit, evenSize(s.sizes(), s.Limits.TotalBytes())), progress); err != nil {
		if tidegate.CodeOf(err) == tidegate.SizeCapExceeded {
			return s.Limits.totalTooLarge(total)
		}
		return err
	}
	return s.Fit()
}

// compose writes the summaries, each of at most limit bytes, and checks them
// like any other.
func (s *Summaries) compose(ctx context.Context, drafts []*SummaryDraft, limit int, progress func(done, total int)) error {
	s.held.Store(0)
	return parallel.Each(ctx, len(drafts), progress, func() func(int) error {
		return func(i int) error {
			data, left := drafts[i].compose(limit)
			if len(data) == 0 {
				return summaryTooLarge(s.Made[i].PerspectiveID)
			}
			s.Made[i].Left = left
			return s.Take(i, data)
		}
	})
}

// Fit returns SIZE_CAP_EXCEEDED when the summaries are too large together.
func (s *Summaries) Fit() error {
	if total := s.Total(); total > s.Limits.TotalBytes() {
		return s.Limits.totalTooLarge(total)
	}
	return nil
}

// Total is the size of all summaries.
func (s *Summaries) Total() (bytes int) {
	for _, m := range s.Made {
		bytes += m.Size
	}
	return bytes
}

// sizes are the sizes of the summaries, sorted.
func (s *Summaries) sizes() []int {
	sizes := make([]int, len(s.Made))
	for i, m := range s.Made {
		sizes[i] = m.Size
	}
	slices.Sort(sizes)
	return sizes
}

// Pack is the document of summaries that have passed their checks. It returns
// SCHEMA_VALIDATION_FAILED when it would not be a summary_pack.v1.
func (s *Summaries) Pack(runID, now, inputsDigest string) ([]byte, error) {
	doc := pack{
		SchemaVersion: packVersion, RunID: runID, GeneratedAt: now, InputsDigest: inputsDigest, Limits: s.Limits,
		TotalEstimatedTokens: (s.Total() + 3) / 4,
	}
	for _, m := range s.Made {
		doc.Summaries = append(doc.Summaries, m.Summary)
	}
	head := doc
	head.Summaries = doc.Summaries[:1]
	if err := PackShape().Check(codec.Of(head)); err != nil {
		return nil, err
	}
	return codec.MarshalFile(doc)
}

// SummaryLimits are the caps of a run, as its manifest and the pack have them. One
// KB is 1,024 bytes, and a size equal to a cap passes.
type SummaryLimits struct {
	MaxSummaryKB      float64 `json:"max_summary_kb"`
	MaxTotalSummaryKB float64 `json:"max_total_summary_kb"`
}

// Check returns SCHEMA_VALIDATION_FAILED for a cap below 0.
func (l SummaryLimits) Check() error {
	for _, limit := range []struct {
		name string
		kb   float64
	}{{"max_summary_kb", l.MaxSummaryKB}, {"max_total_summary_kb", l.MaxTotalSummaryKB}} {
		if limit.kb < 0 {
			return violation(fmt.Sprintf("must be a number of at least 0, got %v", limit.kb), "$.limits.", limit.name)
		}
	}
	return nil
}

// SummaryBytes is the cap of one summary in whole bytes.
func (l SummaryLimits) SummaryBytes() int { return wholeBytes(l.MaxSummaryKB) }

// TotalBytes is the cap of all summaries together.
func (l SummaryLimits) TotalBytes() int { return wholeBytes(l.MaxTotalSummaryKB) }

func wholeBytes(kb float64) int { return int(min(math.Floor(kb*1024), 1<<52)) }

func summaryTooLarge(id string) error {
	return tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("perspective_id", id), "summary %s.md exceeds max_summary_kb", id)
}

func (l SummaryLimits) totalTooLarge(bytes int) error {
	return tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("total_bytes", bytes, "max_total_summary_kb", l.MaxTotalSummaryKB),
		"summaries exceed max_total_summary_kb")
}

// evenSize is the largest size to which all sizes can be limited so that together
// they fit into room: small ones keep their size, large ones share the rest.
// Sizes are sorted.
func evenSize(sizes []int, room int) int {
	for i, size := range sizes {
		share := room / (len(sizes) - i)
		if size > share {
			return share
		}
		room -= size
	}
	return room
}

const packInputsSchema = "summary_pack_build.inputs.v1"

// Digest is the inputs_digest of the pack, the digest of this object in canonical
// JSON:
//
//	{"manifest_digest":…,"mode":…,"perspectives_digest":…,"schema":…,
//	 "summaries":{<perspective id>:<digest>,…},"validated_cids":[…]}
//
// The ids, which may be many, are written one by one. A hash does not fail.
func (s *Summaries) Digest(mode, manifestDigest, perspectivesDigest string) string {
	summaries := make(tidegate.Details, 0, len(s.Made))
	for _, m := range s.Made {
		summaries = append(summaries, tidegate.Detail{Key: m.PerspectiveID, Value: m.SummaryDigest})
	}
	sum := sha256.New()
	write := func(text string) { _, _ = io.WriteString(sum, text) }
	write(`{"manifest_digest":` + canonical(manifestDigest) + `,"mode":` + canonical(mode) +
		`,"perspectives_digest":` + canonical(perspectivesDigest) + `,"schema":` + canonical(packInputsSchema) +
		`,"summaries":` + canonical(summaries) + `,"validated_cids":[`)
	for i, cid := range s.Pool.CIDs() {
		if i > 0 {
			write(",")
		}
		write(canonical(cid))
	}
	write(`]}`)
	return codec.DigestOf(sum)
}

// canonical is a value that JSON can hold in canonical JSON.
func canonical(v any) string {
	data, err := codec.Canonical(v)
	if err != nil {
		panic("synthesis: " + err.Error())
	}
	return string(data)
}

// summaryFault is the first rule that the text of a summary breaks, or nil:
// RAW_URL_NOT_ALLOWED, then UNKNOWN_CID for what the pool does not have.
func summaryFault(id string, text claim.Inspection, pool *source.Pool) error {
	if len(text.URLs) > 0 {
		url := text.URLs[0]
		return tidegate.Errorf(tidegate.RawURLNotAllowed,
			tidegate.Pairs("perspective_id", id, "line_number", url.Line, "text", tidegate.Cut(url.Text)),
			"summary %s.md has a raw URL in line %d: %s", id, url.Line, url.Text)
	}
	for _, m := range text.Mentions {
		if !pool.Has(m.CID) {
			return tidegate.Errorf(tidegate.UnknownCID, tidegate.Pairs("perspective_id", id, "cid", m.CID, "line_number", m.Line),
				"summary %s.md cites %q in line %d, which is not among the validated citations", id, m.CID, m.Line)
		}
	}
	return nil
}

// citedCount is how many different citations a text has.
func citedCount(text claim.Inspection) int {
	cids := map[string]bool{}
	for _, m := range text.Mentions {
		cids[m.CID] = true
	}
	return len(cids)
}

// packVersion is the schema_version of a summary pack.
const packVersion = "summary_pack.v1"

// PackShape is the schema of summary_pack.v1.
func PackShape() codec.Shape {
	claim := codec.Table(
		codec.Field{Name: "claim", Shape: codec.NotBlank(), About: "text of a list item or paragraph of the summary, without its citations, at most 200 characters"},
		codec.Field{Name: "citation_cids", Shape: codec.List(codec.NotBlank(), 1), About: "what it cites, in order of appearance"},
		codec.Field{Name: "confidence", Shape: codec.IntegerFrom(0), About: "from 0 to 100: 100 when every citation is valid, 60 when one is paywalled"},
	)
	entry := codec.Table(
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "source_artifact", Shape: codec.NotBlank(), About: "the wave output, relative to the run root"},
		codec.Field{Name: "summary_md", Shape: codec.NotBlank(), About: "the summary, relative to the run root"},
		codec.Field{Name: "summary_digest", Shape: codec.NotBlank(), About: "sha256: and the hexadecimal digest of the summary's bytes"},
		codec.Field{Name: "key_claims", Shape: codec.List(claim, 0), About: "at most 20, in document order"},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(packVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "generated_at", Shape: codec.NotBlank()},
		codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "over manifest, perspectives, validated citations and the bytes of the summaries"},
		codec.Field{Name: "limits", Shape: codec.Table(
			codec.Field{Name: "max_summary_kb", Shape: codec.NumberFrom(0), About: "largest summary, in units of 1,024 bytes"},
			codec.Field{Name: "max_total_summary_kb", Shape: codec.NumberFrom(0), About: "all summaries together, in units of 1,024 bytes"},
		)},
		codec.Field{Name: "summaries", Shape: codec.List(entry, 1), About: "in byte order of the perspective ids"},
		codec.Field{Name: "total_estimated_tokens", Shape: codec.IntegerFrom(0), About: "bytes of all summaries, divided by four and rounded up"},
	)
}
