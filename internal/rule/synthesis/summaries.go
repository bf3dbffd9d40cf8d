package synthesis

import (
	"context"
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
