package summary

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/internal/parallel"
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
		claims := newClaimFinder(p.pool)
		return func(i int) error {
			s, err := p.readFixture(ctx, claims, i)
			if err != nil {
				return err
			}
			if held.Add(int64(s.size)) > int64(p.limits.totalBytes()) {
				s.data = nil // refused as a whole; what is left to find is an earlier fault
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

func (p *plan) readFixture(ctx context.Context, claims *claimFinder, i int) (made, error) {
	of := p.perspectives[i]
	path := filepath.Join(p.req.FixtureSummariesDir, of.ID+".md")
	details := tidegate.D("perspective_id", of.ID, "fixture_file", path)
	file, err := artifact.OpenFile(ctx, "fixture_file", path)
	if err != nil {
		return made{}, tidegate.WithDetails(err, details)
	}
	defer file.Close()
	limit := p.limits.summaryBytes()
	data, err := readUpTo(file, limit)
	if err == nil && len(data) <= limit {
		return p.check(claims, i, data)
	}
	if err == nil {
		h := newHygiene(p.pool)
		if _, err = file.Seek(0, io.SeekStart); err == nil {
			err = h.stream(artifact.Until(ctx, file))
		}
		if fault := h.fault(of.ID); err == nil && fault != nil {
			return made{}, fault
		}
	}
	if err != nil {
		return made{}, tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", path, err)
	}
	return made{}, summaryTooLarge(of.ID)
}

// readUpTo reads a file, or, of one that is longer than limit, some more bytes
// than that.
func readUpTo(file *os.File, limit int) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, min(info.Size(), int64(limit))+1)
	for len(data) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// check holds the summary of the i-th perspective to its rules: no raw URL, no
// unknown citation, not too large; and what the pack will say about it to the
// schema of the pack.
func (p *plan) check(claims *claimFinder, i int, data []byte) (made, error) {
	of := p.perspectives[i]
	h := newHygiene(p.pool)
	h.whole(data)
	if err := h.fault(of.ID); err != nil {
		return made{}, err
	}
	if len(data) > p.limits.summaryBytes() {
		return made{}, summaryTooLarge(of.ID)
	}
	s := made{data: data, size: len(data), cited: len(h.cited), entry: Summary{
		PerspectiveID: of.ID, SourceArtifact: of.SourceArtifact, SummaryMD: p.summaryName(of.ID), SummaryDigest: codec.DigestBytes(data),
	}}
	if s.cited > 0 {
		s.entry.KeyClaims, s.claimCount = claims.find(data)
	}
	return s, s.entry.check("$.summaries[" + strconv.Itoa(i) + "]")
}
