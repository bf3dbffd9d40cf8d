package run

import (
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

var gatePatchKeys = []string{"status", "checked_at", "metrics", "artifacts", "warnings", "notes"}

// Apply lays each patch of update over its gate, binds the gate to the files it
// names, and raises the revision. A patch is an object with some of status,
// checked_at, metrics, artifacts, warnings and notes. Pending has the digests of
// files that are written together with the gates.
//
// It returns INVALID_ARGS, UNKNOWN_GATE_ID, LIFECYCLE_RULE_VIOLATION,
// MISSING_ARTIFACT, INVALID_STATE (what a judge read has changed since),
// PATH_NOT_ALLOWED, READ_FAILED and SCHEMA_VALIDATION_FAILED.
func (g Gates) Apply(folder *artifact.Folder, pending map[string]string, update *codec.Value, inputsDigest string, now time.Time) (Gates, error) {
	doc := g.doc.Clone()
	for _, m := range update.Members() {
		gate := doc.Get("gates").Get(m.Key)
		if gate == nil {
			return g, tidegate.Errorf(tidegate.UnknownGateID, tidegate.Pairs("gate", m.Key),
				"there is no gate %q; the run has the gates A to F", tidegate.Cut(m.Key))
		}
		if err := patchGate(folder, pending, m.Key, gate, m.Value, now); err != nil {
			return g, err
		}
	}
	doc.Set("revision", codec.Of(g.Revision()+1))
	doc.Set("updated_at", codec.Of(tidegate.Stamp(now)))
	doc.Set("inputs_digest", codec.Of(inputsDigest))
	return Gates{doc}, CheckGates(doc)
}

func patchGate(folder *artifact.Folder, pending map[string]string, id string, gate, patch *codec.Value, now time.Time) error {
	if patch.Kind() != codec.Object || patch.Len() == 0 {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("update."+id, patch), "update.%s must be an object with at least one of %s",
			id, strings.Join(gatePatchKeys, ", "))
	}
	judges := false
	for _, m := range patch.Members() {
		if !slices.Contains(gatePatchKeys, m.Key) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("update."+id+"."+m.Key, m.Value),
				"update.%s.%s cannot be written; a gate update has only %s", id, tidegate.Cut(m.Key), strings.Join(gatePatchKeys, ", "))
		}
		judges = judges || m.Key != "notes" && m.Key != "warnings"
		gate.Set(m.Key, m.Value)
	}
	if !judges {
		return nil
	}
	status := gate.Get("status").Str()
	if status == GateNotRun {
		gate.Set("checked_at", codec.Of(nil))
		setBound(gate, nil)
		return nil
	}
	if err := checkJudgement(id, gate, patch, now); err != nil {
		return err
	}
	return bind(folder, pending, id, gate, patch)
}

func checkJudgement(id string, gate, patch *codec.Value, now time.Time) error {
	status, class := gate.Get("status").Str(), gate.Get("class").Str()
	broken := func(format string, args ...any) error {
		return tidegate.Errorf(tidegate.LifecycleRuleViolation, tidegate.Pairs("gate", id, "status", status), format, args...)
	}
	if status == GateWarn && class == "hard" {
		return broken("gate %s is hard and cannot be warn; it can be pass or fail", id)
	}
	checked := patch.Get("checked_at")
	if checked.Kind() != codec.String {
		return broken("gate %s must say in checked_at when it was judged; an earlier time does not carry over", id)
	}
	at, ok := tidegate.ParseTime(checked.Str())
	if !ok {
		return broken("checked_at of gate %s must be a time such as 2026-02-14T12:00:00.000Z, got %q", id, tidegate.Cut(checked.Str()))
	}
	if at.After(now) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("update."+id+".checked_at", tidegate.Cut(checked.Str())),
			"update.%s.checked_at must not lie in the future", id)
	}
	return nil
}

// bind hashes what the gate names. If a patch brings its own binding, from a judge
// that hashed what it read, that must still be true.
func bind(folder *artifact.Folder, pending map[string]string, id string, gate, patch *codec.Value) error {
	if err := gateShape.CheckAt("$.gates."+id, gate); err != nil {
		return err
	}
	names := gate.Get("artifacts").Strs()
	binding, err := BindPending(folder, names, pending)
	if err != nil {
		return err
	}
	if gate.Get("status").Str() != GateFail {
		if missing := binding.Missing(); len(missing) > 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.Pairs("gate", id, "file", missing[0], "missing", missing),
				"gate %s cannot pass on a file that is not there: %s", id, missing[0])
		}
		if len(names) > 0 && len(binding.files) == 0 {
			return tidegate.Errorf(tidegate.MissingArtifact, tidegate.Pairs("gate", id, "dir", names[0]),
				"gate %s cannot pass on a folder without files: %s", id, names[0])
		}
	}
	now := binding.Value()
	if claimed := patch.Get("metrics").Get("bound"); claimed != nil {
		if changed := differences(claimed, now); len(changed) > 0 {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("gate", id, "changed", changed),
				"what gate %s judged has changed since it was judged: %s", id, strings.Join(changed, ", "))
		}
	}
	// Names inside the run are kept relative to it: a copy of the run is judged
	// by its own files.
	relative := make([]string, len(names))
	for i, name := range names {
		relative[i] = folder.NameOf(strings.TrimSpace(name))
	}
	gate.Set("artifacts", codec.Of(relative))
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
