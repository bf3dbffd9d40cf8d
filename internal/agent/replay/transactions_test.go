package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestEveryOperationIsReplayed does by hand what agents, people and rules can do to a
// run, with arguments other than the usual ones, and takes the run elsewhere after
// each. Everything comes out again, nothing is left out.
func TestEveryOperationIsReplayed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	desk := run.Desk{Pinned: true, Now: func() time.Time { at = at.Add(time.Millisecond); return at }}
	ctx := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	many := int64(9)
	made := must.Get(run.Create(ctx, desk, t.TempDir(), run.InitInput{Query: "What moves the tides?", RunID: "tides", Mode: "deep", Sensitivity: "restricted",
		Limits: &run.Limits{MaxWave1Agents: &many, MaxReviewIterations: &many},
		Budget: map[string]float64{"tries": 2, "attempt_minutes": 2.5}, Asked: run.Asked{ConfirmPlan: true, Perspectives: 2, Agents: map[string]run.Agent{"writer": {Driver: "claude", Model: "m"}, "researcher": {Driver: "codex"}}, Servers: []string{"web"}}}))(t)
	root := made.Root
	path := func(name string) string { return filepath.Join(root, name) }
	manifest := func() string { return path(run.ManifestFile) }
	var list []tidegate.Details
	for _, id := range []string{"moon", "sun"} {
		list = append(list, tidegate.Pairs("id", id, "title", id, "track", "standard", "agent_type", "a", "prompt_contract",
			tidegate.Pairs("max_words", 60, "max_sources", 2, "tool_budget", tidegate.Pairs(), "must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	contracts := codec.Of(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "tides", "created_at", "2026-02-14", "perspectives", list))
	perspectives := func() error {
		_, err := step.WritePerspectives(ctx, desk, step.PerspectivesInput{PerspectivesPath: path("perspectives.json"), Value: contracts, Reason: "mine"})
		return err
	}
	plan := func() error {
		_, err := step.Plan(ctx, desk, step.PlanInput{ManifestPath: manifest(), Reason: "planned"})
		return err
	}
	long := strings.Repeat("é", 5000) // more than a line keeps
	advance := func(to run.Stage) func() error {
		return func() error {
			_, err := stage.Advance(ctx, desk, stage.AdvanceInput{ManifestPath: manifest(), GatesPath: path("gates.json"), RequestedNext: string(to), Reason: long})
			return err
		}
	}
	ingest := func() error {
		var outputs []step.Submission
		for _, id := range []string{"moon", "sun"} {
			outputs = append(outputs, step.Submission{PerspectiveID: id, Markdown: "## Findings\n\nIt pulls.\n\n## Gaps\n\n## Sources\n\n- https://example.org/port\n"})
		}
		_, err := step.Ingest(ctx, desk, step.IngestInput{ManifestPath: manifest(), PerspectivesPath: path("perspectives.json"), Wave: "wave1", Outputs: outputs})
		return err
	}
	review := func(most int, ids ...string) func() error {
		return func() error {
			_, err := step.ReviewWave(ctx, desk, step.WaveReviewInput{PerspectivesPath: path("perspectives.json"), OutputsDir: path("wave-1"), ReportPath: path("wave-review.json"),
				MaxFailures: most, PerspectiveIDs: ids})
			return err
		}
	}
	gate := func(id string, accept bool) func() error {
		return func() error {
			_, err := gates.RecordGate(ctx, desk, gates.GateInput{ManifestPath: manifest(), Gate: id, Accept: accept, Reason: "looked at"})
			return err
		}
	}
	fail := func(failure run.Failure) func() error {
		return func() error {
			_, err := runs.OpenAt(t, desk, manifest()).Update(ctx, func(u *run.Update) error { return stage.LeaveToPerson(u, failure, "needs a person") })
			return err
		}
	}
	for i, each := range []struct {
		name string
		do   func() error
	}{
		{"a stage of its own for the perspectives", advance(run.Perspectives)},
		{"perspectives", perspectives},
		{"a person's yes", func() error {
			data, err := os.ReadFile(path("perspectives.json"))
			if err != nil {
				return err
			}
			return step.ConfirmPlan(ctx, desk, manifest(), codec.DigestBytes(data))
		}},
		{"plan", plan},
		{"first wave, as asked for", advance(run.Wave1)},
		{"outputs", ingest},
		{"a part reviewed", review(7, "sun", "moon")},
		{"reviewed", review(3)},
		{"gate B", gate("B", false)},
		{"paused", func() error {
			_, err := stage.Pause(ctx, desk, stage.ControlInput{ManifestPath: manifest(), Reason: "lunch"})
			return err
		}},
		{"resumed", func() error {
			_, err := stage.Resume(ctx, desk, stage.ResumeInput{ManifestPath: manifest()})
			return err
		}},
		{"a limit", func() error {
			_, err := stage.Limit(ctx, desk, stage.LimitInput{ManifestPath: manifest(), Name: "max_wave2_agents", Value: 2})
			return err
		}},
		{"out of budget", fail(run.Failure{Code: tidegate.BudgetExhausted, Count: 7, Message: long})},
		{"a larger budget, which lets it resume", func() error {
			_, err := stage.Limit(ctx, desk, stage.LimitInput{ManifestPath: manifest(), Name: "max_tokens", Value: 1000, Reason: long})
			return err
		}},
		{"a choice about sentences", func() error {
			return stage.ChooseEvidence(ctx, desk, manifest(), run.EvidenceChoice{OneAgent: true, NoReader: true})
		}},
		{"pivot", advance("")},
		{"decided", func() error {
			in, err := step.PivotOf(ctx, desk, manifest())
			if err == nil {
				in.Reason = "decide"
				_, err = step.DecidePivot(ctx, desk, in)
			}
			return err
		}},
		{"citations, as asked for", advance(run.Citations)},
		{"sources", func() error {
			_, err := sourcing.ValidateCitations(ctx, desk, played.Web, sourcing.CitationsInput{ManifestPath: manifest(), Reason: "fetch"})
			return err
		}},
		{"jobs without an answer", fail(run.Failure{Code: tidegate.JobNotOpen, Count: 1, Jobs: []run.JobTries{{ID: "wave1.sun", Attempts: 4}}, Message: "no more tries"})},
		{"resumed all the same", func() error {
			_, err := stage.Resume(ctx, desk, stage.ResumeInput{ManifestPath: manifest(), Accept: true, Reason: "I know"})
			return err
		}},
		{"a gate that needs a person", fail(run.Failure{Code: tidegate.GateBlocked, Gate: "C", Message: "gate C does not pass"})},
		{"evidence in place of a page", func() error {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(reader.Page(0)), 0o600); err != nil {
				return err
			}
			data, err := os.ReadFile(path("citations/citations.jsonl"))
			if err != nil {
				return err
			}
			first, _, _ := bytes.Cut(data, []byte("\n"))
			_, err = sourcing.Attach(ctx, desk, sourcing.AttachInput{ManifestPath: manifest(), CID: runs.Parse(t, first).Get("cid").Str(), FilePath: file, Over: true, Reason: "saved"})
			return err
		}},
		{"sources again, without fetching", func() error {
			_, err := sourcing.ValidateCitations(ctx, desk, nil, sourcing.CitationsInput{ManifestPath: manifest(), DryRun: true, Reason: "again"})
			return err
		}},
		{"another that needs a person", fail(run.Failure{Code: tidegate.GateBlocked, Gate: "C", Message: "gate C does not pass"})},
		{"gate C accepted", gate("C", true)},
		{"summaries", advance("")},
	} {
		if err := each.do(); err != nil {
			t.Fatalf("%s: %v", each.name, err)
		}
		to := filepath.Join(t.TempDir(), fmt.Sprintf("elsewhere %d", i))
		must.Do(t, os.Rename(root, to))
		root = to
		if i%full.Stride(8, 1) != 0 && each.name != "summaries" {
			continue
		}
		result, err := replay.Run(t.Context(), open(t, root), "")
		if err != nil || !result.Pass || len(result.Left) > 0 {
			t.Fatalf("after %s: %s %v %v", each.name, differences(result), result.Left, err)
		}
		verified, err := run.Verify(t.Context(), desk, run.VerifyInput{ManifestPath: manifest(), Follows: stage.Follows})
		if err != nil || !verified.Pass {
			t.Fatalf("after %s: %+v %v", each.name, verified.Findings, err)
		}
	}
}

// TestWhatWasAskedForCannotBeTakenAway: a line that only a rule writes does not count
// as handed in once a forger has taken its arguments away.
func TestWhatWasAskedForCannotBeTakenAway(t *testing.T) {
	t.Parallel()
	const kind = "second-wave"
	var points []int
	for i, line := range (forger{t, played.Lay(t, t.TempDir(), kind)}).lines() {
		if runs.Parse(t, line).Get("args") != nil {
			points = append(points, i)
		}
	}
	for i := 0; i < len(points); i += full.Stride(len(points), 1) {
		f := forger{t, played.Lay(t, t.TempDir(), kind)}
		lines := f.lines()
		e := runs.Parse(t, lines[points[i]]).Clone()
		e.Delete("args")
		lines[points[i]] = []byte(shownLine(t, e))
		f.record(lines)
		out, err := replay.Run(t.Context(), open(t, f.root), "")
		if err == nil && out.Pass && len(out.Left) == 0 {
			t.Errorf("line %d, %s, counts as handed in", points[i]+1, e.Get("kind").Str())
		}
	}
}
