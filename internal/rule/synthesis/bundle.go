package synthesis

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// The schema versions of the documents of a review.
const (
	BundleVersion     = "review_bundle.v1"
	DirectivesVersion = "revision_directives.v1"
)

// MadeBy says where a review comes from: an attempt at a job, a person, or a
// rule.
type MadeBy struct {
	Actor   tidegate.ActorKind `json:"actor"`
	Job     string             `json:"job_id,omitzero"`
	Attempt int                `json:"attempt,omitzero"`
}

// BundleShape is the schema of review_bundle.v1. Bundles of the earlier system
// have neither a digest nor an author.
var BundleShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(BundleVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "decision", Shape: codec.OneOf(ReviewPass, ReviewChanges)},
	codec.Field{Name: "findings", Shape: codec.List(codec.Anything(), 0)},
	codec.Field{Name: "directives", Shape: codec.List(codec.Anything(), 0)},
	codec.Field{Name: "synthesis_digest", Shape: codec.NotBlank(), Optional: true, About: "of the draft that was reviewed"},
	codec.Field{Name: "made_by", Optional: true, About: "the attempt at a job, the person or the rule that made the review", Shape: codec.Table(
		codec.Field{Name: "actor", Shape: codec.OneOf(string(tidegate.Agent), string(tidegate.Person), string(tidegate.Rule))},
		codec.Field{Name: "job_id", Shape: codec.NotBlank(), Optional: true},
		codec.Field{Name: "attempt", Shape: codec.IntegerFrom(1), Optional: true},
	)},
)

// bundleKeys are ours, whatever a reviewer hands in under these names.
var bundleKeys = []string{"schema_version", "run_id", "decision", "findings", "directives", "synthesis_digest", "made_by"}

// Bundle is the review as a run keeps it, bound to the draft with that digest.
// Keys that the reviewer added come after ours.
func (r Review) Bundle(runID, synthesisDigest string, by MadeBy) *codec.Value {
	out := codec.NewObject()
	out.Set("schema_version", codec.Of(BundleVersion))
	out.Set("run_id", codec.Of(runID))
	for _, key := range []string{"decision", "findings", "directives"} {
		out.Set(key, r.doc.Get(key))
	}
	out.Set("synthesis_digest", codec.Of(synthesisDigest))
	out.Set("made_by", codec.Of(by))
	ours := map[string]bool{}
	for _, key := range bundleKeys {
		ours[key] = true
	}
	for _, m := range r.doc.Members() {
		if !ours[m.Key] {
			out.Set(m.Key, m.Value)
		}
	}
	return out
}

// RevisionDirectives is the document that guides the next draft.
func (r Review) RevisionDirectives(runID string) *codec.Value {
	return codec.Of(tidegate.Pairs("schema_version", DirectivesVersion, "run_id", runID, "directives", r.doc.Get("directives")))
}

// Bundle is what decides in a review that a run keeps.
type Bundle struct {
	Decision        string
	SynthesisDigest string // "" in a bundle of the earlier system
	MadeBy          MadeBy // likewise
	Directives      []Directive
}

// InputsDigest is the digest by which the earlier system names a review.
func (r Review) InputsDigest(runID string) string {
	return codec.Digest(tidegate.Pairs("schema", "review_factory_run.inputs.v1", "run_id", runID, "decision", r.Decision,
		"findings_count", len(r.Findings), "directives_count", len(r.Directives)))
}

// ReadBundle reads what decides in a bundle, also in one of the earlier system.
// The problem says why it decides nothing; it is "" when it decides.
func ReadBundle(doc *codec.Value) (b Bundle, problem string) {
	decision := strings.TrimSpace(doc.Get("decision").Str())
	if decision != ReviewPass && decision != ReviewChanges {
		return Bundle{}, "review decision invalid"
	}
	for _, d := range doc.Get("directives").Elems() {
		line, _ := d.Get("line").Int()
		directive := Directive{Line: int(max(line, 0)), Action: d.Get("action").Str()}
		if sentence := d.Get("sentence").Str(); sentence != "" {
			directive.About = &Disputed{Sentence: sentence, Because: d.Get("because").Str()}
			for _, w := range d.Get("windows").Elems() {
				directive.About.Passages = append(directive.About.Passages, DisputedPassage{w.Get("cid").Str(), w.Get("text").Str()})
			}
		}
		b.Directives = append(b.Directives, directive)
	}
	if decision == ReviewChanges && len(b.Directives) == 0 {
		b.Directives = []Directive{{Action: "change what the review found"}}
	}
	by := doc.Get("made_by")
	attempt, _ := by.Get("attempt").Int()
	b.Decision, b.SynthesisDigest = decision, doc.Get("synthesis_digest").Str()
	b.MadeBy = MadeBy{tidegate.ActorKind(by.Get("actor").Str()), by.Get("job_id").Str(), int(attempt)}
	return b, ""
}

// Objection says why a review decides nothing; it is "" when it decides. A review
// must be about the synthesis with that digest, and come from a review job, a person,
// or, where it asks for changes, a rule.
func (b Bundle) Objection(synthesisDigest string) string {
	switch {
	case b.SynthesisDigest == "":
		return "the review does not say which synthesis it is about"
	case b.SynthesisDigest != synthesisDigest:
		return "the review is about another synthesis"
	case b.MadeBy.Actor == tidegate.Rule && b.Decision == ReviewChanges:
		return ""
	case b.MadeBy.Actor == tidegate.Person, b.MadeBy.Actor == tidegate.Agent && b.MadeBy.Job != "" && b.MadeBy.Attempt > 0:
		return ""
	}
	return "the review comes from neither a review job nor a person"
}
