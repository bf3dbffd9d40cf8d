package step_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// editGates lays an update over the gates of a run, as its judges do.
func editGates(t *testing.T, out run.InitResult, update *codec.Value) error {
	t.Helper()
	_, err := runs.Open(t, out.ManifestPath).Update(t.Context(), func(u *run.Update) error {
		_, err := u.EditGates(update, "sha256:x", "test")
		return err
	})
	return err
}

func TestGateUpdateIsLaidOverTheGate(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"fail","checked_at":"2026-02-14T12:00:00Z","metrics":{"n":1},"warnings":["w"],"notes":"fine"}}`)))
	gate := runs.Parse(t, must.Read(t, out.GatesPath)).Get("gates").Get("B")
	got, _ := codec.MarshalLine(gate)
	want := `{"id":"B","name":"Wave output contract compliance","class":"hard","status":"fail","checked_at":"2026-02-14T12:00:00Z","metrics":{"n":1},"artifacts":[],"warnings":["w"],"notes":"fine"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"not_run"}}`)))
	if gate := runs.Parse(t, must.Read(t, out.GatesPath)).Get("gates").Get("B"); gate.Get("checked_at").Kind() != codec.Null {
		t.Error("a gate that is not run has a time")
	}
}

func TestGateUpdatesThatBreakTheRulesChangeNothing(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	must.Do(t, editGates(t, out, runs.Parse(t, `{"A":{"status":"pass","checked_at":"2026-02-14T12:00:00Z"}}`)))
	before := must.Tree(t, out.Root)
	for _, tt := range []struct {
		name, update string
		code         tidegate.Code
	}{
		{"unknown status", `{"B":{"status":"maybe","checked_at":"2026-02-14T12:00:00Z"}}`, tidegate.SchemaValidationFailed},
		{"metrics of the wrong type", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","metrics":3}}`, tidegate.SchemaValidationFailed},
		{"artifacts of the wrong type", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":[3]}}`, tidegate.SchemaValidationFailed},
		{"passes on a file that is not there", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["none.md"]}}`, tidegate.MissingArtifact},
		{"file outside the run", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["../x"]}}`, tidegate.PathNotAllowed},
		{"absolute file outside the run", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["/etc/hosts"]}}`, tidegate.PathNotAllowed},
		{"passes on a folder without files", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["wave-2"]}}`, tidegate.MissingArtifact},
		{"passes on nothing but the log", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["logs"]}}`, tidegate.MissingArtifact},
		{"blank file", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":[" "]}}`, tidegate.PathNotAllowed},
		{"bound to the gates themselves", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["gates.json"]}}`, tidegate.InvalidArgs},
		{"bound to the log", `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["logs/audit.jsonl"]}}`, tidegate.InvalidArgs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs.WantCode(t, editGates(t, out, runs.Parse(t, tt.update)), tt.code)
		})
	}
	if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
		t.Error(diff)
	}
}

func TestGateIsBoundToTheFilesItNames(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	runs.Put(t, out.Root, "wave-1/p1.md", "one")
	runs.Put(t, out.Root, "wave-1/sub/p2.md", "two")
	runs.Put(t, out.Root, "wave-1/.hidden", "x")
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["wave-1","`+out.ManifestPath+`"]}}`)))
	bound := runs.Parse(t, must.Read(t, out.GatesPath)).Get("gates").Get("B").Get("metrics").Get("bound")
	var names []string
	for _, m := range bound.Get("files").Members() {
		names = append(names, m.Key)
	}
	if diff := cmp.Diff("manifest.json wave-1/p1.md wave-1/sub/p2.md", strings.Join(names, " ")); diff != "" {
		t.Error(diff)
	}
	if got := bound.Get("files").Get("wave-1/p1.md").Str(); got != codec.DigestBytes([]byte("one")) {
		t.Errorf("digest %s", got)
	}
	if bound.Get("digest").Str() != codec.Digest(bound.Get("files")) {
		t.Error("digest does not cover the files")
	}
	state := func() run.GateState {
		r := runs.Open(t, out.ManifestPath)
		gates := must.Get(r.Gates())(t)
		s := must.Get(r.GateState(gates, "B"))(t)
		return s
	}
	if s := state(); s.Counts() != "pass" || !s.Bound {
		t.Errorf("state %+v", s)
	}
	// The manifest moves on; what it says about the question does not.
	r := runs.Open(t, out.ManifestPath)
	must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.Progress("test", "x") }))(t)
	if s := state(); s.Counts() != "pass" {
		t.Errorf("progress unbound the gate: %+v", s)
	}
	runs.Put(t, out.Root, "wave-1/p1.md", "one more")
	if s := state(); s.Counts() != "not_run" || s.Status != "pass" || !cmp.Equal(s.Changed, []string{"wave-1/p1.md"}) {
		t.Errorf("state %+v", s)
	}
	runs.Put(t, out.Root, "wave-1/p1.md", "one")
	runs.Put(t, out.Root, "manifest.json", strings.Replace(must.Read(t, out.ManifestPath), "What moves", "What stops", 1))
	if s := state(); !cmp.Equal(s.Changed, []string{"manifest.json"}) {
		t.Errorf("another question does not unbind the gate: %+v", s)
	}
}

func TestGateBoundToTheWholeRunCountsAfterItsOwnWrite(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["."]}}`)))
	r := runs.Open(t, out.ManifestPath)
	gates := must.Get(r.Gates())(t)
	if s, err := r.GateState(gates, "B"); err != nil || !s.Bound || s.Counts() != "pass" {
		t.Errorf("state %+v, %v", s, err)
	}
}

func TestBindingThatAJudgeBringsMustStillBeTrue(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	runs.Put(t, out.Root, "wave-1/p1.md", "judged")
	r := runs.Open(t, out.ManifestPath)
	binding := must.Get(run.Bind(r.Folder(), []string{"wave-1/p1.md"}))(t)
	patch := codec.Of(tidegate.Pairs("B", tidegate.Pairs("status", "pass", "checked_at", "2026-02-14T12:00:00Z",
		"artifacts", []string{"wave-1/p1.md"}, "metrics", tidegate.Pairs("bound", binding.Value()))))
	runs.Put(t, out.Root, "wave-1/p1.md", "changed before it was recorded")
	e := runs.WantCode(t, editGates(t, out, patch), tidegate.InvalidState)
	if changed, _ := e.Details.Get("changed"); !cmp.Equal(changed, []string{"wave-1/p1.md"}) {
		t.Errorf("details %v", e.Details)
	}
	runs.Put(t, out.Root, "wave-1/p1.md", "judged")
	if err := editGates(t, out, patch); err != nil {
		t.Error(err)
	}
}

func TestForgedBindingDoesNotCount(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	runs.Put(t, out.Root, "wave-1/p1.md", "x")
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"pass","checked_at":"2026-02-14T12:00:00Z","artifacts":["wave-1/p1.md"]}}`)))
	runs.Put(t, out.Root, "wave-1/p1.md", "y")
	gates := must.Read(t, out.GatesPath)
	runs.Put(t, out.Root, "gates.json", strings.Replace(gates, codec.DigestBytes([]byte("x")), codec.DigestBytes([]byte("y")), 1))
	r := runs.Open(t, out.ManifestPath)
	g := must.Get(r.Gates())(t)
	if s, err := r.GateState(g, "B"); err != nil || s.Counts() != "not_run" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFailedGateIsBoundToWhatWasMissing(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	must.Do(t, editGates(t, out, runs.Parse(t, `{"B":{"status":"fail","checked_at":"2026-02-14T12:00:00Z","artifacts":["wave-1/p1.md"]}}`)))
	runs.Put(t, out.Root, "wave-1/p1.md", "x")
	r := runs.Open(t, out.ManifestPath)
	g, _ := r.Gates()
	if s, err := r.GateState(g, "B"); err != nil || s.Counts() != "not_run" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNoLineNoChange(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	log := filepath.Join(out.Root, "logs/audit.jsonl")
	must.Do(t, os.Chmod(log, 0o400))
	if file, err := os.OpenFile(log, os.O_WRONLY, 0); err == nil {
		file.Close()
		t.Skip("this user writes to what it may not write to")
	}
	before := must.Tree(t, out.Root)
	runs.WantCode(t, editGates(t, out, runs.Parse(t, `{"A":{"status":"not_run"}}`)), tidegate.WriteFailed)
	if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
		t.Error(diff)
	}
}
