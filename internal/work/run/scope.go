package run

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// ScopeVersion is the schema_version of a scope document.
const ScopeVersion = "scope.v1"

// ScopeShape is the schema of scope.v1.
var ScopeShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(ScopeVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "updated_at", Shape: codec.Ruled("a time", notTime)},
	codec.Field{Name: "questions", Shape: codec.List(codec.NotBlank(), 1)},
	codec.Field{Name: "non_goals", Shape: codec.List(codec.Text(), 0)},
	codec.Field{Name: "deliverable", Shape: codec.NotBlank()},
	codec.Field{Name: "time_budget_minutes", Shape: codec.IntegerFrom(1)},
	codec.Field{Name: "depth", Shape: codec.OneOf(modes...)},
	codec.Field{Name: "citation_posture", Shape: codec.OneOf("follow_manifest")},
	codec.Field{Name: "notes", Shape: codec.Text(), Optional: true},
	codec.Field{Name: "assumptions", Shape: codec.List(codec.Text(), 0), Optional: true},
)

var timeBudgets = map[string]int{"quick": 15, "standard": 45, "deep": 120}

func newScope(runID, now, query, mode string) *codec.Value {
	return codec.Of(tidegate.Pairs("schema_version", ScopeVersion, "run_id", runID, "updated_at", now,
		"questions", []string{query}, "non_goals", []string{},
		"deliverable", "A report that answers the questions and cites a source for every claim.",
		"time_budget_minutes", timeBudgets[mode], "depth", mode, "citation_posture", "follow_manifest"))
}
