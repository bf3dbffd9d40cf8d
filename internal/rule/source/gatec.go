package source

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Metrics are what gate C is decided by. Rates are fractions of the sources
// without duplicates, to six decimals; the decision itself uses whole numbers.
type Metrics struct {
	Validated     float64 `json:"validated_url_rate" jsonschema:"valid or paywalled; at least 0.9"`
	Invalid       float64 `json:"invalid_url_rate" jsonschema:"invalid, blocked or a mismatch; at most 0.1"`
	Uncategorized float64 `json:"uncategorized_url_rate" jsonschema:"without a record or a known status; 0"`
	Archived      float64 `json:"archived_rate" jsonschema:"with an archived response or an attached file"`
	Unchecked     int     `json:"unchecked" jsonschema:"records with the reason not checked"`
	// Origins counts sources by where they come from; nil in a run that does not keep it.
	Origins map[OriginKind]int `json:"origins,omitzero" jsonschema:"sources by where they come from: search, link, person, client, unknown"`
}

// GateC is the judgement of gate C.
type GateC struct {
	Pass         bool
	Metrics      Metrics
	Warnings     []string // NO_URLS_EXTRACTED
	InputsDigest string
}

// NoURLsExtracted is the warning of a run whose outputs cite nothing.
const NoURLsExtracted = "NO_URLS_EXTRACTED"

// ComputeGateC decides gate C: of the different pages that outputs cite, at least
// nine in ten can be used, at most one in ten cannot, and every one has a record.
// A run without sources does not pass. Records of other URLs count in the digest
// only.
func ComputeGateC(sources []Source, records []Record) GateC {
	byURL := make(map[string]*Record, len(records))
	for i := range records {
		byURL[records[i].NormalizedURL] = &records[i]
	}
	var total, validated, invalid, archived int
	g := GateC{Warnings: []string{}}
	for i := range sources {
		r := byURL[sources[i].Normalized]
		if r != nil && r.SameAs != "" {
			continue
		}
		total++
		if r == nil {
			continue
		}
		switch r.Status {
		case Valid, Paywalled:
			validated++
		case Invalid, Blocked, Mismatch:
			invalid++
		}
		if r.Archived() {
			archived++
		}
		if r.Origin != nil {
			if g.Metrics.Origins == nil {
				g.Metrics.Origins = map[OriginKind]int{}
			}
			g.Metrics.Origins[r.Origin.Kind]++
		}
		if r.Notes == NotChecked {
			g.Metrics.Unchecked++
		}
	}
	if total == 0 {
		g.Warnings = append(g.Warnings, NoURLsExtracted)
	}
	uncategorized := total - validated - invalid
	g.Pass = total > 0 && 10*validated >= 9*total && 10*invalid <= total && uncategorized == 0
	g.Metrics.Validated = rate(validated, total)
	g.Metrics.Invalid = rate(invalid, total)
	g.Metrics.Uncategorized = rate(uncategorized, total)
	g.Metrics.Archived = rate(archived, total)
	g.InputsDigest = gateCDigest(sources, records)
	return g
}

// rate is a fraction to six decimals, a tie rounded up, 0 where there is nothing
// to take a part of.
func rate(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	const million = 1_000_000
	return float64((2*million*part+whole)/(2*whole)) / million
}

func gateCDigest(sources []Source, records []Record) string {
	sorted := slices.Clone(records)
	slices.SortFunc(sorted, func(a, b Record) int { return strings.Compare(a.NormalizedURL, b.NormalizedURL) })
	citations, extracted := []tidegate.Details{}, []string{}
	for i := range sorted {
		citations = append(citations, tidegate.Pairs("normalized_url", sorted[i].NormalizedURL, "status", sorted[i].Status))
	}
	for i := range sources {
		extracted = append(extracted, sources[i].Normalized)
	}
	slices.Sort(extracted)
	return codec.Digest(tidegate.Pairs("citations_set", citations, "extracted_set", extracted, "schema", "gate_c_compute.inputs.v1"))
}
