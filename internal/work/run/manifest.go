package run

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// ManifestVersion is the schema_version of a manifest.
const ManifestVersion = "manifest.v1"

// Status is where a run stands as a whole.
type Status string

// The statuses.
const (
	Created   Status = "created"
	Running   Status = "running"
	Paused    Status = "paused"
	Failed    Status = "failed"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
)

// Statuses lists them in the order of the schema.
var Statuses = []Status{Created, Running, Paused, Failed, Completed, Cancelled}

// Final reports whether a run never leaves the status.
func (s Status) Final() bool { return s == Completed || s == Cancelled }

// Stage is one step of a run.
type Stage string

// The stages.
const (
	Init         Stage = "init"
	Perspectives Stage = "perspectives"
	Wave1        Stage = "wave1"
	Pivot        Stage = "pivot"
	Wave2        Stage = "wave2"
	Citations    Stage = "citations"
	Summaries    Stage = "summaries"
	Synthesis    Stage = "synthesis"
	Review       Stage = "review"
	Finalize     Stage = "finalize"
)

// Stages lists them in the order in which a run passes through them.
var Stages = []Stage{Init, Perspectives, Wave1, Pivot, Wave2, Citations, Summaries, Synthesis, Review, Finalize}

// Before reports whether a run passes through the stage before it comes to other.
func (s Stage) Before(other Stage) bool { return slices.Index(Stages, s) < slices.Index(Stages, other) }

// modes and sensitivities are the values of the manifest's fields of that name.
var (
	modes         = []string{"quick", "standard", "deep"}
	sensitivities = []string{"normal", "restricted", "no_web"}
)

var historyShape = codec.Table(
	codec.Field{Name: "from", Shape: codec.NotBlank()},
	codec.Field{Name: "to", Shape: codec.NotBlank()},
	codec.Field{Name: "ts", Shape: codec.NotBlank()},
	// The earlier system stored a blank reason; such a run must still open and move.
	codec.Field{Name: "reason", Shape: codec.Text()},
	codec.Field{Name: "inputs_digest", Shape: codec.NotBlank()},
	codec.Field{Name: "gates_revision", Shape: codec.IntegerFrom(0)},
)

// ManifestShape is the schema of manifest.v1, in the order in which its fields
// are checked.
var ManifestShape = codec.Table(manifestFields...)

// IsManifestField reports whether the schema of a manifest names a field of its
// top level. "agents" belongs to the earlier system, and nobody reads it.
func IsManifestField(name string) bool {
	return name == "agents" || slices.ContainsFunc(manifestFields, func(f codec.Field) bool { return f.Name == name })
}

var manifestFields = []codec.Field{
	{Name: "schema_version", Shape: codec.Version(ManifestVersion)},
	{Name: "run_id", Shape: codec.NotBlank()},
	{Name: "created_at", Shape: codec.NotBlank()},
	{Name: "updated_at", Shape: codec.NotBlank()},
	{Name: "revision", Shape: codec.IntegerFrom(1), About: "one more with every write"},
	{Name: "mode", Shape: codec.OneOf(modes...)},
	{Name: "status", Shape: codec.OneOf(Texts(Statuses)...)},
	{Name: "query", Shape: codec.Table(
		codec.Field{Name: "text", Shape: codec.NotBlank(), About: "the question"},
		codec.Field{Name: "constraints", Shape: codec.Table(), Optional: true},
		codec.Field{Name: "sensitivity", Shape: codec.OneOf(sensitivities...), Optional: true},
	)},
	{Name: "stage", Shape: codec.Table(
		codec.Field{Name: "current", Shape: codec.OneOf(Texts(Stages)...)},
		codec.Field{Name: "started_at", Shape: codec.NotBlank()},
		codec.Field{Name: "last_progress_at", Shape: codec.Ruled("a time", notTime), Optional: true},
		codec.Field{Name: "history", Shape: codec.List(historyShape, 0), About: "every move, oldest first"},
	)},
	{Name: "limits", Shape: codec.Table(
		codec.Field{Name: "max_wave1_agents", Shape: codec.AnyNumber()},
		codec.Field{Name: "max_wave2_agents", Shape: codec.AnyNumber()},
		codec.Field{Name: "max_summary_kb", Shape: codec.AnyNumber()},
		codec.Field{Name: "max_total_summary_kb", Shape: codec.AnyNumber()},
		codec.Field{Name: "max_review_iterations", Shape: codec.AnyNumber()},
		codec.Field{Name: "max_verify_rounds", Shape: codec.AnyNumber(), Optional: true},
	)},
	{Name: "artifacts", Shape: codec.Table(
		codec.Field{Name: "root", Shape: codec.Ruled("an absolute path", notAbsolute)},
		codec.Field{Name: "paths", Shape: codec.Table(pathFields()...)},
	)},
	{Name: "metrics", Shape: codec.Table()},
	{Name: "failures", Shape: codec.List(codec.Anything(), 0)},
}

func notAbsolute(s string) string {
	if filepath.IsAbs(strings.TrimSpace(s)) {
		return ""
	}
	return "must be an absolute path"
}

func pathFields() []codec.Field {
	fields := make([]codec.Field, 0, len(layoutPaths))
	for _, p := range layoutPaths {
		fields = append(fields, codec.Field{Name: p.key, Shape: codec.NotBlank(), Optional: !p.written})
	}
	return fields
}

// Texts are values of a kind of string as strings.
func Texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// Manifest is a manifest as it was read: a view of an ordered tree. Reading is
// tolerant; an absent or mistyped field reads as the zero value unless the
// reader demanded it.
type Manifest struct{ doc *codec.Value }

// Doc is the document itself. It must not be changed; [Update.EditManifest]
// hands out a copy to change.
func (m Manifest) Doc() *codec.Value { return m.doc }

// ID is the run's id.
func (m Manifest) ID() string { return m.doc.Get("run_id").Str() }

// Revision counts the writes.
func (m Manifest) Revision() int64 { return integer(m.doc.Get("revision")) }

// Status is where the run stands.
func (m Manifest) Status() Status { return Status(m.doc.Get("status").Str()) }

// Stage is the present stage.
func (m Manifest) Stage() Stage { return Stage(m.doc.Get("stage").Get("current").Str()) }

// History lists the moves, oldest first.
func (m Manifest) History() []*codec.Value { return m.doc.Get("stage").Get("history").Elems() }

// Moves is how many moves the run has made.
func (m Manifest) Moves() int { return m.doc.Get("stage").Get("history").Len() }

// ReviewRounds counts the moves from review back to synthesis.
func (m Manifest) ReviewRounds() int64 {
	var n int64
	for _, h := range m.History() {
		if h.Get("from").Str() == string(Review) && h.Get("to").Str() == string(Synthesis) {
			n++
		}
	}
	return n
}

// RoundsByRule has the numbers of those rounds in which a rule sent the run back, and
// not a review.
func (m Manifest) RoundsByRule() map[int64]bool {
	var n int64
	rounds := map[int64]bool{}
	for _, h := range m.History() {
		if h.Get("from").Str() == string(Review) && h.Get("to").Str() == string(Synthesis) {
			if n++; h.Get("by").Str() == ByRule {
				rounds[n] = true
			}
		}
	}
	return rounds
}

// Failures lists what went wrong, oldest first.
func (m Manifest) Failures() []*codec.Value { return m.doc.Get("failures").Elems() }

// Limit is one of the numbers in limits; ok is false when it is not there.
func (m Manifest) Limit(name string) (limit float64, ok bool) {
	return m.doc.Get("limits").Get(name).Float()
}

// Sensitivity is how far the run may reach out; normal is the default.
func (m Manifest) Sensitivity() string {
	return cmp.Or(m.doc.Get("query").Get("sensitivity").Str(), "normal")
}

// Query is the question.
func (m Manifest) Query() string { return m.doc.Get("query").Get("text").Str() }

// Mode is how thorough the run is.
func (m Manifest) Mode() string { return m.doc.Get("mode").Str() }

func integer(v *codec.Value) int64 {
	n, _ := v.Int()
	return n
}
