package synthesis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// PackFacts are what gate D judges: the summary pack against the run's own
// perspectives, of both waves.
type PackFacts struct {
	RunID        string
	Perspectives []string // their ids
	Summaries    []SummaryFacts
	MaxSummaryKB float64
	MaxTotalKB   float64
	PackPath     string       // in the run
	Entries      *codec.Value // the pack's list, as it stands there
}

// SummaryFacts is one entry of the pack, and the file that it names as it is.
type SummaryFacts struct {
	PerspectiveID string
	Missing       bool // there is no such file in the run
	Bytes         int
	Faults        int // of its raw URLs and citations, by the run's own pool
}

// GateD judges whether every perspective has one summary within the caps, which
// cites nothing but validated sources.
func GateD(facts PackFacts) Gate {
	expected, there := map[string]bool{}, map[string]SummaryFacts{}
	for _, id := range facts.Perspectives {
		expected[id] = true
	}
	var twice, foreign, missing, faulty, large []string
	for _, s := range facts.Summaries {
		_, seen := there[s.PerspectiveID]
		switch {
		case seen:
			twice = append(twice, s.PerspectiveID)
		case !expected[s.PerspectiveID]:
			foreign = append(foreign, s.PerspectiveID)
		default:
			there[s.PerspectiveID] = s
		}
	}
	count, largest, total := 0, 0, 0
	for _, id := range facts.Perspectives {
		s, listed := there[id]
		if !listed || s.Missing {
			missing = append(missing, id)
			continue
		}
		count++
		total += s.Bytes
		largest = max(largest, s.Bytes)
		if s.Faults > 0 {
			faulty = append(faulty, id)
		}
		if above(s.Bytes, facts.MaxSummaryKB) {
			large = append(large, id)
		}
	}
	g := Gate{ID: "D", Metrics: tidegate.Pairs("summary_count_ratio", Rate{count, len(facts.Perspectives)},
		"max_summary_kb", Rate{largest, 1024}, "total_summary_pack_kb", Rate{total, 1024}, "summary_count", count, "expected_count", len(facts.Perspectives))}
	var notes []string
	warn := func(code, what string, ids []string) {
		if len(ids) > 0 {
			g.Faults = append(g.Faults, fmt.Sprintf("%s:%d", code, len(ids)))
			notes = append(notes, what+": "+strings.Join(ids, ", "))
		}
	}
	warn("DUPLICATE_SUMMARIES", "listed twice", twice)
	warn("FAULTY_SUMMARIES", "raw URLs, unknown citations or hidden characters", faulty)
	warn("LARGE_SUMMARIES", "larger than max_summary_kb", large)
	warn("MISSING_SUMMARIES", "no summary", missing)
	warn("UNKNOWN_SUMMARIES", "of no perspective of the run", foreign)
	if above(total, facts.MaxTotalKB) {
		g.Faults = append(g.Faults, "TOTAL_TOO_LARGE")
		notes = append(notes, "all summaries together are larger than max_total_summary_kb")
	}
	if len(facts.Perspectives) == 0 {
		g.Faults = append(g.Faults, "NO_PERSPECTIVES")
		notes = append(notes, "there is no perspective, so nothing was judged")
	}
	slices.Sort(g.Faults)
	g.Notes = tidegate.Cut(strings.Join(notes, "; "))
	g.InputsDigest = codec.Digest(tidegate.Pairs("schema", "gate_d_evaluate.inputs.v1", "run_id", facts.RunID,
		"summary_pack_path", facts.PackPath, "entries", facts.Entries, "metrics", g.Metrics))
	return g
}

// above compares with a cap in units of 1,024 bytes; equal to it is within it.
func above(bytes int, kb float64) bool { return float64(bytes) > kb*1024 }
