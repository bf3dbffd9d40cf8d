package summary

import (
	"context"
	"io"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

// readFixtures reads and checks the summaries that are given as files.
func (p *plan) readFixtures(ctx context.Context) error {
	folder, err := artifact.Open(ctx, "fixture_summaries_dir", p.req.FixtureSummariesDir)
	if err != nil {
		return err
	}
	folder.Close()
	p.made = make([]made, len(p.perspectives))
	var held atomic.Int64
	err = parallel.Each(ctx, len(p.perspectives), p.req.Progress, func() func(int) error {
		return func(i int) error {
			s, err := p.readFixture(ctx, i)
			if err != nil {
				return err
			}
			if held.Add(int64(s.size)) > int64(p.limits.totalBytes()) {
				s.data = nil // refused as a whole; only an earlier fault is left to find
			}
			p.made[i] = s
			return nil
		}
	})
	if err != nil {
		return err
	}
	return p.sum()
}

// mostOfAFile is how much of a fixture is looked at, whatever the cap: what is
// longer is refused without a look at the rest.
const mostOfAFile = 4 << 20

func (p *plan) readFixture(ctx context.Context, i int) (made, error) {
	of := p.perspectives[i]
	path := filepath.Join(p.req.FixtureSummariesDir, of.ID+".md")
	details := tidegate.D("perspective_id", of.ID, "fixture_file", path)
	file, err := artifact.OpenFile(ctx, "fixture_file", path)
	if err != nil {
		return made{}, tidegate.WithDetails(err, details)
	}
	defer file.Close()
	most := max(p.limits.summaryBytes(), mostOfAFile)
	data, err := io.ReadAll(io.LimitReader(artifact.Until(ctx, file), int64(most)+1))
	if err != nil {
		return made{}, tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", path, err)
	}
	return p.check(i, data)
}

// check checks the summary of the i-th perspective: no raw URL, no unknown
// citation, not too large; and what the pack will say about it against the schema
// of the pack.
func (p *plan) check(i int, data []byte) (made, error) {
	of := p.perspectives[i]
	text := claim.Inspect(data)
	if err := fault(of.ID, text, p.pool); err != nil {
		return made{}, err
	}
	if len(data) > p.limits.summaryBytes() {
		return made{}, summaryTooLarge(of.ID)
	}
	s := made{data: data, size: len(data), cited: cited(text), entry: Summary{
		PerspectiveID: of.ID, SourceArtifact: of.SourceArtifact, SummaryMD: p.summaryName(of.ID), SummaryDigest: codec.DigestBytes(data),
	}}
	s.entry.KeyClaims, s.claimCount = claimsOf(text, p.pool)
	return s, s.entry.check("$.summaries[" + strconv.Itoa(i) + "]")
}
