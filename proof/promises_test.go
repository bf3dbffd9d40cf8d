package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
)

// oath is what an agent cannot change about a run, as it was at one point.
type oath struct {
	fixed     string // question, sensitivity, mode, limits and places
	documents map[string]string
	failures  []string
	stage     string
	status    string
}

// fixed are the fields of a manifest that only a person may change.
var fixed = []string{"schema_version", "run_id", "created_at", "query", "mode", "limits", "artifacts", "agents"}

// oathOf takes the oath of a run; it is empty for a run that does not exist.
func oathOf(t *testing.T, v victim) oath {
	t.Helper()
	o := oath{documents: map[string]string{}}
	if !v.has("manifest.json") {
		return o
	}
	manifest := v.json(t, "manifest.json")
	constants := codec.NewObject()
	for _, name := range fixed {
		if field := manifest.Get(name); field != nil {
			constants.Set(name, field)
		}
	}
	o.fixed, o.stage, o.status = codec.Digest(constants), manifest.Get("stage").Get("current").Str(), manifest.Get("status").Str()
	for _, each := range manifest.Get("failures").Elems() {
		o.failures = append(o.failures, asJSON(each))
	}
	names := []string{run.ScopeFile, run.PolicyFile, "wave-2/wave2-perspectives.json", "wave-2/wave2-plan.json"}
	if v.has("wave-1/wave1-plan.json") || o.stage != "init" && o.stage != "perspectives" {
		names = append(names, "perspectives.json")
	}
	for _, name := range names {
		if v.has(name) {
			o.documents[name] = string(v.read(t, name))
		}
	}
	return o
}

// check demands that the run keeps its oath, and that its gates are what their
// judges find.
func (o oath) check(t *testing.T, v victim) {
	t.Helper()
	if o.fixed == "" {
		return
	}
	now := oathOf(t, v)
	if now.fixed != o.fixed || !slices.Equal(now.failures, o.failures) {
		t.Fatalf("question, sensitivity, limits, places or failures of the run have changed: %s", v.read(t, "manifest.json"))
	}
	for name, text := range o.documents {
		if now.documents[name] != text {
			t.Fatalf("%s has changed", name)
		}
	}
	if now.stage != o.stage || now.status != o.status {
		t.Fatalf("the run was %s in stage %s and is %s in stage %s", o.status, o.stage, now.status, now.stage)
	}
	if wrong := forged(t, v.folder); len(wrong) > 0 {
		t.Fatalf("gates %v pass, and their judges say otherwise", wrong)
	}
}

// forged are the gates of a run that count as passed although their judges do not
// pass them now.
func forged(t *testing.T, f folder) []string {
	t.Helper()
	var wrong []string
	for _, id := range counting(t, f) {
		if refused(t, f, id) != "" {
			wrong = append(wrong, id)
		}
	}
	return wrong
}

// refused is the objection of a gate's judge, "" when the gate passes.
func refused(t *testing.T, f folder, gate string) string {
	t.Helper()
	r := must.Get(run.Open(t.Context(), run.Desk{}, f.manifest()))(t)
	defer r.Close()
	found, err := gates.Judge(t.Context(), r, gate)
	switch {
	case err != nil:
		return err.Error()
	case found.Status() != "pass":
		return fmt.Sprintf("%s %+v", found.Status(), found)
	}
	return ""
}

// unwritten is what the judge of gate E holds against a synthesis besides that its
// sentences were not read yet, "" for nothing.
func unwritten(t *testing.T, f folder) string {
	t.Helper()
	r := must.Get(run.Open(t.Context(), run.Desk{}, f.manifest()))(t)
	defer r.Close()
	found, err := gates.Judge(t.Context(), r, "E")
	if err != nil {
		return err.Error()
	}
	return strings.Join(slices.DeleteFunc(found.Warnings, func(code string) bool { return code == "SENTENCES_NOT_READ" }), " ")
}

// counting are the gates of a run that count as passed, in alphabetical order.
func counting(t *testing.T, f folder) []string {
	t.Helper()
	r, err := run.Open(t.Context(), run.Desk{}, f.manifest())
	if tidegate.CodeOf(err) == tidegate.InvalidJSON {
		return nil // such a run has none
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := r.Gates()
	if err != nil {
		return nil
	}
	var ids []string
	for _, m := range all.Doc().Get("gates").Members() {
		state := must.Get(r.GateState(all, m.Key))(t)
		if state.Passed() {
			ids = append(ids, m.Key)
		}
	}
	slices.Sort(ids)
	return ids
}
