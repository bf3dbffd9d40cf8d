package run

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// GatesVersion is the schema_version of a gates document.
const GatesVersion = "gates.v1"

// GateIDs are the gates that every run has.
var GateIDs = []string{"A", "B", "C", "D", "E", "F"}

var gateNames = map[string]string{
	"A": "Planning completeness",
	"B": "Wave output contract compliance",
	"C": "Citation validation integrity",
	"D": "Summary pack boundedness",
	"E": "Synthesis quality",
	"F": "Rollout safety",
}

// Gate statuses.
const (
	NotRun   = "not_run"
	GatePass = "pass"
	GateFail = "fail"
	GateWarn = "warn"
)

var gateShape = codec.Table(
	codec.Field{Name: "id", Shape: codec.NotBlank()},
	codec.Field{Name: "name", Shape: codec.NotBlank()},
	codec.Field{Name: "class", Shape: codec.OneOf("hard", "soft")},
	codec.Field{Name: "status", Shape: codec.OneOf(NotRun, GatePass, GateFail, GateWarn), About: "warn only in a soft gate"},
	codec.Field{Name: "checked_at", Shape: codec.NotBlank().OrNull(), About: "null only while not_run"},
	codec.Field{Name: "metrics", Shape: codec.Table(), About: "bound: the digests of what the gate judged"},
	codec.Field{Name: "artifacts", Shape: codec.List(codec.Text(), 0), About: "files and folders that the gate judged, relative to the run root"},
	codec.Field{Name: "warnings", Shape: codec.List(codec.Text(), 0)},
	codec.Field{Name: "notes", Shape: codec.Text()},
)

// GatesShape is the schema of gates.v1. Further gates beside A to F are allowed
// and have the same shape; [CheckGates] looks at them too.
var GatesShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(GatesVersion)},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "revision", Shape: codec.IntegerFrom(1), About: "one more with every write"},
	codec.Field{Name: "updated_at", Shape: codec.NotBlank()},
	codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "of the latest write; metrics.bound is per gate"},
	codec.Field{Name: "gates", Shape: codec.Table(gateFields()...)},
)

func gateFields() []codec.Field {
	fields := make([]codec.Field, 0, len(GateIDs))
	for _, id := range GateIDs {
		fields = append(fields, codec.Field{Name: id, Shape: gateShape, About: gateNames[id]})
	}
	return fields
}

// CheckGates checks a whole gates document: its shape, that every gate stands
// under its own id, that only a soft gate warns, and that a gate which was run
// says when. It returns SCHEMA_VALIDATION_FAILED.
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
		case status != NotRun && m.Value.Get("checked_at").Kind() != codec.String:
			return violation(path+".checked_at", "must not be null once the gate has run")
		}
	}
	return nil
}

func violation(path, format string, args ...any) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", path),
		"%s "+format, append([]any{path}, args...)...)
}

// Gates is a gates document as it was read.
type Gates struct{ doc *codec.Value }

// Doc is the document itself; it must not be changed.
func (g Gates) Doc() *codec.Value { return g.doc }

// Revision counts the writes.
func (g Gates) Revision() int64 { return integer(g.doc.Get("revision")) }

// Gate is one gate, nil when there is none of that id.
func (g Gates) Gate(id string) *codec.Value { return g.doc.Get("gates").Get(id) }

// Status is the written status of a gate, "" when there is none. Whether it
// still counts is for [Run.GateState] to say.
func (g Gates) Status(id string) string { return g.Gate(id).Get("status").Str() }

func newGates(runID, now string) *codec.Value {
	gates := codec.NewObject()
	for _, id := range GateIDs {
		gates.Set(id, codec.Of(tidegate.D(
			"id", id, "name", gateNames[id], "class", "hard", "status", NotRun, "checked_at", nil,
			"metrics", tidegate.D(), "artifacts", []string{}, "warnings", []string{}, "notes", "")))
	}
	return codec.Of(tidegate.D("schema_version", GatesVersion, "run_id", runID, "revision", 1,
		"updated_at", now, "inputs_digest", "sha256:0", "gates", gates))
}
