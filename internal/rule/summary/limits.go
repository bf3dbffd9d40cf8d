package summary

import (
	"math"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Limits are the caps of a run, as its manifest and the pack have them. One
// KB is 1,024 bytes, and a size equal to a cap passes.
type Limits struct {
	MaxSummaryKB      float64 `json:"max_summary_kb"`
	MaxTotalSummaryKB float64 `json:"max_total_summary_kb"`
}

// limitsOf reads the caps of a manifest that has them. It returns
// SCHEMA_VALIDATION_FAILED for one below 0.
func limitsOf(m run.Manifest) (Limits, error) {
	var l Limits
	for _, limit := range []struct {
		name string
		to   *float64
	}{{"max_summary_kb", &l.MaxSummaryKB}, {"max_total_summary_kb", &l.MaxTotalSummaryKB}} {
		*limit.to, _ = m.Limit(limit.name)
		if *limit.to < 0 {
			path := "$.limits." + limit.name
			return l, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", path), "%s must be a number of at least 0, got %v", path, *limit.to)
		}
	}
	return l, nil
}

// summaryBytes and totalBytes are the caps in whole bytes.
func (l Limits) summaryBytes() int { return wholeBytes(l.MaxSummaryKB) }
func (l Limits) totalBytes() int   { return wholeBytes(l.MaxTotalSummaryKB) }

func wholeBytes(kb float64) int { return int(min(math.Floor(kb*1024), 1<<52)) }

func summaryTooLarge(id string) error {
	return tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.D("perspective_id", id), "summary %s.md exceeds max_summary_kb", id)
}

func (l Limits) totalTooLarge(bytes int) error {
	return tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.D("total_bytes", bytes, "max_total_summary_kb", l.MaxTotalSummaryKB),
		"summaries exceed max_total_summary_kb")
}

// level is the largest size to which all sizes can be limited so that together
// they fit into room: small ones keep their size, large ones share the rest.
// Sizes are sorted.
func level(sizes []int, room int) int {
	for i, size := range sizes {
		share := room / (len(sizes) - i)
		if size > share {
			return share
		}
		room -= size
	}
	return room
}
