package synthesis

import (
	"fmt"
	"math"

	"github.com/tidegate/tidegate"
)

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
