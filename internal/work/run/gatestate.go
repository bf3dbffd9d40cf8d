package run

import (
	"maps"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// GateState is a gate as the rules see it.
type GateState struct {
	Status   string       // as written, "" when there is no such gate
	Bound    bool         // it says what it judged
	Judged   []string     // what it says that it judged, in byte order
	Changed  []string     // what it judged and is different by now, in byte order
	Accepted *codec.Value // reason and time of a person's acceptance, nil when its judge passed it
}

// Counts is the status that the gate has now: not_run when what it judged has
// changed since.
func (s GateState) Counts() string {
	if len(s.Changed) > 0 {
		return GateNotRun
	}
	return s.Status
}

// Passed reports whether the gate counts as passed, by its judge or by a person.
func (s GateState) Passed() bool { return s.Counts() == GatePass }

// State compares a gate with the files that it judged. It returns READ_FAILED.
func (g Gates) State(folder *artifact.Folder, id string) (GateState, error) {
	return gateStateOf(folder, g.Gate(id))
}

// gateStateOf is [Gates.State] for one gate of a document.
func gateStateOf(folder *artifact.Folder, gate *codec.Value) (GateState, error) {
	state := GateState{Status: gate.Get("status").Str(), Accepted: gate.Get("metrics").Get("accepted")}
	bound := gate.Get("metrics").Get("bound")
	if bound == nil || state.Status == GateNotRun {
		return state, nil
	}
	state.Bound = true
	for _, m := range bound.Get("files").Members() {
		state.Judged = append(state.Judged, m.Key)
	}
	slices.Sort(state.Judged)
	now, err := Bind(folder, gate.Get("artifacts").Strs())
	if err != nil && tidegate.CodeOf(err) == tidegate.ReadFailed {
		return state, err
	}
	state.Changed = differences(bound, now.Value())
	return state, nil
}

// differences names the files in which two bindings differ. A binding whose
// digest does not fit its files was tampered with and differs as a whole.
func differences(was, is *codec.Value) []string {
	changed := map[string]bool{}
	if was.Get("digest").Str() != codec.Digest(codec.Of(was.Get("files"))) {
		changed["metrics.bound"] = true
	}
	for _, pair := range [][2]*codec.Value{{was, is}, {is, was}} {
		for _, m := range pair[0].Get("files").Members() {
			other := pair[1].Get("files").Get(m.Key)
			if other == nil || other.Str() != m.Value.Str() {
				changed[m.Key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}
