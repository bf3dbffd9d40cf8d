package stage_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// wholeSequence takes a run from init to the pivot decision and beyond, in the
// home dir. It can be started again after it was killed anywhere: each step is
// skipped when its result is there.
func wholeSequence(dir string) error {
	ctx := context.Background()
	home := filepath.Join(dir, "home")
	created, err := run.Create(ctx, runs.Pinned, home, run.InitInput{Query: "What moves the tide?", RunID: "r1"})
	if err != nil {
		return err
	}
	s := sequence{ctx: ctx, files: created}
	for _, step := range []func() error{
		s.perspectives, s.plan, s.advance("init"), s.outputs, s.review, s.gateB, s.advance("wave1"), s.pivot, s.advance("pivot"), s.recover,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type sequence struct {
	ctx   context.Context
	files run.InitResult
}

// has looks at the run first, as one does to see how to go on: what it sees
// after that stays.
func (s sequence) has(name string) bool {
	if _, err := stage.Status(s.ctx, runs.Pinned, s.files.ManifestPath); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(s.files.Root, name))
	return err == nil
}

func (s sequence) advance(from string) func() error {
	return func() error {
		now, err := stage.Status(s.ctx, runs.Pinned, s.files.ManifestPath)
		if err != nil || string(now.Stage) != from {
			return err
		}
		_, err = stage.Advance(s.ctx, runs.Pinned, stage.AdvanceInput{ManifestPath: s.files.ManifestPath, GatesPath: s.files.GatesPath, Reason: "sequence"})
		return err
	}
}

// recover clears away what a process left when it was killed after its last write.
func (s sequence) recover() error {
	_, err := run.Recover(s.ctx, runs.Pinned, s.files.ManifestPath)
	return err
}

// the contracts and outputs of the sequence.
const (
	sequenceContract = `{"id":%q,"title":"T","track":"standard","agent_type":"x","prompt_contract":{"max_words":50,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Sources","Gaps"]}}`
	sequenceOutput   = "# Findings\n\nTides turn.\n\n# Sources\n\n- Tides https://example.org/tides\n\n# Gaps\n\nNone is left.\n"
)

var sequenceIDs = []string{"p0", "p1", "p2"}

func (s sequence) perspectives() error {
	if s.has("perspectives.json") {
		return nil
	}
	var list []string
	for _, id := range sequenceIDs {
		list = append(list, fmt.Sprintf(sequenceContract, id))
	}
	value, err := codec.Parse([]byte(`{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[` + strings.Join(list, ",") + `]}`))
	if err != nil {
		return err
	}
	_, err = step.WritePerspectives(s.ctx, runs.Pinned, step.PerspectivesInput{
		PerspectivesPath: filepath.Join(s.files.Root, "perspectives.json"), Value: value, Reason: "sequence"})
	return err
}

func (s sequence) plan() error {
	if s.has("wave-1/wave1-plan.json") {
		return nil
	}
	_, err := step.Plan(s.ctx, runs.Pinned, step.PlanInput{ManifestPath: s.files.ManifestPath, Reason: "sequence"})
	return err
}

func (s sequence) outputs() error {
	if s.has("wave-1/p0.md") {
		return nil
	}
	in := step.IngestInput{ManifestPath: s.files.ManifestPath, PerspectivesPath: filepath.Join(s.files.Root, "perspectives.json"), Wave: "wave1"}
	for _, id := range sequenceIDs {
		in.Outputs = append(in.Outputs, step.Submission{PerspectiveID: id, Markdown: sequenceOutput})
	}
	_, err := step.Ingest(s.ctx, runs.Pinned, in)
	return err
}

func (s sequence) review() error {
	if s.has("wave-review.json") {
		return nil
	}
	at := func(name string) string { return filepath.Join(s.files.Root, name) }
	_, err := step.ReviewWave(s.ctx, runs.Pinned, step.WaveReviewInput{PerspectivesPath: at("perspectives.json"), OutputsDir: at("wave-1"), ReportPath: at("wave-review.json"), MaxFailures: 25})
	return err
}

func (s sequence) gateB() error {
	now, err := stage.Status(s.ctx, runs.Pinned, s.files.ManifestPath)
	if err != nil || now.Gates[1].Status == "pass" {
		return err
	}
	_, err = step.RecordGate(s.ctx, runs.Pinned, step.GateInput{ManifestPath: s.files.ManifestPath, Gate: "B", Reason: "sequence"})
	return err
}

func (s sequence) pivot() error {
	if s.has("pivot.json") {
		return nil
	}
	in, err := step.PivotOf(s.ctx, runs.Pinned, s.files.ManifestPath)
	if err != nil {
		return err
	}
	in.Reason = "sequence"
	_, err = step.DecidePivot(s.ctx, runs.Pinned, in)
	return err
}

// sameArtifacts compares what two sequences left, except locks.
func sameArtifacts(want, got map[string]string) error {
	drop := func(files map[string]string) map[string]string {
		files = maps.Clone(files)
		maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(filepath.Base(name), ".tidegate") })
		return files
	}
	want, got = drop(want), drop(got)
	for name, content := range want {
		if got[name] != content {
			return fmt.Errorf("%s differs:\n%s\nwant:\n%s", name, got[name], content)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s should not be there", name)
		}
	}
	return nil
}
