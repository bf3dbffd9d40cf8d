package step

import (
	"cmp"
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/gate"
	"github.com/tidegate/tidegate/internal/text/pattern"
	"github.com/tidegate/tidegate/internal/work/run"
)

// FallbackInput are the arguments of [OfferFallback].
type FallbackInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	GatesPath    string `json:"gates_path" path:"absolute" jsonschema:"absolute path of the run's gates.json"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log; what the gate says when absent"`
}

// FallbackResult is the result of [OfferFallback].
type FallbackResult struct {
	OK               codec.True `json:"ok"`
	FailedGateID     string     `json:"failed_gate_id"`
	Reason           string     `json:"reason"`
	Instruction      string     `json:"instruction" jsonschema:"what a person can do"`
	SummaryPath      string     `json:"summary_path"`
	ManifestRevision int64      `json:"manifest_revision"`
	AuditWritten     bool       `json:"audit_written"`
	AuditPath        string     `json:"audit_path"`
}

var credentialRule = pattern.New(`(?i)(\w+://)[^/@\s]+@|\b(token|access_token|sig)=[^&\s]+`)

// OfferFallback is the tool deep_research_fallback_offer: it says which gate stops a
// run and what a person can do about it, and keeps that for the person. It does not
// change the status: only a rule fails a run.
//
// It returns INVALID_STATE when no gate has failed, and the errors of [run.Open] and
// [run.Run.Update].
func OfferFallback(ctx context.Context, clock run.Clock, in FallbackInput) (FallbackResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return FallbackResult{}, err
	}
	defer r.Close()
	if err := r.OwnGates(in.GatesPath); err != nil {
		return FallbackResult{}, err
	}
	gates, err := r.Gates()
	if err != nil {
		return FallbackResult{}, err
	}
	name := r.Layout().LogsDir + "/fallback-summary.md"
	out := FallbackResult{SummaryPath: r.Path(name), ManifestRevision: r.Manifest().Revision()}
	for _, row := range gate.Table {
		if gates.Status(row.ID) == gate.Fail && out.FailedGateID == "" {
			out.FailedGateID = row.ID
			out.Reason = cmp.Or(strings.TrimSpace(in.Reason), gates.Gate(row.ID).Get("notes").Str(), "gate "+row.ID+" has failed")
		}
	}
	if out.FailedGateID == "" {
		return FallbackResult{}, tidegate.Errorf(tidegate.InvalidState, tidegate.D("manifest_path", in.ManifestPath, "gates_path", in.GatesPath), "no gate of the run has failed")
	}
	out.Reason = run.Note(credentialRule().ReplaceAllString(out.Reason, "$1[redacted]"))
	out.Instruction = "A person can mend what gate " + out.FailedGateID + " found and judge it again with `tidegate gate " + strings.ToLower(out.FailedGateID) +
		" RUN`, let it pass with --accept and a --reason, or end the run with `tidegate run cancel`."
	audit, err := r.Update(ctx, clock, func(u *run.Update) error {
		u.Log(run.EventRefused, "fallback_offer", tidegate.D("gate", out.FailedGateID, "reason", out.Reason))
		return u.Write(name, []byte("# Gate "+out.FailedGateID+" stops the run\n\n"+strings.Join(strings.Fields(out.Reason), " ")+"\n\n"+out.Instruction+"\n"))
	})
	out.AuditWritten, out.AuditPath = audit.Written, audit.Path
	return out, err
}
