package pivot

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// DocumentVersion is the schema_version of the document of a decision.
const DocumentVersion = "pivot_decision.v1"

// Shape is the table of pivot_decision.v1.
func Shape() codec.Shape {
	count := codec.IntegerFrom(0)
	var rules []string
	for _, r := range Rules {
		rules = append(rules, r.ID)
	}
	report := codec.Table(
		codec.Field{Name: "ok", Shape: codec.Truth()},
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "markdown_path", Shape: codec.NotBlank()},
		codec.Field{Name: "words", Shape: codec.NumberFrom(0)},
		codec.Field{Name: "sources", Shape: codec.NumberFrom(0)},
		codec.Field{Name: "missing_sections", Shape: codec.List(codec.Text(), 0)},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(DocumentVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "generated_at", Shape: codec.NotBlank()},
		codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "digest of gaps and validator reports"},
		codec.Field{Name: "actor", Shape: codec.NotBlank(), Optional: true, About: "on whose authority it was decided: person, agent or rule"},
		codec.Field{Name: "early", Shape: codec.NotBlank(), Optional: true, About: "the stage of the run in which it was decided, where that was before stage pivot; such a decision moves no run"},
		codec.Field{Name: "wave1", Shape: codec.Table(
			codec.Field{Name: "outputs", About: "by perspective_id", Shape: codec.List(codec.Table(
				codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
				codec.Field{Name: "output_md", Shape: codec.NotBlank(), About: "run-root-relative path where the output lies in the run, else absolute"},
				codec.Field{Name: "digest", Shape: codec.NotBlank(), Optional: true, About: "of the output's bytes when it was decided"},
				codec.Field{Name: "validator_report", Shape: report},
			), 1)},
		)},
		codec.Field{Name: "gaps", About: "by priority, then by gap_id", Shape: codec.List(codec.Table(
			codec.Field{Name: "gap_id", Shape: codec.NotBlank()},
			codec.Field{Name: "priority", Shape: codec.OneOf(Priorities...)},
			codec.Field{Name: "text", Shape: codec.NotBlank()},
			codec.Field{Name: "tags", Shape: codec.List(codec.NotBlank(), 0), About: "each once, in byte order"},
			codec.Field{Name: "source", Shape: codec.OneOf(Explicit, Parsed)},
			codec.Field{Name: "from_perspective_id", Shape: codec.NotBlank(), Optional: true},
		), 0)},
		codec.Field{Name: "decision", Shape: codec.Table(
			codec.Field{Name: "wave2_required", Shape: codec.Truth()},
			codec.Field{Name: "rule_hit", Shape: codec.OneOf(rules...)},
			codec.Field{Name: "metrics", Shape: codec.Table(
				codec.Field{Name: "p0_count", Shape: count},
				codec.Field{Name: "p1_count", Shape: count},
				codec.Field{Name: "p2_count", Shape: count},
				codec.Field{Name: "p3_count", Shape: count},
				codec.Field{Name: "total_gaps", Shape: count},
			)},
			codec.Field{Name: "explanation", Shape: codec.NotBlank()},
			codec.Field{Name: "wave2_gap_ids", Shape: codec.List(codec.NotBlank(), 0), About: "what a second wave is to close"},
		)},
	)
}

// Document is a decision as a run keeps it, pivot_decision.v1, with the outputs
// that it was made from, in the order of the wave's. Early is the stage of a run that
// has not come to its pivot, else "".
func (w Wave1) Document(runID, now string, actor tidegate.ActorKind, early string, d Decision, outputs []RecordedOutput) any {
	var list []tidegate.Details
	for i, o := range outputs {
		list = append(list, tidegate.Pairs("perspective_id", o.PerspectiveID, "output_md", o.Name, "digest", o.Digest, "validator_report", w.reports[i]))
	}
	doc := tidegate.Pairs("schema_version", DocumentVersion, "run_id", runID, "generated_at", now, "inputs_digest", d.InputsDigest, "actor", actor)
	if early != "" {
		doc = append(doc, tidegate.Detail{Key: "early", Value: early})
	}
	return append(doc, tidegate.Pairs("wave1", tidegate.Pairs("outputs", list), "gaps", d.Gaps,
		"decision", tidegate.Pairs("wave2_required", d.Wave2Required, "rule_hit", d.RuleHit, "metrics", d.Metrics,
			"explanation", d.Explanation, "wave2_gap_ids", d.Wave2GapIDs))...)
}

// Recorded is a decision as it stands in a run.
type Recorded struct {
	Wave2Required bool
	GapIDs        []string // what a second wave is to close, in gap order
	Gaps          []Gap
	Actor         tidegate.ActorKind // "" in documents of the earlier system
	Early         string             // the stage before pivot in which it was made, "" when it was made there
	Outputs       []RecordedOutput
}

// RecordedOutput is one of the outputs that a decision was made from.
type RecordedOutput struct {
	PerspectiveID string
	Name          string // relative to the run, or an absolute path
	Digest        string // "" in documents of the earlier system
}

// ReadRecorded reads a decision document in both its forms: the documented one
// and the earlier top-level run_wave2. Problem is "" when it is well-formed.
func ReadRecorded(doc *codec.Value) (d Recorded, problem string) {
	decision := doc.Get("decision")
	required := decision.Get("wave2_required")
	if required.Kind() != codec.Bool {
		required = doc.Get("run_wave2")
	}
	if required.Kind() != codec.Bool {
		return Recorded{}, "pivot.run_wave2 missing"
	}
	ids := decision.Get("wave2_gap_ids")
	if ids.Kind() != codec.Array {
		ids = doc.Get("wave2_gap_ids")
	}
	for _, id := range ids.Elems() {
		if id.Kind() != codec.String {
			return Recorded{}, "pivot.wave2_gap_ids invalid"
		}
		d.GapIDs = append(d.GapIDs, id.Str())
	}
	for _, g := range doc.Get("gaps").Elems() {
		d.Gaps = append(d.Gaps, Gap{ID: g.Get("gap_id").Str(), Priority: g.Get("priority").Str(), Text: g.Get("text").Str(),
			Source: g.Get("source").Str(), From: g.Get("from_perspective_id").Str()})
	}
	for _, o := range doc.Get("wave1").Get("outputs").Elems() {
		d.Outputs = append(d.Outputs, RecordedOutput{o.Get("perspective_id").Str(), o.Get("output_md").Str(), o.Get("digest").Str()})
	}
	d.Wave2Required, d.Actor, d.Early = required.Bool(), tidegate.ActorKind(doc.Get("actor").Str()), doc.Get("early").Str()
	return d, ""
}
