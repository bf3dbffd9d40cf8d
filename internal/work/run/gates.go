package run

import (
	"maps"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// gatesVersion is the schema_version of a gates document.
const gatesVersion = "gates.v1"

// The statuses of a gate.
const (
	GateNotRun = "not_run"
	GatePass   = "pass"
	GateFail   = "fail"
	GateWarn   = "warn"
)

var gateShape = codec.Table(
	codec.Field{Name: "id", Shape: codec.NotBlank()},
	codec.Field{Name: "name", Shape: codec.NotBlank()},
	codec.Field{Name: "class", Shape: codec.OneOf("hard", "soft")},
	codec.Field{Name: "status", Shape: codec.OneOf(GateNotRun, GatePass, GateFail, GateWarn), About: "warn only in a soft gate"},
	codec.Field{Name: "checked_at", Shape: codec.NotBlank().OrNull(), About: "null only while not_run"},
	codec.Field{Name: "metrics", Shape: codec.Table(), About: "bound: the digests of what the gate judged; accepted: that a person let it pass, and why"},
	codec.Field{Name: "artifacts", Shape: codec.List(codec.Text(), 0), About: "files and folders that the gate judged, relative to the run root"},
	codec.Field{Name: "warnings", Shape: codec.List(codec.Text(), 0)},
	codec.Field{Name: "notes", Shape: codec.Text()},
)

// GatesShape is the schema of gates.v1. Further gates beside those of [GateTable] are
// allowed and have the same shape; [CheckGates] looks at them too.
var GatesShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(gatesVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "revision", Shape: codec.IntegerFrom(1), About: "one more with every write"},
	codec.Field{Name: "updated_at", Shape: codec.NotBlank()},
	codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "of the latest write; metrics.bound is per gate"},
	codec.Field{Name: "gates", Shape: codec.Table(gateFields()...)},
)

func gateFields() []codec.Field {
	fields := make([]codec.Field, 0, len(GateTable))
	for _, row := range GateTable {
		fields = append(fields, codec.Field{Name: row.ID, Shape: gateShape, About: row.Name})
	}
	return fields
}

// CheckGates checks a whole gates document: its shape, that every gate stands under
// its own id, that only a soft gate warns, and that a gate that was run says when.
// It returns SCHEMA_VALIDATION_FAILED.
func CheckGates(doc *codec.Value) error {
	if err := GatesShape.Check(doc); err != nil {
		return err
	}
	for _, m := range doc.Get("gates").Members() {
		path := "$.gates." + m.Key
		if err := gateShape.CheckAt(path, m.Value); err != nil {
			return err
		}
		status := m.Value.Get("status").Str()
		switch {
		case m.Value.Get("id").Str() != m.Key:
			return violation(path+".id", "must be %q, the key it stands under", m.Key)
		case status == GateWarn && m.Value.Get("class").Str() == "hard":
			return violation(path+".status", "must be one of not_run, pass, fail in a hard gate")
		case status != GateNotRun && m.Value.Get("checked_at").Kind() != codec.String:
			return violation(path+".checked_at", "must not be null once the gate has run")
		}
	}
	return nil
}

func violation(path, format string, args ...any) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", path),
		"%s "+format, append([]any{path}, args...)...)
}

// Gates is a gates document as it was read.
type Gates struct{ doc *codec.Value }

// NewGates is the document of a run that has judged nothing yet.
func NewGates(runID, now string) *codec.Value {
	gates := codec.NewObject()
	for _, row := range GateTable {
		gates.Set(row.ID, codec.Of(tidegate.Pairs(
			"id", row.ID, "name", row.Name, "class", "hard", "status", GateNotRun, "checked_at", nil,
			"metrics", tidegate.Pairs(), "artifacts", []string{}, "warnings", []string{}, "notes", "")))
	}
	return codec.Of(tidegate.Pairs("schema_version", gatesVersion, "run_id", runID, "revision", 1,
		"updated_at", now, "inputs_digest", "sha256:0", "gates", gates))
}

// Doc is the document itself; it must not be changed.
func (g Gates) Doc() *codec.Value { return g.doc }

// RunID is the id of the run that the gates belong to.
func (g Gates) RunID() string { return g.doc.Get("run_id").Str() }

// Revision counts the writes.
func (g Gates) Revision() int64 { return integer(g.doc.Get("revision")) }

// Gate is one gate, nil when there is none of that id.
func (g Gates) Gate(id string) *codec.Value { return g.doc.Get("gates").Get(id) }

// Status is the written status of a gate, "" when there is none. [Gates.State] says
// whether it still counts.
func (g Gates) Status(id string) string { return g.Gate(id).Get("status").Str() }

// GateRow is one gate of the table. Package step pairs it with its judge.
type GateRow struct {
	ID    string
	Name  string
	About string // what the judge looks at
}

// GateTable lists the gates of a run, in the order of their letters.
var GateTable = []GateRow{
	{"A", "Planning completeness", "scope, perspectives and the plan of the first wave"},
	{"B", "Wave output contract compliance", "every output of every planned wave"},
	{"C", "Citation validation integrity", "the sources that the outputs name, as they were archived"},
	{"D", "Summary pack boundedness", "the summaries and the pack made of them"},
	{"E", "Synthesis quality", "the synthesis and the sources that it cites"},
	{"F", "Rollout safety", "sensitivity, sources, signatures and budget of the whole run"},
}

// GateIDs are the ids of the table.
func GateIDs() []string {
	ids := make([]string, len(GateTable))
	for i, row := range GateTable {
		ids[i] = row.ID
	}
	return ids
}

// FindGate is the row of an id.
func FindGate(id string) (GateRow, bool) {
	for _, row := range GateTable {
		if row.ID == id {
			return row, true
		}
	}
	return GateRow{}, false
}

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

// Judgement is what the judge of a gate found in the files of a run.
type Judgement struct {
	Gate         string
	Metrics      tidegate.Details // figures that the status follows from
	Warnings     []string         // why the gate fails, as codes; empty when it passes
	Remarks      []string         // what else a person should know, as codes; they fail nothing
	Notes        string
	Changes      []string // what to change so that the gate passes, one thing each
	InputsDigest string
	Bound        Binding // what the judge read
}

// Status is [GateFail] when there are warnings, otherwise [GatePass].
func (j Judgement) Status() string {
	if len(j.Warnings) > 0 {
		return GateFail
	}
	return GatePass
}

// Passed reports whether the judge passes the gate.
func (j Judgement) Passed() bool { return len(j.Warnings) == 0 }

// Said is all that the judge says, as the gate keeps it: why it fails, and what
// else a person should know.
func (j Judgement) Said() []string { return slices.Concat([]string{}, j.Warnings, j.Remarks) }

// Patch is the judgement in the form of an update of its gate. The binding in it
// makes the update fail when what was judged has changed since.
func (j Judgement) Patch(checkedAt string) *codec.Value {
	return codec.Of(tidegate.Pairs("status", j.Status(), "checked_at", checkedAt,
		"metrics", append(slices.Clone(j.Metrics), tidegate.Detail{Key: "bound", Value: j.Bound.Value()}),
		"artifacts", j.Bound.Names(), "warnings", j.Said(), "notes", j.Notes))
}

// Accept is the judgement when a person lets it pass: bound to the same files,
// with the reason and what the judge says.
func (j Judgement) Accept(checkedAt, reason string) *codec.Value {
	patch := j.Patch(checkedAt)
	metrics := patch.Get("metrics")
	metrics.Set("accepted", codec.Of(tidegate.Pairs("reason", reason, "at", checkedAt)))
	metrics.Set("judge", codec.Of(tidegate.Pairs("status", j.Status(), "warnings", j.Said())))
	patch.Set("status", codec.Of(GatePass))
	return patch
}
