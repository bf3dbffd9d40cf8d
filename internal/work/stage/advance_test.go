package stage_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

func TestRunPassesThroughAllStagesToCompleted(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Finalize)
	if y.status() != "completed" {
		t.Errorf("status %s", y.status())
	}
	var moves []string
	for _, h := range y.manifest().Get("stage").Get("history").Elems() {
		moves = append(moves, h.Get("from").Str()+">"+h.Get("to").Str())
	}
	want := "init>wave1 wave1>pivot pivot>citations citations>summaries summaries>synthesis synthesis>review review>finalize"
	if diff := cmp.Diff(want, strings.Join(moves, " ")); diff != "" {
		t.Error(diff)
	}
	v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: y.files.ManifestPath, Follows: stage.Follows})
	if err != nil || !v.Pass || slices.ContainsFunc(v.Findings, func(f run.Finding) bool { return f.Rule != "file-unrecorded" }) {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestRefusedAdvanceListsEveryBlocker(t *testing.T) {
	blocked := func(gates int) string { return strings.Repeat(" GATE_BLOCKED", gates) }
	for _, tt := range []struct {
		name  string
		at    run.Stage
		to    run.Stage
		codes string
		first string // detail of the first blocker
	}{
		{"perspectives", run.Init, "", "MISSING_ARTIFACT", "perspectives.json"},
		{"perspectives, requested", run.Perspectives, run.Wave1, "MISSING_ARTIFACT", "perspectives.json"},
		{"wave 1", run.Wave1, "", "MISSING_ARTIFACT MISSING_ARTIFACT" + blocked(2), "wave-1"},
		{"pivot, chosen", run.Pivot, "", "MISSING_ARTIFACT" + blocked(2), "pivot.json"},
		{"pivot, requested", run.Pivot, run.Citations, "MISSING_ARTIFACT" + blocked(2), "pivot.json"},
		{"wave 2, requested", run.Pivot, run.Wave2, "MISSING_ARTIFACT" + blocked(2), "pivot.json"},
		{"wave 2 outputs", run.Wave2, "", "MISSING_ARTIFACT" + blocked(2), "wave-2"},
		{"citations", run.Citations, "", "MISSING_ARTIFACT" + blocked(3), "citations/citations.jsonl"},
		{"summaries", run.Summaries, "", "MISSING_ARTIFACT" + blocked(4), "summaries/summary-pack.json"},
		{"synthesis", run.Synthesis, "", "MISSING_ARTIFACT" + blocked(4), "synthesis/final-synthesis.md"},
		{"review, chosen", run.Review, "", "MISSING_ARTIFACT" + blocked(4), "review/review-bundle.json"},
		{"back to synthesis", run.Review, run.Synthesis, "MISSING_ARTIFACT" + blocked(4), "review/review-bundle.json"},
		{"finalize, requested", run.Review, run.Finalize, "MISSING_ARTIFACT" + blocked(6), "review/review-bundle.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			y := newToy(t, run.InitInput{})
			y.force(tt.at, run.Running)
			before := y.tree()
			_, err := y.advance(tt.to)
			if err == nil {
				t.Fatal("allowed")
			}
			if diff := cmp.Diff(tt.codes, codesOf(t, err)); diff != "" {
				t.Error(diff)
			}
			blockers := blockersOf(t, err)
			e := tidegate.AsError(err)
			if e.Code != blockers[0].Code || blockers[0].Details[0].Value != tt.first {
				t.Errorf("the answer %v is not the first blocker %+v", e, blockers[0])
			}
			for _, b := range blockers {
				if len(b.Meet) == 0 || b.Message == "" {
					t.Errorf("nothing would meet %+v", b)
				}
				for _, m := range b.Meet {
					if m.Tool == "" && m.Command == "" && m.Text == "" {
						t.Errorf("empty remedy in %+v", b)
					}
				}
			}
			if _, ok := e.Details.Get("decision"); !ok {
				t.Error("no decision in the details")
			}
			after := y.tree()
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("a refused advance changed something:\n%s", diff)
			}
		})
	}
}

func TestDryRunChangesNothingNotEvenTheLog(t *testing.T) {
	y := newToy(t, run.InitInput{})
	in := y.advanceIn()
	in.DryRun = true
	before := y.tree()
	_, err := stage.Advance(t.Context(), runs.Pinned, in)
	runs.WantCode(t, err, tidegate.MissingArtifact)
	if diff := cmp.Diff(before, y.tree()); diff != "" {
		t.Error(diff)
	}
	y.put("perspectives.json", perspectives)
	before = y.tree()
	out, err := stage.Advance(t.Context(), runs.Pinned, in)
	if err != nil || !out.DryRun || out.To != run.Wave1 || out.ManifestRevision != 1 || !out.Decision.Allowed {
		t.Fatalf("got %+v, %v", out, err)
	}
	if diff := cmp.Diff(before, y.tree()); diff != "" {
		t.Error(diff)
	}
	real := y.mustAdvance("")
	if real.Decision.InputsDigest != out.Decision.InputsDigest || real.ManifestRevision != 2 {
		t.Errorf("dry run decided %+v, the real one %+v", out, real)
	}
}

func TestDryRunOfAnExhaustedReviewDoesNotFailTheRun(t *testing.T) {
	y := newToy(t, run.InitInput{Limits: &run.Limits{MaxReviewIterations: new(int64)}}).to(run.Review)
	y.review(synthesis.ReviewChanges)
	in := y.advanceIn()
	in.DryRun = true
	before := y.tree()
	_, err := stage.Advance(t.Context(), runs.Pinned, in)
	runs.WantCode(t, err, tidegate.ReviewCapExceeded)
	if diff := cmp.Diff(before, y.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestWave2IsEnteredOnlyWhenThePivotRequiresIt(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Pivot)
	y.decide()
	_, err := y.advance(run.Wave2)
	e := runs.WantCode(t, err, tidegate.RequestedNextNotAllowed)
	if got, _ := e.Details.Get("run_wave2"); got != false {
		t.Errorf("details %v", e.Details)
	}
	y.withGap()
	_, err = y.advance(run.Citations)
	runs.WantCode(t, err, tidegate.RequestedNextNotAllowed)
	if out := y.mustAdvance(""); out.To != run.Wave2 {
		t.Errorf("went to %s", out.To)
	}
}

func TestPivotFileIsReadInBothFormsAndItsFaultsAreNamed(t *testing.T) {
	for _, tt := range []struct{ name, pivot, problem string }{
		{"earlier form", `{"run_wave2":false}`, "it was made from 0 outputs, the run has 1"},
		{"documented form", `{"decision":{"wave2_required":false,"wave2_gap_ids":[]}}`, "it was made from 0 outputs, the run has 1"},
		{"absent", "", "pivot.json missing"},
		{"no object", `[]`, "pivot not object"},
		{"no decision", `{}`, "pivot.run_wave2 missing"},
		{"decision of the wrong type", `{"decision":{"wave2_required":"no"}}`, "pivot.run_wave2 missing"},
		{"gap ids of the wrong type", `{"run_wave2":true,"wave2_gap_ids":[1]}`, "pivot.wave2_gap_ids invalid"},
		{"no JSON", `{`, "not JSON: line 1, column 2: the document ends too early"},
		{"another run's", `{"run_id":"r2","run_wave2":false}`, "belongs to run r2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			y := newToy(t, run.InitInput{}).to(run.Pivot)
			if tt.pivot != "" {
				y.put("pivot.json", tt.pivot)
			}
			_, err := y.advance("")
			e := runs.WantCode(t, err, tidegate.MissingArtifact)
			if got, _ := e.Details.Get("problem"); got != tt.problem {
				t.Errorf("problem %q", got)
			}
		})
	}
}

// TestAnEditedOutputIsJudgedAgain, by the command that the refusal names, whatever
// else is in the way.
func TestAnEditedOutputIsJudgedAgain(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Pivot)
	y.decide()
	y.put("wave-1/p1.md", withoutGap+"\nOne more word.\n")
	_, err := y.advance("")
	var commands []string
	for _, b := range blockersOf(t, err) {
		for _, m := range b.Meet {
			commands = append(commands, m.Command)
		}
	}
	for _, want := range []string{"tidegate pivot decide " + y.root, "tidegate gate b " + y.root} {
		if !slices.Contains(commands, want) {
			t.Errorf("%q is not among %q", want, commands)
		}
	}
}

// TestATextThatNoJobHandedInIsNotReviewed: the sentences that readers are asked about are
// those of the synthesis.
func TestATextThatNoJobHandedInIsNotReviewed(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Synthesis)
	y.put("synthesis/final-synthesis.md", "# Summary\n")
	y.put("synthesis/claims.json", `{"schema_version":"claims.v1","synthesis_digest":"`+codec.DigestBytes([]byte("# Another\n"))+`"}`)
	_, err := y.advance("")
	runs.WantCode(t, err, tidegate.MissingArtifact)
	y.put("synthesis/claims.json", `{"schema_version":"claims.v1","synthesis_digest":"`+codec.DigestBytes([]byte("# Summary\n"))+`"}`)
	if _, err := y.advance(""); err != nil {
		t.Error(err)
	}
}

func TestFinalizeNeedsTheReviewBundleAlsoWhenRequested(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Review)
	y.gate("E", "pass", "synthesis/final-synthesis.md")
	y.gate("F", "pass", "manifest.json")
	_, err := y.advance(run.Finalize)
	runs.WantCode(t, err, tidegate.MissingArtifact)
	y.review(synthesis.ReviewChanges)
	_, err = y.advance(run.Finalize)
	runs.WantCode(t, err, tidegate.RequestedNextNotAllowed)
	y.put("review/review-bundle.json", `{"decision":"MAYBE"}`)
	_, err = y.advance(run.Finalize)
	runs.WantCode(t, err, tidegate.MissingArtifact)
	y.review(synthesis.ReviewPass)
	y.mustAdvance(run.Finalize)
}

func TestReviewPassWithFailedGateEIsNoDeadEnd(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Review)
	y.review(synthesis.ReviewPass)
	_, err := y.advance(run.Synthesis)
	runs.WantCode(t, err, tidegate.RequestedNextNotAllowed)
	y.gate("E", "fail", "synthesis/final-synthesis.md")
	y.gate("F", "pass", "manifest.json")
	_, err = y.advance("")
	if e := runs.WantCode(t, err, tidegate.GateBlocked); e.Details[0].Value != "E" {
		t.Errorf("got %v", e)
	}
	y.mustAdvance(run.Synthesis)
}

func TestOnlyOutputsOfAWaveAreCounted(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Wave1)
	y.put("wave-1/wave1-plan.json", "{}")
	y.put("wave-1/p1.meta.json", "{}")
	y.put("wave-1/.p1.txn.md", "x")
	y.put("wave-1/folder.md/x", "x")
	_, err := y.advance("")
	if e := runs.WantCode(t, err, tidegate.MissingArtifact); e.Details[0].Value != "wave-1" {
		t.Errorf("got %v", e)
	}
	y.put("wave-1/p1.md", "x")
	_, err = y.advance("")
	if e := runs.WantCode(t, err, tidegate.MissingArtifact); e.Details[0].Value != "wave-review.json" {
		t.Errorf("got %v", e)
	}
}

func TestOnlyWhatAWaveWasAskedForIsItsOutput(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Pivot)
	y.withGap()
	y.mustAdvance(run.Wave2)
	y.gate("B", "pass", "wave-1/p1.md")
	refused := func(name string) {
		t.Helper()
		y.put("wave-2/"+name, "x")
		_, err := y.advance("")
		if e := runs.WantCode(t, err, tidegate.MissingArtifact); e.Details[0].Value != "wave-2" {
			t.Errorf("%s: got %v", name, e)
		}
	}
	allowed := func(name string) {
		t.Helper()
		y.put("wave-2/"+name, "x")
		in := y.advanceIn()
		in.DryRun = true
		if _, err := stage.Advance(t.Context(), runs.Pinned, in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		y.remove("wave-2/" + name)
	}
	refused("README.md")
	refused("notes.md")
	refused("p1.md")       // a perspective of the first wave
	allowed("gap_p1_1.md") // the gap that the pivot names

	y = newToy(t, run.InitInput{}).to(run.Wave1)
	y.put("wave-1/README.md", "x")
	_, err := y.advance("")
	if e := runs.WantCode(t, err, tidegate.MissingArtifact); e.Details[0].Value != "wave-1" {
		t.Errorf("got %v", e)
	}
}

func TestFailedGateAStopsTheWaveThatWasPlannedByIt(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Wave1)
	y.put("wave-1/p1.md", "x")
	y.put("wave-review.json", "{}")
	y.gate("B", "pass", "wave-1", "wave-review.json")
	for _, status := range []string{"fail", "not_run"} {
		y.gate("A", "fail")
		if status == "not_run" {
			y.gate("A", "pass") // of nothing
		}
		_, err := y.advance("")
		if e := runs.WantCode(t, err, tidegate.GateBlocked); e.Details[0].Value != "A" {
			t.Errorf("%s: got %v", status, e)
		}
	}
	y.gate("A", "pass", "perspectives.json")
	y.mustAdvance("")
}

func TestGateNoLongerCountsWhenWhatItJudgedHasChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(y *toy)
		file   string
	}{
		{"an output is edited", func(y *toy) { y.put("wave-1/p1.md", "other") }, "wave-1/p1.md"},
		{"an output is removed", func(y *toy) { y.remove("wave-1/p2.md") }, "wave-1/p2.md"},
		{"an output is added", func(y *toy) { y.put("wave-1/p3.md", "x") }, "wave-1/p3.md"},
		{"the report is edited", func(y *toy) { y.put("wave-review.json", "{ }") }, "wave-review.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			y := newToy(t, run.InitInput{}).to(run.Wave1)
			y.put("wave-1/p1.md", "x")
			y.put("wave-1/p2.md", "x")
			y.put("wave-review.json", "{}")
			y.gate("B", "pass", "wave-1", "wave-review.json")
			tt.change(y)
			_, err := y.advance("")
			e := runs.WantCode(t, err, tidegate.GateBlocked)
			if changed, _ := e.Details.Get("changed"); !cmp.Equal(changed, []string{tt.file}) {
				t.Errorf("details %v", e.Details)
			}
			y.gate("B", "pass", "wave-1", "wave-review.json")
			y.mustAdvance("")
		})
	}
}

func TestOnlyCreatedAndRunningRunsAdvance(t *testing.T) {
	for _, status := range run.Statuses {
		t.Run(string(status), func(t *testing.T) {
			y := newToy(t, run.InitInput{})
			y.put("perspectives.json", perspectives)
			y.force(run.Init, status)
			_, err := y.advance("")
			if status == run.Created || status == run.Running {
				if err != nil || y.status() != "running" {
					t.Errorf("got %v, status %s", err, y.status())
				}
				return
			}
			runs.WantCode(t, err, tidegate.InvalidState)
			if y.status() != string(status) || y.stage() != "init" {
				t.Errorf("the run is %s in %s", y.status(), y.stage())
			}
		})
	}
}

func TestPausedRunListsItsOtherBlockersToo(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.force(run.Wave1, run.Paused)
	_, err := y.advance("")
	if diff := cmp.Diff("INVALID_STATE MISSING_ARTIFACT MISSING_ARTIFACT GATE_BLOCKED GATE_BLOCKED", codesOf(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestReviewCapEndsInNeedsAPersonOnce(t *testing.T) {
	two := int64(2)
	y := newToy(t, run.InitInput{Limits: &run.Limits{MaxReviewIterations: &two}}).to(run.Review)
	y.review(synthesis.ReviewChanges)
	for range 2 {
		if out := y.mustAdvance(""); out.To != run.Synthesis {
			t.Fatalf("went to %s", out.To)
		}
		y.mustAdvance("")
	}
	_, err := y.advance("")
	e := runs.WantCode(t, err, tidegate.ReviewCapExceeded)
	if limit, _ := e.Details.Get("cap"); limit != int64(2) {
		t.Errorf("details %v", e.Details)
	}
	failures := y.manifest().Get("failures")
	if y.status() != "failed" || failures.Len() != 1 || failures.Elems()[0].Get("kind").Str() != "needs_person" {
		t.Fatalf("status %s, failures %d", y.status(), failures.Len())
	}
	revision := y.manifest().Get("revision")
	_, err = y.advance("")
	runs.WantCode(t, err, tidegate.InvalidState)
	if !cmp.Equal(revision, y.manifest().Get("revision"), cmp.Comparer(func(a, b *codec.Value) bool { return codec.Digest(a) == codec.Digest(b) })) {
		t.Error("the second refusal wrote again")
	}

	_, err = stage.Resume(t.Context(), runs.Pinned, stage.ResumeInput{ManifestPath: y.files.ManifestPath})
	runs.WantCode(t, err, tidegate.InvalidState)
	must.Get(stage.Resume(t.Context(), runs.Pinned, stage.ResumeInput{ManifestPath: y.files.ManifestPath, Accept: true}))(t)
	for range 2 {
		y.mustAdvance("")
		y.mustAdvance("")
	}
	_, err = y.advance("")
	runs.WantCode(t, err, tidegate.ReviewCapExceeded)
	if y.manifest().Get("failures").Len() != 2 {
		t.Error("the second exhaustion is not recorded")
	}
}

// TestNoRoundIsAllowed: where none is, none is said to be used.
func TestNoRoundIsAllowed(t *testing.T) {
	none := int64(0)
	y := newToy(t, run.InitInput{Limits: &run.Limits{MaxReviewIterations: &none}}).to(run.Review)
	y.review(synthesis.ReviewChanges)
	_, err := y.advance("")
	if e := runs.WantCode(t, err, tidegate.ReviewCapExceeded); !strings.Contains(e.Message, "none is allowed") {
		t.Error(e)
	}
}

func TestAdvanceIsRefusedWithItsOwnCodes(t *testing.T) {
	y := newToy(t, run.InitInput{})
	elsewhere := filepath.Join(t.TempDir(), "gates.json")
	must.Do(t, run.CheckPath("x", elsewhere))
	copyFile(t, y.files.GatesPath, elsewhere)
	seven := int64(7)
	for _, tt := range []struct {
		name   string
		change func(in *stage.AdvanceInput)
		code   tidegate.Code
	}{
		{"relative manifest", func(in *stage.AdvanceInput) { in.ManifestPath = "manifest.json" }, tidegate.InvalidArgs},
		{"relative gates", func(in *stage.AdvanceInput) { in.GatesPath = "gates.json" }, tidegate.InvalidArgs},
		{"blank reason", func(in *stage.AdvanceInput) { in.Reason = " " }, tidegate.InvalidArgs},
		{"no manifest", func(in *stage.AdvanceInput) { in.ManifestPath = filepath.Join(y.root, "none.json") }, tidegate.FileNotFound},
		{"no stage", func(in *stage.AdvanceInput) { in.RequestedNext = "lunch" }, tidegate.RequestedNextNotAllowed},
		{"not reachable", func(in *stage.AdvanceInput) { in.RequestedNext = "review" }, tidegate.RequestedNextNotAllowed},
		{"other revision", func(in *stage.AdvanceInput) { in.ExpectedManifestRevision = &seven }, tidegate.RevisionMismatch},
		{"gates that lie elsewhere", func(in *stage.AdvanceInput) { in.GatesPath = elsewhere }, tidegate.PathNotAllowed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := y.advanceIn()
			tt.change(&in)
			_, err := stage.Advance(t.Context(), runs.Pinned, in)
			runs.WantCode(t, err, tt.code)
		})
	}
	_, err := y.advance("review")
	e := runs.WantCode(t, err, tidegate.RequestedNextNotAllowed)
	if allowed, _ := e.Details.Get("allowed_next"); !cmp.Equal(allowed, []run.Stage{run.Perspectives, run.Wave1}) {
		t.Errorf("details %v", e.Details)
	}
	y.to(run.Finalize)
	_, err = y.advance("")
	runs.WantCode(t, err, tidegate.InvalidState)
}

func TestGatesOfAnotherRunMoveNothing(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.put("gates.json", strings.Replace(y.read("gates.json"), `"run_id": "r1"`, `"run_id": "r2"`, 1))
	_, err := y.advance("")
	runs.WantCode(t, err, tidegate.InvalidState)
}

func TestSwitchedOffRunDoesNotAdvance(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.put("perspectives.json", perspectives)
	y.put("manifest.json", replaceOnce(t, y.read("manifest.json"), "\"enabled\": true", "\"enabled\": false"))
	y.accept()
	_, err := y.advance("")
	runs.WantCode(t, err, tidegate.Disabled)
}

func TestBrokenDocumentsAreNamedNotCalledWriteFailures(t *testing.T) {
	y := newToy(t, run.InitInput{})
	good := y.read("manifest.json")
	for _, tt := range []struct {
		name, file, content string
		code                tidegate.Code
	}{
		{"manifest is not JSON", "manifest.json", "{", tidegate.InvalidJSON},
		{"manifest breaks the schema", "manifest.json", strings.Replace(good, `"running"`, `"x"`, 1)[:1] + `}`, tidegate.SchemaValidationFailed},
		{"later manifest", "manifest.json", strings.Replace(good, "manifest.v1", "manifest.v2", 1), tidegate.SchemaValidationFailed},
		{"gates are not JSON", "gates.json", "[", tidegate.InvalidJSON},
		{"gates break the schema", "gates.json", "{}", tidegate.SchemaValidationFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old := y.read(tt.file)
			defer y.put(tt.file, old)
			y.put(tt.file, tt.content)
			_, err := y.advance("")
			runs.WantCode(t, err, tt.code)
			if y.read(tt.file) != tt.content {
				t.Error("it was rewritten")
			}
		})
	}
	y.remove("gates.json")
	_, err := y.advance("")
	if e := runs.WantCode(t, err, tidegate.FileNotFound); e.Details[0].Key != "gates_path" {
		t.Errorf("NOT_FOUND does not name the file: %v", e.Details)
	}
}

// The earlier system's digest of this decision, with names relative to the run.
func TestDecisionDigestIsThatOfTheEarlierSystem(t *testing.T) {
	payload := func(path string) tidegate.Details {
		statuses := tidegate.Details{}
		for _, id := range run.GateIDs() {
			statuses = append(statuses, tidegate.Detail{Key: id, Value: "not_run"})
		}
		return tidegate.Pairs("schema", "stage_advance.decision.v1", "from", "init", "to", "wave1", "requested_next", nil,
			"manifest_revision", 1, "gates_revision", 1, "gates_status", statuses, "evaluated", []stage.Check{
				{Kind: "transition", Name: "init -> wave1", OK: true, Details: tidegate.Pairs()},
				{Kind: "artifact", Name: "perspectives.json", OK: false, Details: tidegate.Pairs("path", path)},
			})
	}
	const vector = "sha256:ab7018122d821a5b5c012df71d5f644915ead9af774aeb33510244519b622bf0"
	if got := codec.Digest(payload("/runs/r1/perspectives.json")); got != vector {
		t.Errorf("payload digest %s", got)
	}
	y := newToy(t, run.InitInput{})
	for range 2 { // the same refused attempt gives the same digest
		_, err := y.advance("")
		decision, _ := runs.WantCode(t, err, tidegate.MissingArtifact).Details.Get("decision")
		want := codec.Digest(payload("perspectives.json"))
		if got := decision.(stage.Decision).InputsDigest; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEvidenceDigestFollowsContentsNotPlaces(t *testing.T) {
	digest := func(content string) string {
		y := newToy(t, run.InitInput{})
		y.put("perspectives.json", content)
		return y.mustAdvance("").Decision.EvidenceDigest
	}
	if here, there := digest(perspectives), digest(perspectives); here != there {
		t.Error("the same content in another folder has another digest")
	}
	if digest(perspectives) == digest(perspectives+"\n") {
		t.Error("another content has the same digest")
	}
}

func TestEvaluatedEntriesStandInTheDocumentedOrder(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Pivot)
	y.withGap()
	names := func(to run.Stage) string {
		in := y.advanceIn()
		in.DryRun, in.RequestedNext = true, string(to)
		out := must.Get(stage.Advance(t.Context(), runs.Pinned, in))(t)
		var list []string
		for _, c := range out.Decision.Evaluated {
			list = append(list, c.Kind+" "+c.Name)
		}
		return strings.Join(list, "; ")
	}
	if diff := cmp.Diff("artifact pivot.json; transition pivot -> wave2; artifact wave-2; limit wave2_gap_ids <= max_wave2_agents", names("")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("transition pivot -> wave2; artifact wave-2; artifact pivot.json; limit wave2_gap_ids <= max_wave2_agents", names(run.Wave2)); diff != "" {
		t.Error(diff)
	}
}

func TestManifestOutsideItsRunMovesNothing(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.put("perspectives.json", perspectives)
	elsewhere := filepath.Join(t.TempDir(), "manifest.json")
	copyFile(t, y.files.ManifestPath, elsewhere)
	before := y.tree()
	in := y.advanceIn()
	in.ManifestPath = elsewhere
	_, err := stage.Advance(t.Context(), runs.Pinned, in)
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	after := y.tree()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a copy of the manifest left traces in the real run:\n%s", diff)
	}
}

func TestNobodyElseMovesARun(t *testing.T) {
	offenders := callers(t, "EditManifest(")
	offenders = slices.DeleteFunc(offenders, func(file string) bool {
		dir := filepath.Base(filepath.Dir(file))
		return dir == "run" || dir == "stage"
	})
	if len(offenders) > 0 {
		t.Errorf("only package stage may call EditManifest: %v", offenders)
	}
}

func TestNewSynthesisMustBeJudgedAnew(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Review)
	y.gate("E", "pass", "synthesis/final-synthesis.md")
	y.gate("F", "pass", "manifest.json")
	y.review(synthesis.ReviewChanges)
	y.mustAdvance("")
	y.put("synthesis/final-synthesis.md", "# Another summary\n")
	y.mustAdvance("")
	y.review(synthesis.ReviewPass)
	_, err := y.advance("")
	e := runs.WantCode(t, err, tidegate.GateBlocked)
	if changed, _ := e.Details.Get("changed"); !cmp.Equal(changed, []string{"synthesis/final-synthesis.md"}) {
		t.Errorf("details %v", e.Details)
	}
	y.gate("E", "pass", "synthesis/final-synthesis.md")
	y.mustAdvance("")
}

func TestOfManyConcurrentAdvancesOneMovesTheRun(t *testing.T) {
	y := newToy(t, run.InitInput{})
	y.put("perspectives.json", perspectives)
	y.put("wave-1/p1.md", "x")
	y.put("wave-review.json", "{}")
	y.gate("B", "pass", "wave-1")
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wait.Go(func() { _, errs[i] = y.advance(run.Wave1) })
	}
	wait.Wait()
	moved := 0
	for _, err := range errs {
		switch tidegate.CodeOf(err) {
		case "":
			moved++
		case tidegate.RevisionMismatch, tidegate.RequestedNextNotAllowed:
		default:
			t.Error(err)
		}
	}
	if moved != 1 || y.stage() != "wave1" {
		t.Errorf("%d moved the run, which is in %s", moved, y.stage())
	}
}

// TestRevisionRoundsEnd: whatever reviewers say, a run ends, or is left to a
// person, after as many rounds as its limit allows.
func TestRevisionRoundsEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for limit := range int64(4) {
		for range 6 / full.Stride(3, 1) {
			y := newToy(t, run.InitInput{Limits: &run.Limits{MaxReviewIterations: &limit}}).to(run.Review)
			rounds := int64(0)
			for ; ; rounds++ {
				if rounds > limit {
					t.Fatalf("limit %d: the run went back %d times", limit, rounds)
				}
				y.gate("E", []string{"pass", "fail"}[random.IntN(2)], "synthesis/final-synthesis.md")
				y.gate("F", "pass", "manifest.json")
				y.review([]string{synthesis.ReviewPass, synthesis.ReviewChanges, synthesis.ReviewChanges}[random.IntN(3)])
				out, err := y.advance("")
				if tidegate.CodeOf(err) == tidegate.GateBlocked { // passed by a reviewer, and not by gate E
					out, err = y.advance(run.Synthesis)
				}
				if err != nil || out.To == run.Finalize {
					break
				}
				y.put("synthesis/final-synthesis.md", "# Summary "+strconv.FormatInt(rounds, 10)+"\n")
				y.mustAdvance("")
			}
			if status := y.manifest().Get("status").Str(); status != "completed" && status != "failed" {
				t.Errorf("limit %d: after %d rounds the run is %s", limit, rounds, status)
			}
		}
	}
}
