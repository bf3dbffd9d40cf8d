package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
)

// GatesWriteInput are the arguments of [GatesWrite].
type GatesWriteInput struct {
	GatesPath        string
	Update           *codec.Value // gate id → the fields that change
	InputsDigest     string
	ExpectedRevision *int64 // that the caller saw; nil for any
	Reason           string
}

// WriteResult is the result of the tools that write one document.
type WriteResult struct {
	OK           codec.True `json:"ok"`
	NewRevision  int64      `json:"new_revision"`
	UpdatedAt    string     `json:"updated_at"`
	AuditWritten bool       `json:"audit_written"`
	AuditPath    string     `json:"audit_path,omitzero"`
	AuditError   string     `json:"audit_error,omitzero"`
}

// GatesWrite is the tool deep_research_gates_write: it records what gates were
// judged to be, and binds each to the files that its artifacts name. The run
// root is the folder of the gates file.
//
// It returns INVALID_ARGS, NOT_FOUND, READ_FAILED, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, REVISION_MISMATCH, UNKNOWN_GATE_ID,
// LIFECYCLE_RULE_VIOLATION, MISSING_ARTIFACT, INVALID_STATE, PATH_NOT_ALLOWED,
// LOCK_HELD and WRITE_FAILED; in every case nothing is written.
func GatesWrite(ctx context.Context, clock Clock, in GatesWriteInput) (WriteResult, error) {
	if err := CheckPath("gates_path", in.GatesPath); err != nil {
		return WriteResult{}, err
	}
	if in.Update.Kind() != codec.Object || in.Update.Len() == 0 {
		return WriteResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("update", in.Update),
			"update must be an object with at least one gate: a write that judges nothing would replace the digest of one that did")
	}
	if err := CheckText("inputs_digest", in.InputsDigest); err != nil {
		return WriteResult{}, err
	}
	if err := CheckText("reason", in.Reason); err != nil {
		return WriteResult{}, err
	}
	// A missing file is told apart from a missing folder only by its path, and
	// both are the caller's gates_path.
	folder, err := artifact.Open(ctx, "gates_path", filepath.Dir(in.GatesPath))
	if err != nil {
		return WriteResult{}, tidegate.WithDetails(err, tidegate.D("gates_path", in.GatesPath))
	}
	defer folder.Close()
	u := &Update{gatesName: filepath.Base(in.GatesPath)}
	if _, err := readGates(folder, u.gatesName); err != nil {
		return WriteResult{}, err // before the lock, so that a wrong path leaves no lock file behind
	}
	var next Gates
	audit, err := update(ctx, folder, clock, u, func(u *Update) (err error) {
		next, err = u.EditGates(in.Update, in.InputsDigest, in.ExpectedRevision, strings.TrimSpace(in.Reason))
		return err
	})
	if err != nil {
		return WriteResult{}, err
	}
	return Written(next.Revision(), next.doc.Get("updated_at").Str(), audit), nil
}

// Written is the result of a write of one document.
func Written(revision int64, at string, audit Audit) WriteResult {
	out := WriteResult{NewRevision: revision, UpdatedAt: at, AuditWritten: audit.Written, AuditError: audit.Problem}
	if audit.Written {
		out.AuditPath = audit.Path
	}
	return out
}

var gatePatchKeys = []string{"status", "checked_at", "metrics", "artifacts", "warnings", "notes"}

// EditGates lays each patch of update over its gate, binds the gate to the
// files it names, raises the revision, and stages the document and the audit
// line gates_write. Errors are those of [GatesWrite].
func (u *Update) EditGates(update *codec.Value, inputsDigest string, expected *int64, reason string) (Gates, error) {
	before, err := u.Gates()
	if err != nil {
		return before, err
	}
	if err := u.NotFinal(); err != nil {
		return before, err
	}
	if err := CheckRevision(expected, before.Revision()); err != nil {
		return before, err
	}
	doc := before.doc.Clone()
	for _, m := range update.Members() {
		gate := doc.Get("gates").Get(m.Key)
		if gate == nil {
			return before, tidegate.Errorf(tidegate.UnknownGateID, tidegate.D("gate", m.Key),
				"there is no gate %q; the run has the gates A to F", tidegate.Cut(m.Key))
		}
		if err := u.patchGate(m.Key, gate, m.Value); err != nil {
			return before, err
		}
	}
	doc.Set("revision", codec.Of(before.Revision()+1))
	doc.Set("updated_at", codec.Of(u.now))
	doc.Set("inputs_digest", codec.Of(inputsDigest))
	if err := CheckGates(doc); err != nil {
		return before, err
	}
	data, err := codec.MarshalFile(doc)
	if err != nil {
		return before, err
	}
	if err := u.tx.Write(u.gatesName, data); err != nil {
		return before, err
	}
	u.audit("gates_write", doc.Get("run_id").Str(), tidegate.D("prev_revision", before.Revision(),
		"new_revision", before.Revision()+1, "reason", reason, "inputs_digest", inputsDigest,
		"gates_digest", codec.DigestBytes(data)))
	return Gates{doc}, nil
}

func (u *Update) patchGate(id string, gate, patch *codec.Value) error {
	if patch.Kind() != codec.Object || patch.Len() == 0 {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("update."+id, patch), "update.%s must be an object with at least one of %s",
			id, strings.Join(gatePatchKeys, ", "))
	}
	judges := false
	for _, m := range patch.Members() {
		if !slices.Contains(gatePatchKeys, m.Key) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("update."+id+"."+m.Key, m.Value),
				"update.%s.%s cannot be written; a gate update has only %s", id, tidegate.Cut(m.Key), strings.Join(gatePatchKeys, ", "))
		}
		judges = judges || m.Key != "notes" && m.Key != "warnings"
		gate.Set(m.Key, m.Value)
	}
	if !judges {
		return nil
	}
	status := gate.Get("status").Str()
	if status == NotRun {
		gate.Set("checked_at", codec.Of(nil))
		setBound(gate, nil)
		return nil
	}
	if err := checkJudgement(id, gate, patch); err != nil {
		return err
	}
	return u.bind(id, gate, patch)
}

func checkJudgement(id string, gate, patch *codec.Value) error {
	status, class := gate.Get("status").Str(), gate.Get("class").Str()
	broken := func(format string, args ...any) error {
		return tidegate.Errorf(tidegate.LifecycleRuleViolation, tidegate.D("gate", id, "status", status), format, args...)
	}
	if status == GateWarn && class == "hard" {
		return broken("gate %s is hard and cannot be warn; it can be pass or fail", id)
	}
	checked := patch.Get("checked_at")
	if checked.Kind() != codec.String {
		return broken("gate %s must say in checked_at when it was judged; an earlier time does not carry over", id)
	}
	if _, ok := ParseTime(checked.Str()); !ok {
		return broken("checked_at of gate %s must be a time such as 2026-02-14T12:00:00.000Z, got %q", id, tidegate.Cut(checked.Str()))
	}
	return nil
}

// bind hashes what the gate names. A patch that brings a binding of its own,
// from a judge that hashed what it read, must still be true.
func (u *Update) bind(id string, gate, patch *codec.Value) error {
	if err := gateShape.CheckAt("$.gates."+id, gate); err != nil {
		return err
	}
	names := textsOf(gate.Get("artifacts"))
	binding, err := Bind(u.folder, names)
	if err != nil {
		return err
	}
	if gate.Get("status").Str() != GateFail {
		if missing := binding.Missing(); len(missing) > 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.D("gate", id, "file", missing[0], "missing", missing),
				"gate %s cannot pass on a file that is not there: %s", id, missing[0])
		}
		if len(names) > 0 && len(binding.files) == 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.D("gate", id, "dir", names[0]),
				"gate %s cannot pass on a folder without files: %s", id, names[0])
		}
	}
	now := binding.Value()
	if claimed := patch.Get("metrics").Get("bound"); claimed != nil {
		if changed := differences(claimed, now); len(changed) > 0 {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.D("gate", id, "changed", changed),
				"what gate %s judged has changed since it was judged: %s", id, strings.Join(changed, ", "))
		}
	}
	if len(binding.files) == 0 {
		now = nil
	}
	setBound(gate, now)
	return nil
}

func setBound(gate, bound *codec.Value) {
	metrics := gate.Get("metrics")
	if metrics.Kind() != codec.Object {
		return // the schema check names it
	}
	metrics = metrics.Clone()
	metrics.Delete("bound")
	if bound != nil {
		metrics.Set("bound", bound)
	}
	gate.Set("metrics", metrics)
}
