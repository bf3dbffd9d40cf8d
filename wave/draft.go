package wave

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Unassigned is the run_id of a document that belongs to no run yet.
const Unassigned = "unassigned"

// Draft is a document to start from: three perspectives on a question, one of each
// track, with a contract that the checks have nothing to say about.
func Draft(question, createdAt string) *codec.Value {
	one := func(id, track, title string) tidegate.Details {
		return tidegate.Pairs("id", id, "title", title, "track", track, "agent_type", "researcher", "prompt_contract", tidegate.Pairs(
			"max_words", 800, "max_sources", 10, "tool_budget", tidegate.Pairs("search_calls", 20, "fetch_calls", 40),
			"must_include_sections", []string{"Findings", "Gaps", "Sources"}))
	}
	return codec.Of(tidegate.Pairs("schema_version", PerspectivesVersion, "run_id", Unassigned, "created_at", createdAt, "perspectives", []tidegate.Details{
		one("overview", "standard", "What is known about it: "+question),
		one("evidence", "independent", "What primary sources say about it: "+question),
		one("doubts", "contrarian", "What speaks against the usual answer: "+question),
	}))
}
