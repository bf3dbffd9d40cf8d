package run

import (
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Apply lays each patch of update over its gate, binds the gate to the files it
// names, and raises the revision. A patch is an object with some of status,
// checked_at, metrics, artifacts, warnings and notes. Pending has the digests of
// files that are written together with the gates.
//
// It returns INVALID_STATE (what a judge read has changed since), MISSING_ARTIFACT,
// PATH_NOT_ALLOWED, READ_FAILED and SCHEMA_VALIDATION_FAILED.
func (g Gates) Apply(folder *artifact.Folder, pending map[string]string, update *codec.Value, inputsDigest string, now time.Time) (Gates, error) {
	doc := g.doc.Clone()
	for _, m := range update.Members() {
		if err := patchGate(folder, pending, m.Key, doc.Get("gates").Get(m.Key), m.Value); err != nil {
			return g, err
		}
	}
	doc.Set("revision", codec.Of(g.Revision()+1))
	doc.Set("updated_at", codec.Of(tidegate.Stamp(now)))
	doc.Set("inputs_digest", codec.Of(inputsDigest))
	return Gates{doc}, CheckGates(doc)
}

func patchGate(folder *artifact.Folder, pending map[string]string, id string, gate, patch *codec.Value) error {
	for _, m := range patch.Members() {
		gate.Set(m.Key, m.Value)
	}
	if gate.Get("status").Str() == GateNotRun {
		gate.Set("checked_at", codec.Of(nil))
		setBound(gate, nil)
		return nil
	}
	return bind(folder, pending, id, gate, patch)
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
