package run

import (
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
