package run

import (
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
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
	codec.Field{Name: "length", Shape: codec.IntegerFrom(1), Optional: true},
	codec.Field{Name: "audience", Shape: codec.NotBlank(), Optional: true},
	codec.Field{Name: "template", Shape: codec.OneOf(append(evidence.TemplateNames(), evidence.OwnTemplate)...), Optional: true},
	codec.Field{Name: "language", Shape: codec.NotBlank(), Optional: true},
	codec.Field{Name: "from", Optional: true, Shape: codec.Table(
		codec.Field{Name: "run_id", Shape: codec.NotBlank()}, codec.Field{Name: "head", Shape: codec.NotBlank()})},
)

var timeBudgets = map[string]int{"quick": 15, "standard": 45, "deep": 120}

func newScope(runID, now, query, mode string, asked evidence.Shape, from Frozen) *codec.Value {
	fields := tidegate.Pairs("schema_version", ScopeVersion, "run_id", runID, "updated_at", now,
		"questions", []string{query}, "non_goals", []string{},
		"deliverable", "A report that answers the questions and cites a source for every claim.",
		"time_budget_minutes", timeBudgets[mode], "depth", mode, "citation_posture", "follow_manifest")
	if words := asked.Words(); words > 0 {
		fields = append(fields, tidegate.Detail{Key: "length", Value: words})
	}
	template := asked.Template
	if evidence.IsOutline(template) {
		template = evidence.OwnTemplate
	}
	for _, f := range []struct{ key, value string }{{"audience", asked.Audience}, {"template", template}, {"language", asked.Language}} {
		if f.value != "" {
			fields = append(fields, tidegate.Detail{Key: f.key, Value: f.value})
		}
	}
	if !from.IsZero() {
		fields = append(fields, tidegate.Detail{Key: "from", Value: tidegate.Pairs("run_id", from.RunID, "head", from.Head)})
	}
	return codec.Of(fields)
}

// Shape is what a person asks of the run's report. It returns READ_FAILED,
// INVALID_JSON, and INVALID_STATE where the outline is not the one that the run began
// with.
func (r *Run) Shape() (evidence.Shape, error) {
	data, err := r.folder.Read(ScopeFile)
	if err != nil {
		return evidence.Shape{}, artifact.UnlessMissing(err) // an earlier program made the run
	}
	doc, err := codec.ParseFile("scope_path", r.Path(ScopeFile), data)
	if err != nil {
		return evidence.Shape{}, err
	}
	shape := evidence.Shape{Audience: doc.Get("audience").Str(), Template: doc.Get("template").Str(), Language: doc.Get("language").Str()}
	if words, _ := doc.Get("length").Int(); words > 0 {
		shape.Length = strconv.FormatInt(words, 10)
	}
	if shape.Template == evidence.OwnTemplate {
		outline, err := r.folder.Read(TemplateFile)
		if err != nil {
			return evidence.Shape{}, err
		}
		shape.Template = string(outline)
	}
	if _, err := shape.Sections(); err != nil {
		return evidence.Shape{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", TemplateFile), "%s: %s", TemplateFile, tidegate.AsError(err).Message)
	}
	return shape, nil
}
