package step_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

func (r testRun) recordGate(id string) error {
	_, err := gates.RecordGate(r.t.Context(), runClock, gates.GateInput{ManifestPath: r.manifest, Gate: id, Reason: "test"})
	return err
}

func TestGateDoesNotPassOnAnOutputThatNobodyTook(t *testing.T) {
	r := reviewed(t)
	r.write("wave-1/a.md", goodOutput+"\n")
	before := must.Tree(t, r.root)
	runs.WantCode(t, r.recordGate("B"), tidegate.Tampered)
	if diff := cmp.Diff(before, must.Tree(t, r.root)); diff != "" {
		t.Error(diff)
	}
	must.Get(step.Restore(t.Context(), runClock, step.RestoreInput{ManifestPath: r.manifest, PerspectiveID: "a", Reason: "test"}))(t)
	if err := r.recordGate("B"); err != nil {
		t.Errorf("the output is what the run took again: %v", err)
	}
}

// TestGatePassesOnAnOutputThatAPersonAccepted as it is, by the commands that the
// refusal names.
func TestGatePassesOnAnOutputThatAPersonAccepted(t *testing.T) {
	r := reviewed(t)
	must.Do(t, r.recordGate("B"))
	r.advance(run.Pivot)
	r.write("wave-1/a.md", goodOutput+"\n")
	runs.WantCode(t, r.recordGate("B"), tidegate.Tampered)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(run.AcceptRecord(person, runClock, run.AcceptInput{ManifestPath: r.manifest, Reason: "a slip of the pen"}))(t)
	if err := r.recordGate("B"); err != nil {
		t.Errorf("after the acceptance: %v", err)
	}
	r.write("wave-1/a.md", goodOutput+"\n\n")
	runs.WantCode(t, r.recordGate("B"), tidegate.Tampered)
}

// TestOutputTakenMeanwhileIsNoTampering takes outputs while others judge them
// and put them back: what one of them changes under the lock must not look like
// tampering to another.
func TestOutputTakenMeanwhileIsNoTampering(t *testing.T) {
	r := reviewed(t)
	const rounds = 10
	var group sync.WaitGroup
	check := func(what string, err error, allowed ...tidegate.Code) {
		for _, code := range allowed {
			if tidegate.CodeOf(err) == code {
				return
			}
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	group.Go(func() {
		for i := range rounds {
			check("ingest", r.ingest(step.Submission{PerspectiveID: "a", Markdown: goodOutput + fmt.Sprintf("- https://example.org/%d\n", i)}))
		}
	})
	group.Go(func() {
		for range rounds {
			check("gate", r.recordGate("B"), tidegate.InvalidState) // it changed while it was judged
		}
	})
	group.Go(func() {
		for range rounds {
			_, err := step.Restore(t.Context(), runClock, step.RestoreInput{ManifestPath: r.manifest, PerspectiveID: "a", Reason: "test"})
			check("restore", err)
		}
	})
	group.Wait()
	if err := r.recordGate("B"); err != nil {
		t.Error(err)
	}
}

// TestGateAIsNotJudgedByWhatCannotBeRead: a document that cannot be read is an
// error, not a finding to be recorded.
func TestGateAIsNotJudgedByWhatCannotBeRead(t *testing.T) {
	for _, name := range []string{run.ScopeFile, "perspectives.json", "wave-1/wave1-plan.json"} {
		r := inWave1(t)
		path := filepath.Join(r.root, name)
		must.Do(t, os.Remove(path))
		must.Do(t, os.Mkdir(path, 0o700))
		opened := must.Get(run.Open(t.Context(), runClock, r.manifest))(t)
		defer opened.Close()
		if found, err := gates.Judge(t.Context(), opened, "A"); tidegate.CodeOf(err) != tidegate.ReadFailed {
			t.Errorf("a folder in place of %s: %s %v, %v", name, found.Status(), found.Warnings, err)
		}
	}
}
