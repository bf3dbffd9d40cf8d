package run

import (
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
