package synthesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// The sensitivities of a run.
const (
	Normal     = "normal"
	Restricted = "restricted"
	NoWeb      = "no_web"
)

// RolloutFacts are what gate F judges: whether the run kept what it was given.
type RolloutFacts struct {
	RunID       string
	Sensitivity string
	// FinalSynthesis says that there is one.
	FinalSynthesis bool
	// Fetches are those in the archive, without what a person attached.
	Fetches []Fetch
	// Cited are the statuses of the sources that the synthesis cites.
	Cited []CitedSource
	// Unsourced says that a person let the run go on without a single checked source.
	Unsourced bool
	// Unsigned names the decisions of a person that lack the signature that the
	// run's policy asks for.
	Unsigned []string
	// Budget is what the run was allowed and what it spent.
	Budget []Spent
	// The earlier system's settings, which are recorded but decide nothing.
	CitationsMode                string
	RunConfig, BrightData, Apify bool
}

// Fetch is one fetch of a source, with the sensitivity that its line of the log
// names.
type Fetch struct{ URL, Sensitivity string }

// CitedSource is a source that the synthesis cites.
type CitedSource struct{ CID, Status string }

// Spent is one limit of the budget. A limit of 0 allows everything.
type Spent struct {
	Name        string
	Used, Limit float64
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// GateF judges whether the run honoured its sensitivity in every fetch, cites no
// source that could not be looked at, has the signatures that it must have, and
// kept its budget. Without a final synthesis it fails.
func GateF(facts RolloutFacts) Gate {
	var fetched, blocked, over []string
	for _, f := range facts.Fetches {
		if f.Sensitivity == NoWeb || f.Sensitivity != facts.Sensitivity {
			fetched = append(fetched, f.URL)
		}
	}
	for _, c := range facts.Cited {
		if c.Status == "blocked" {
			blocked = append(blocked, c.CID)
		}
	}
	for _, s := range facts.Budget {
		if s.Limit > 0 && s.Used > s.Limit {
			over = append(over, fmt.Sprintf("%s %s of %s", s.Name, plain(s.Used), plain(s.Limit)))
		}
	}
	g := Gate{ID: "F"}
	var notes []string
	warn := func(code, what string, names []string) {
		if len(names) > 0 {
			g.Faults = append(g.Faults, fmt.Sprintf("%s:%d", code, len(names)))
			notes = append(notes, what+": "+strings.Join(names, ", "))
		}
	}
	if !facts.FinalSynthesis {
		g.Faults, notes = append(g.Faults, "NO_FINAL_SYNTHESIS"), append(notes, "there is no final synthesis")
	}
	if facts.FinalSynthesis && len(facts.Cited) == 0 && !facts.Unsourced {
		g.Faults, notes = append(g.Faults, "NOTHING_CITED"), append(notes, "the synthesis cites nothing, so that there is nothing to judge")
	}
	warn("BLOCKED_SOURCES_CITED", "cited, and could not be looked at", blocked)
	warn("BUDGET_EXCEEDED", "spent beyond the limit", over)
	warn("SENSITIVITY_NOT_HONOURED", "fetched against the sensitivity "+facts.Sensitivity, fetched)
	warn("UNSIGNED_DECISIONS", "without the signature that the policy asks for", facts.Unsigned)
	slices.Sort(g.Faults)
	g.Notes = tidegate.Cut(strings.Join(notes, "; "))
	g.Metrics = tidegate.Pairs("sensitivity_no_web", flag(facts.Sensitivity == NoWeb), "citations_mode", facts.CitationsMode,
		"citations_mode_online", flag(facts.CitationsMode == "online"), "run_config_present", flag(facts.RunConfig),
		"endpoint_configured", flag(facts.BrightData || facts.Apify), "brightdata_configured", flag(facts.BrightData), "apify_configured", flag(facts.Apify),
		"final_synthesis", flag(facts.FinalSynthesis), "fetches", len(facts.Fetches), "fetches_not_allowed", len(fetched),
		"blocked_cited", len(blocked), "unsigned_decisions", len(facts.Unsigned), "budget_exceeded", len(over))
	g.InputsDigest = codec.Digest(tidegate.Pairs("schema", "gate_f_evaluate.inputs.v1", "run_id", facts.RunID, "sensitivity", facts.Sensitivity,
		"citations_mode", facts.CitationsMode, "endpoint_configured", facts.BrightData || facts.Apify, "brightdata_configured", facts.BrightData,
		"apify_configured", facts.Apify, "run_config_present", facts.RunConfig))
	return g
}
