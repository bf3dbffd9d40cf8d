package step_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

var runClock = run.Desk{Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }, Pinned: true}

// testRun is a run with two perspectives, a and b.
type testRun struct {
	t            *testing.T
	root         string
	manifest     string
	perspectives string
}

func newRun(t *testing.T) testRun {
	t.Helper()
	made := must.Get(run.Create(t.Context(), runClock, t.TempDir(), run.InitInput{Query: "Why tides?", RunID: "r1"}))(t)
	r := testRun{t, made.Root, filepath.Join(made.Root, "manifest.json"), filepath.Join(made.Root, "perspectives.json")}
	r.writePerspectives("r1", `{"search":3}`, "a", "b")
	return r
}

// inWave1 is the run with its plan, in the stage of its first wave.
func inWave1(t *testing.T) testRun {
	t.Helper()
	r := newRun(t)
	must.Get(step.Plan(t.Context(), runClock, step.PlanInput{ManifestPath: r.manifest, Reason: "test"}))(t)
	r.advance(run.Wave1)
	return r
}

func (r testRun) advance(to run.Stage) {
	r.t.Helper()
	must.Get(stage.Advance(r.t.Context(), runClock, stage.AdvanceInput{ManifestPath: r.manifest, GatesPath: filepath.Join(r.root, "gates.json"), RequestedNext: string(to), Reason: "test"}))(r.t)
}

func (r testRun) writePerspectives(runID, budget string, ids ...string) {
	r.t.Helper()
	var entries []string
	for _, id := range ids {
		entries = append(entries, fmt.Sprintf(`{"id":%q,"title":"T\n# not a heading","track":"standard","agent_type":"x","prompt_contract":{"max_words":20,"max_sources":2,"tool_budget":%s,"must_include_sections":["Findings","Sources"]}}`, id, budget))
	}
	r.write("perspectives.json", fmt.Sprintf(`{"schema_version":"perspectives.v1","run_id":%q,"created_at":"2026-03-04T00:00:00Z","perspectives":[%s]}`, runID, strings.Join(entries, ",")))
}

func (r testRun) write(name, text string) { r.t.Helper(); runs.Put(r.t, r.root, name, text) }

func (r testRun) read(name string) string {
	r.t.Helper()
	return must.Read(r.t, filepath.Join(r.root, filepath.FromSlash(name)))
}

func (r testRun) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(name)))
	return err == nil
}

const goodOutput = "# Findings\nTides turn.\n\n# Sources\n- https://example.org/tides\n"

func (r testRun) ingest(outputs ...step.Submission) error {
	_, err := step.Ingest(r.t.Context(), runClock, step.IngestInput{ManifestPath: r.manifest, PerspectivesPath: r.perspectives, Wave: "wave1", Outputs: outputs})
	return err
}

// reviewed is the run with both outputs taken in and reviewed.
func reviewed(t *testing.T) testRun {
	t.Helper()
	r := inWave1(t)
	must.Do(t, r.ingest(step.Submission{PerspectiveID: "a", Markdown: goodOutput}, step.Submission{PerspectiveID: "b", Markdown: goodOutput}))
	r.review()
	return r
}

func (r testRun) review() {
	r.t.Helper()
	must.Get(step.ReviewWave(r.t.Context(), runClock, step.WaveReviewInput{
		PerspectivesPath: r.perspectives, OutputsDir: filepath.Join(r.root, "wave-1"), MaxFailures: 25, ReportPath: filepath.Join(r.root, "wave-review.json"),
	}))(r.t)
}

func (r testRun) gate() (gates.GateRecord, error) {
	return gates.RecordGate(r.t.Context(), runClock, gates.GateInput{ManifestPath: r.manifest, Gate: "B"})
}

func TestPlanKeepsTheOrderAndStatesEveryRule(t *testing.T) {
	r := newRun(t)
	r.writePerspectives("r1", `{"search":3}`, "b", "a")
	result := must.Get(step.Plan(t.Context(), runClock, step.PlanInput{ManifestPath: r.manifest, Reason: " plan "}))(t)
	plan := must.Get(codec.Parse([]byte(r.read("wave-1/wave1-plan.json"))))(t)
	var keys, ids []string
	for _, m := range plan.Members() {
		keys = append(keys, m.Key)
	}
	for _, e := range plan.Get("entries").Elems() {
		ids = append(ids, e.Get("perspective_id").Str()+" "+e.Get("output_md").Str())
	}
	if diff := cmp.Diff([]string{"schema_version", "run_id", "generated_at", "inputs_digest", "perspectives_digest", "entries"}, keys); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b wave-1/b.md", "a wave-1/a.md"}, ids); diff != "" || result.Planned != 2 {
		t.Error(diff, result.Planned)
	}
	prompt := plan.Get("entries").Elems()[0].Get("prompt_md").Str()
	for _, want := range []string{"Why tides?", "not a heading", "## Scope Contract", "## Platform Requirements", "### Forbidden", "at most 20 words", "at most 2 sources", "## Findings", "3 calls of search"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, prompt)
		}
	}
	if strings.Contains(prompt, "\n# not a heading") {
		t.Error("a title made a heading of its own")
	}
	if log := r.read("logs/audit.jsonl"); !strings.Contains(log, `"kind":"wave1_plan"`) || !strings.Contains(log, `"reason":"plan"`) {
		t.Errorf("the audit log lacks the plan:\n%s", log)
	}
}

// TestPlanShowsWhatCannotBeSeen: what another agent wrote into a contract stands in a
// prompt with every character visible.
func TestPlanShowsWhatCannotBeSeen(t *testing.T) {
	const unseen = `x\u001b[31m\u202ey\u2066\u200b\ud83c\udff4\udb40\udc67\udb40\udc7f`
	r := newRun(t)
	write(t, r.perspectives, `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"x","perspectives":[{"id":"a","title":"`+unseen+`","track":"standard","agent_type":"`+unseen+`",
		"platform_requirements":[{"name":"`+unseen+`","reason":"`+unseen+`"}],"tool_policy":{"primary":["`+unseen+`"],"secondary":["`+unseen+`"],"forbidden":["`+unseen+`"]},
		"prompt_contract":{"max_words":20,"max_sources":2,"tool_budget":{"`+unseen+`":1},"must_include_sections":["`+unseen+`","Sources"]}}]}`)
	must.Get(step.Plan(t.Context(), runClock, step.PlanInput{ManifestPath: r.manifest, Reason: "x"}))(t)
	prompt := runs.Parse(t, r.read("wave-1/wave1-plan.json")).Get("entries").Elems()[0].Get("prompt_md").Str()
	if i := markdown.NextHidden([]byte(prompt), 0); i >= 0 {
		t.Errorf("a character that cannot be seen stands at %q", prompt[max(0, i-40):i+10])
	}
	if !strings.Contains(prompt, "Title: xU+001B[31mU+202EyU+2066U+200B") {
		t.Errorf("the title is not shown:\n%s", prompt)
	}
}

func TestPlanDigestCoversEverythingThatShapesAPrompt(t *testing.T) {
	digest := func(r testRun) string {
		result := must.Get(step.Plan(t.Context(), runClock, step.PlanInput{ManifestPath: r.manifest, Reason: "x"}))(t)
		return result.InputsDigest
	}
	r := newRun(t)
	original := r.read("perspectives.json")
	first := digest(r)
	if again := digest(r); again != first {
		t.Error("the same inputs give another digest")
	}
	for _, change := range [][2]string{
		{`"track":"standard"`, `"track":"contrarian"`}, {`"title":"T`, `"title":"U`}, {`"search":3`, `"search":4`}, {`"max_words":20`, `"max_words":21`}, {`"agent_type":"x"`, `"agent_type":"y"`},
	} {
		r := newRun(t)
		r.write("perspectives.json", strings.Replace(original, change[0], change[1], 1))
		if digest(r) == first {
			t.Errorf("%s does not enter the digest", change[1])
		}
	}
}

func TestPlanRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		code tidegate.Code
		harm func(testRun)
	}{
		{"another run's perspectives", tidegate.InvalidState, func(r testRun) { r.writePerspectives("r2", "{}", "a") }},
		{"too many perspectives", tidegate.WaveCapExceeded, func(r testRun) { r.writePerspectives("r1", "{}", "a", "b", "c", "d", "e", "f", "g") }},
		{"half a table", tidegate.SchemaValidationFailed, func(r testRun) {
			r.write("perspectives.json", `{"schema_version":"perspectives.v1","run_id":"r1","perspectives":[]}`)
		}},
		{"no perspectives", tidegate.FileNotFound, func(r testRun) { os.Remove(r.perspectives) }},
		{"no scope", tidegate.FileNotFound, func(r testRun) { os.Remove(filepath.Join(r.root, "operator", "scope.json")) }},
		{"broken scope", tidegate.InvalidJSON, func(r testRun) { r.write("operator/scope.json", "{") }},
		{"another run's scope", tidegate.InvalidState, func(r testRun) {
			r.write("operator/scope.json", strings.Replace(r.read("operator/scope.json"), `"r1"`, `"r2"`, 1))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRun(t)
			tt.harm(r)
			if _, err := run.AcceptRecord(t.Context(), runClock, run.AcceptInput{ManifestPath: r.manifest, Reason: "test"}); err != nil && tidegate.CodeOf(err) != tidegate.InvalidState {
				t.Fatal(err) // what no line records yet needs no acceptance
			}
			_, err := step.Plan(t.Context(), runClock, step.PlanInput{ManifestPath: r.manifest, Reason: "x"})
			if tidegate.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			if r.exists("wave-1/wave1-plan.json") {
				t.Error("a refused plan was written")
			}
		})
	}
}

func TestIngestWritesAllOrNone(t *testing.T) {
	usage := func(s string) *codec.Value {
		v := must.Get(codec.Parse([]byte(s)))(t)
		return v
	}
	good := step.Submission{PerspectiveID: "a", Markdown: goodOutput}
	for _, tt := range []struct {
		name   string
		second step.Submission
		code   tidegate.Code
	}{
		{"a contract that is not met", step.Submission{PerspectiveID: "b", Markdown: "# Findings\n"}, tidegate.MissingRequiredSection},
		{"a blank output", step.Submission{PerspectiveID: "b", Markdown: " \n"}, tidegate.InvalidArgs},
		{"an unknown perspective", step.Submission{PerspectiveID: "c", Markdown: goodOutput}, tidegate.PerspectiveNotFound},
		{"the same perspective twice", good, tidegate.DuplicatePerspectiveID},
		{"an id that leaves the folder", step.Submission{PerspectiveID: "../evil", Markdown: goodOutput}, tidegate.PathTraversal},
		{"an exceeded tool budget", step.Submission{PerspectiveID: "b", Markdown: goodOutput, ToolUsage: usage(`{"search":4}`)}, tidegate.ToolBudgetExceeded},
		{"a tool usage that is no object", step.Submission{PerspectiveID: "b", Markdown: goodOutput, ToolUsage: usage(`[]`)}, tidegate.InvalidToolUsage},
		{"a negative tool usage", step.Submission{PerspectiveID: "b", Markdown: goodOutput, ToolUsage: usage(`{"other":-1}`)}, tidegate.InvalidToolUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := inWave1(t)
			if err := r.ingest(good, tt.second); tidegate.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			if r.exists("wave-1/a.md") || r.exists("wave-1/b.md") {
				t.Error("part of a refused call was written")
			}
		})
	}
}

func TestIngestNeverJudgesTheSidecarOfAnEarlierAttempt(t *testing.T) {
	r := inWave1(t)
	r.write("wave-1/a.meta.json", `{"tool_usage":{"search":99}}`)
	must.Do(t, r.ingest(step.Submission{PerspectiveID: "a", Markdown: goodOutput}))
	if r.exists("wave-1/a.meta.json") {
		t.Error("the sidecar of the earlier attempt is still there")
	}
	if r.read("wave-1/a.md") != goodOutput {
		t.Error("the output differs from what was handed in")
	}
}

func TestIngestRefusesALinkedWaveFolder(t *testing.T) {
	r := inWave1(t)
	must.Do(t, os.RemoveAll(filepath.Join(r.root, "wave-1")))
	if err := os.Symlink(t.TempDir(), filepath.Join(r.root, "wave-1")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := r.ingest(step.Submission{PerspectiveID: "a", Markdown: goodOutput}); tidegate.CodeOf(err) != tidegate.WaveDirSymlink {
		t.Errorf("got %v", err)
	}
}

func TestGateBPassesOnWhatWasReviewed(t *testing.T) {
	r := reviewed(t)
	if g, err := r.gate(); err != nil || !g.Passed() || len(g.Warnings) != 0 {
		t.Fatalf("got %s %v, %v", g.Status, g.Warnings, err)
	}
	opened := must.Get(run.Open(t.Context(), runClock, r.manifest))(t)
	defer opened.Close()
	counts := func() string {
		gates := must.Get(opened.Gates())(t)
		state := must.Get(opened.GateState(gates, "B"))(t)
		return state.Counts()
	}
	if got := counts(); got != run.GatePass {
		t.Errorf("the recorded gate counts as %s", got)
	}
	r.write("wave-1/a.md", goodOutput+"\n")
	if got := counts(); got != run.GateNotRun {
		t.Errorf("after a change of one reviewed output the gate counts as %s", got)
	}
}

func TestGateBDoesNotBelieveTheReport(t *testing.T) {
	edit := func(old, replacement string) func(testRun) {
		return func(r testRun) {
			text := r.read("wave-review.json")
			if !strings.Contains(text, old) {
				r.t.Fatalf("the report has no %s", old)
			}
			r.write("wave-review.json", strings.Replace(text, old, replacement, 1))
		}
	}
	for _, tt := range []struct {
		name    string
		harm    func(testRun)
		warning string
	}{
		{"an output that was changed for the worse", func(r testRun) { r.write("wave-1/b.md", "nothing\n") }, "STALE_REPORT"},
		{"an output that is gone", func(r testRun) { os.Remove(filepath.Join(r.root, "wave-1", "b.md")) }, "STALE_REPORT"},
		{"a report that claims a failure was a pass", func(r testRun) {
			r.write("wave-1/b.md", "nothing\n")
			r.review()
			text := r.read("wave-review.json")
			r.write("wave-review.json", strings.NewReplacer(`"pass": false`, `"pass": true`, `"failed": 1`, `"failed": 0`).Replace(text))
		}, "STALE_REPORT"},
		{"a perspective that was not reviewed", func(r testRun) {
			text := r.read("wave-review.json")
			start, end := strings.Index(text, `{
      "perspective_id": "b"`), strings.Index(text, `],
  "retry_directives"`)
			r.write("wave-review.json", strings.TrimRight(text[:start], ", \n")+text[end:])
		}, "PERSPECTIVES_NOT_REVIEWED"},
		{"a report that did not pass", edit(`"pass": true`, `"pass": false`), "WAVE_REVIEW_PASS_FALSE"},
		{"a report of nothing", edit(`"validated": 2`, `"validated": 0`), "ZERO_VALIDATED_PERSPECTIVES"},
		{"counts that do not add up", edit(`"failed": 0`, `"failed": 1`), "FAILED_COUNT_INCONSISTENT_WITH_RESULTS"},
		{"a tool budget that was exceeded", func(r testRun) { r.write("wave-1/a.meta.json", `{"tool_usage":{"search":9}}`) }, "TOOL_BUDGET_EXCEEDED"},
		{"a sidecar that is no JSON", func(r testRun) { r.write("wave-1/a.meta.json", `{`) }, "TOOL_BUDGET_EXCEEDED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reviewed(t)
			tt.harm(r)
			if g, err := r.gate(); err != nil || g.Passed() || !strings.Contains(strings.Join(g.Warnings, " "), tt.warning) {
				t.Errorf("got %s with %v, %v, want %s", g.Status, g.Warnings, err, tt.warning)
			}
		})
	}
}

func TestGateBRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		code tidegate.Code
		harm func(testRun)
	}{
		{"no report", tidegate.FileNotFound, func(r testRun) { os.Remove(filepath.Join(r.root, "wave-review.json")) }},
		{"a report that is no JSON", tidegate.InvalidJSON, func(r testRun) { r.write("wave-review.json", "{") }},
		{"the error of a review", tidegate.InvalidState, func(r testRun) { r.write("wave-review.json", `{"ok":false,"error":{}}`) }},
		{"a report of another shape", tidegate.SchemaValidationFailed, func(r testRun) { r.write("wave-review.json", `{"ok":true,"pass":"yes"}`) }},
		{"a malformed directive", tidegate.SchemaValidationFailed, func(r testRun) {
			r.write("wave-review.json", strings.Replace(r.read("wave-review.json"), `"retry_directives": []`, `"retry_directives": [{}]`, 1))
		}},
		{"a sidecar that cannot be read", tidegate.ReadFailed, func(r testRun) {
			sidecar := filepath.Join(r.root, "wave-1", "a.meta.json")
			os.Remove(sidecar)
			must.Do(r.t, os.Mkdir(sidecar, 0o700))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reviewed(t)
			tt.harm(r)
			_, err := r.gate()
			runs.WantCode(t, err, tt.code)
		})
	}
}
