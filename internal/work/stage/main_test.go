package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// toy is a run in a temporary folder whose gates are recorded as a test wants them:
// here the stages are tested, and not the judges.
type toy struct {
	t     *testing.T
	root  string
	files run.InitResult
}

func newToy(t *testing.T, in run.InitInput) *toy {
	t.Helper()
	in.Query, in.RunID = "What moves the tide?", "r1"
	out := must.Get(run.Create(t.Context(), runs.Pinned, t.TempDir(), in))(t)
	return &toy{t, out.Root, out}
}

// put writes a file of the run as an agent would: behind our back.
func (y *toy) put(name, content string) { y.t.Helper(); runs.Put(y.t, y.root, name, content) }

func (y *toy) remove(name string) {
	y.t.Helper()
	must.Do(y.t, os.RemoveAll(filepath.Join(y.root, name)))
}

func (y *toy) read(name string) string {
	y.t.Helper()
	return must.Read(y.t, filepath.Join(y.root, name))
}

func (y *toy) manifest() *codec.Value { return runs.Parse(y.t, y.read("manifest.json")) }

func (y *toy) stage() string  { return y.manifest().Get("stage").Get("current").Str() }
func (y *toy) status() string { return y.manifest().Get("status").Str() }

// update changes the run, whatever the rules say.
func (y *toy) update(change func(*run.Update) error) error {
	y.t.Helper()
	r, err := run.Open(y.t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil {
		y.t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Update(y.t.Context(), change)
	return err
}

// force brings the run into a stage and a status, as no tool would.
func (y *toy) force(at run.Stage, status run.Status) {
	y.t.Helper()
	must.Do(y.t, y.update(func(u *run.Update) error {
		err := u.MoveTo(run.Move{From: run.Stage(y.stage()), To: at, Status: status, Reason: "test", InputsDigest: "sha256:x", GatesRevision: 1})
		return err
	}))
}

// accept records what was put there as it is.
func (y *toy) accept() {
	y.t.Helper()
	must.Get(run.AcceptRecord(y.t.Context(), runs.Pinned, run.AcceptInput{ManifestPath: y.files.ManifestPath, Reason: "test"}))(y.t)
}

func (y *toy) advanceIn() stage.AdvanceInput {
	return stage.AdvanceInput{ManifestPath: y.files.ManifestPath, GatesPath: y.files.GatesPath, Reason: "test"}
}

func (y *toy) advance(to run.Stage) (stage.AdvanceResult, error) {
	in := y.advanceIn()
	in.RequestedNext = string(to)
	return stage.Move(y.t.Context(), runs.Pinned, in)
}

func (y *toy) mustAdvance(to run.Stage) stage.AdvanceResult {
	y.t.Helper()
	out, err := y.advance(to)
	if err != nil {
		y.t.Fatalf("advance to %q: %v", to, err)
	}
	return out
}

// gate records a gate, bound to the files it names.
func (y *toy) gate(id, status string, artifacts ...string) {
	y.t.Helper()
	must.Do(y.t, y.recordGate(id, status, artifacts...))
}

func (y *toy) recordGate(id, status string, artifacts ...string) error {
	update := codec.Of(tidegate.Pairs(id, tidegate.Pairs("status", status, "checked_at", tidegate.Stamp(noon), "artifacts", append([]string{}, artifacts...))))
	return y.update(func(u *run.Update) error {
		_, err := u.EditGates(update, "sha256:x", "test")
		return err
	})
}

// decide decides the pivot from the output of the first wave.
func (y *toy) decide() {
	y.t.Helper()
	in, err := step.PivotOf(y.t.Context(), runs.Pinned, y.files.ManifestPath)
	if err == nil {
		in.Reason = "test"
		_, err = step.DecidePivot(y.t.Context(), runs.Pinned, in)
	}
	if err != nil {
		y.t.Fatal(err)
	}
}

// withGap puts an output there that states a gap, and decides the pivot from it.
func (y *toy) withGap() {
	y.t.Helper()
	y.put("wave-1/p1.md", withGap)
	y.gate("B", "pass", "wave-1/p1.md")
	y.decide()
}

// review keeps a person's review of the synthesis.
func (y *toy) review(decision string) {
	y.t.Helper()
	draft := []byte(y.read("synthesis/final-synthesis.md"))
	text := `{"decision":"PASS","findings":[],"directives":[]}`
	if decision == synthesis.ReviewChanges {
		text = `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":1,"action":"say more"}]}`
	}
	review, faults := synthesis.ParseReview([]byte(text), draft, true)
	if faults != nil {
		y.t.Fatal(faults)
	}
	must.Do(y.t, y.update(func(u *run.Update) error {
		return sentences.KeepSynthesisReview(u, review, codec.DigestBytes(draft), synthesis.MadeBy{Actor: tidegate.Person})
	}))
}

// progress is the smallest write to a run.
func (y *toy) progress() error {
	y.t.Helper()
	return y.update(func(u *run.Update) error { return u.Progress("test", "x") })
}

// tree is all that is in the run's folder.
func (y *toy) tree() map[string]string { return must.Tree(y.t, y.root) }

// blockersOf are the codes of all blockers of a refusal.
func blockersOf(t *testing.T, err error) []stage.Blocker {
	t.Helper()
	list, ok := tidegate.AsError(err).Details.Get("blockers")
	if !ok {
		t.Fatalf("no blockers in %v", err)
	}
	return list.([]stage.Blocker)
}

func codesOf(t *testing.T, err error) string {
	t.Helper()
	var codes []string
	for _, b := range blockersOf(t, err) {
		codes = append(codes, string(b.Code))
	}
	return strings.Join(codes, " ")
}

const (
	perspectives = `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[{"id":"p1","title":"T","track":"standard","agent_type":"x",` +
		`"prompt_contract":{"max_words":50,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Gaps"]}}]}`
	withoutGap = "# Findings\n\nTides turn.\n\n# Gaps\n\nNone is left.\n"
	withGap    = "# Findings\n\nTides turn.\n\n# Gaps\n\n- (P0) Why twice a day?\n" // gap_p1_1
)

// to brings a run to a stage by the rules, with everything that they ask for.
func (y *toy) to(target run.Stage) *toy {
	y.t.Helper()
	steps := []struct {
		at   run.Stage
		next func()
	}{
		{run.Init, func() {
			y.put("perspectives.json", perspectives)
			y.gate("A", "pass", "perspectives.json")
			y.mustAdvance(run.Wave1)
		}},
		{run.Wave1, func() {
			y.put("wave-1/p1.md", withoutGap)
			y.put("wave-review.json", "{}\n")
			y.gate("B", "pass", "wave-1/p1.md", "wave-review.json")
			y.mustAdvance("")
		}},
		{run.Pivot, func() { y.decide(); y.mustAdvance("") }},
		{run.Citations, func() {
			y.put("citations/citations.jsonl", "{}\n")
			y.gate("C", "pass", "citations/citations.jsonl")
			y.mustAdvance("")
		}},
		{run.Summaries, func() {
			y.put("summaries/summary-pack.json", "{}\n")
			y.gate("D", "pass", "summaries")
			y.mustAdvance("")
		}},
		{run.Synthesis, func() { y.put("synthesis/final-synthesis.md", "# Summary\n"); y.mustAdvance("") }},
		{run.Review, func() {
			y.review(synthesis.ReviewPass)
			y.gate("E", "pass", "synthesis/final-synthesis.md")
			y.gate("F", "pass", "manifest.json")
			y.mustAdvance("")
		}},
	}
	for _, step := range steps {
		if y.stage() == string(target) {
			return y
		}
		if y.stage() == string(step.at) {
			step.next()
		}
	}
	if y.stage() != string(target) {
		y.t.Fatalf("cannot reach %s: the run is in %s", target, y.stage())
	}
	return y
}
