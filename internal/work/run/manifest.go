package run

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/store"
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

// Files whose place a manifest cannot change.
const (
	ManifestFile        = "manifest.json"
	ScopeFile           = "operator/scope.json"
	PolicyFile          = "run-config/policy.json"
	TemplateFile        = "run-config/template.md"
	EarlierFile         = "run-config/earlier.json"
	LogFile             = store.LogFile
	HeadFile            = store.HeadFile
	RetryDirectivesFile = "retry/retry-directives.json"
)

// layoutPaths are the keys of artifacts.paths with their defaults, in the order
// of the schema. The last two are honoured where they stand but not written by
// init, so that the earlier system reads our manifests as its own.
var layoutPaths = []struct {
	key, fallback string
	written       bool
}{
	{"wave1_dir", "wave-1", true},
	{"wave2_dir", "wave-2", true},
	{"citations_dir", "citations", true},
	{"summaries_dir", "summaries", true},
	{"synthesis_dir", "synthesis", true},
	{"logs_dir", "logs", true},
	{"gates_file", "gates.json", true},
	{"perspectives_file", "perspectives.json", true},
	{"citations_file", "citations/citations.jsonl", true},
	{"summary_pack_file", "summaries/summary-pack.json", true},
	{"pivot_file", "pivot.json", true},
	{"wave_review_report_file", "wave-review.json", false},
	{"review_bundle_file", "review/review-bundle.json", false},
}

// Layout is where a run keeps things: names under its root, with slashes, from the
// manifest's artifacts.paths, and the defaults where it says nothing. A name that
// leads out of the root is kept as it is; the folder refuses it with
// PATH_NOT_ALLOWED when it is used.
type Layout struct {
	Wave1Dir, Wave2Dir, CitationsDir, SummariesDir, SynthesisDir, LogsDir string
	Gates, Perspectives, Citations, SummaryPack, Pivot                    string
	WaveReview, ReviewBundle                                              string
}

func layoutDefault(key string) string {
	for _, p := range layoutPaths {
		if p.key == key {
			return p.fallback
		}
	}
	panic("run: no path " + key)
}

func layoutOf(root string, paths *codec.Value) Layout {
	name := func(key string) string {
		if given := strings.TrimSpace(paths.Get(key).Str()); given != "" {
			return under(root, given)
		}
		return layoutDefault(key)
	}
	return Layout{
		Wave1Dir: name("wave1_dir"), Wave2Dir: name("wave2_dir"), CitationsDir: name("citations_dir"),
		SummariesDir: name("summaries_dir"), SynthesisDir: name("synthesis_dir"), LogsDir: name("logs_dir"),
		Gates: name("gates_file"), Perspectives: name("perspectives_file"), Citations: name("citations_file"),
		SummaryPack: name("summary_pack_file"), Pivot: name("pivot_file"),
		WaveReview: name("wave_review_report_file"), ReviewBundle: name("review_bundle_file"),
	}
}

// Synthesis is the name of the report that review and gate E judge.
func (l Layout) Synthesis() string { return l.SynthesisDir + "/final-synthesis.md" }

// Draft is the name of the report as it is being written.
func (l Layout) Draft() string { return l.SynthesisDir + "/draft-synthesis.md" }

// Claims is the name of the document with the sentences of the final report.
func (l Layout) Claims() string { return l.SynthesisDir + "/claims.json" }

// Outline is the name of the outline of a report that is written by parts.
func (l Layout) Outline() string { return l.SynthesisDir + "/outline.json" }

// Part is the name of the section with that number as an agent wrote it for a round: a
// text in the first, and edits in the others.
func (l Layout) Part(number int, round int64) string {
	if round > 1 {
		return fmt.Sprintf("%s/section-%d.%d.json", l.SynthesisDir, number, round)
	}
	return fmt.Sprintf("%s/section-%d.md", l.SynthesisDir, number)
}

// Round names the synthesis and the review with which the run went back to
// writing for the nth time.
func (l Layout) Round(n int64) (draft, bundle string) {
	dir := l.round(n)
	return dir + "/synthesis.md", dir + "/review-bundle.json"
}

// RoundClaims names the sentences of that synthesis.
func (l Layout) RoundClaims(n int64) string { return l.round(n) + "/claims.json" }

// RoundSeed names the seed by which its sentences are dealt to second readers.
func (l Layout) RoundSeed(n int64) string { return l.round(n) + "/seed.json" }

func (l Layout) round(n int64) string {
	return path.Join(path.Dir(l.ReviewBundle), "rounds", strconv.FormatInt(n, 10))
}

// Wave1Plan is the name of the plan of the first wave.
func (l Layout) Wave1Plan() string { return l.Wave1Dir + "/wave1-plan.json" }

// Wave2Plan is the name of the plan of a second wave.
func (l Layout) Wave2Plan() string { return l.Wave2Dir + "/wave2-plan.json" }

// Wave2Perspectives is the name of the contracts of a second wave.
func (l Layout) Wave2Perspectives() string { return l.Wave2Dir + "/wave2-perspectives.json" }

// BlockedQueue is the name of the list of sources that need a person or a later
// try. It exists only when there are some.
func (l Layout) BlockedQueue() string { return l.CitationsDir + "/blocked-urls.queue.md" }

// DocumentsBeside names the documents of the run except the one of that key of
// artifacts.paths: they have their own writers, and must not be replaced by what
// is written under the key. Outputs and summaries are not among them.
func (r *Run) DocumentsBeside(key string) []string {
	l := r.layout
	names := []string{
		ManifestFile, ScopeFile, PolicyFile, TemplateFile, EarlierFile, LogFile, HeadFile, RetryDirectivesFile, l.Wave1Plan(), l.Wave2Plan(), l.Wave2Perspectives(), l.Synthesis(),
	}
	names = append(names, r.name) // the manifest may have another name
	for _, d := range []struct{ key, name string }{
		{"gates_file", l.Gates}, {"perspectives_file", l.Perspectives}, {"citations_file", l.Citations}, {"summary_pack_file", l.SummaryPack},
		{"pivot_file", l.Pivot}, {"wave_review_report_file", l.WaveReview}, {"review_bundle_file", l.ReviewBundle},
	} {
		if d.key != key {
			names = append(names, d.name)
		}
	}
	return names
}

// under makes a path relative to root when it lies there. Any other stays as it is,
// and so does one that climbs with "..", for its user to refuse.
func under(root, path string) string {
	slashed := filepath.ToSlash(path)
	if slices.Contains(strings.Split(slashed, "/"), "..") {
		return slashed
	}
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	if name, in := artifact.Inside(root, path); in {
		return name
	}
	return path
}
