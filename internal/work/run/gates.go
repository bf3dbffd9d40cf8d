package run

import (
	"github.com/tidegate/tidegate"
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
