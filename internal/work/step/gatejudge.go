package step

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// JudgeInput are the arguments of [JudgeGateA], [JudgeGateD] and [JudgeGateF].
type JudgeInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string `json:"reason" jsonschema:"why, for the audit log"`
}

// GateResult is what the judge of a gate finds, with the update by which to
// record it.
type GateResult struct {
	OK           codec.True       `json:"ok"`
	GateID       string           `json:"gate_id"`
	Status       string           `json:"status" jsonschema:"pass or fail"`
	Metrics      tidegate.Details `json:"metrics" jsonschema:"figures that the status follows from"`
	Warnings     []string         `json:"warnings" jsonschema:"why the gate fails, and what else a person should know, as codes"`
	Notes        string           `json:"notes" jsonschema:"what is behind the warnings"`
	Update       tidegate.Details `json:"update" jsonschema:"the update to hand to deep_research_gates_write, unchanged"`
	InputsDigest string           `json:"inputs_digest" jsonschema:"the inputs_digest to hand to deep_research_gates_write"`
}

// Passed reports whether the gate passed.
func (e GateResult) Passed() bool { return e.Status == run.GatePass }

// take logs what a judge found, and gives the update by which to record it. It
// changes nothing but the log.
func (e *GateResult) take(ctx context.Context, desk run.Desk, r *run.Run, found run.Judgement, reason string, about ...tidegate.Detail) (err error) {
	*e = GateResult{GateID: found.Gate, Status: found.Status(), Metrics: found.Metrics, Warnings: found.Said(), Notes: found.Notes, InputsDigest: found.InputsDigest}
	e.Update, err = logFound(ctx, r, "gate_"+strings.ToLower(found.Gate)+"_evaluate", found, append(tidegate.Pairs("reason", run.Note(reason), "gate", found.Gate,
		"status", e.Status, "metrics", e.Metrics, "inputs_digest", e.InputsDigest, "warnings", e.Warnings), about...))
	return err
}

// logFound logs what a judge found, and gives the update by which to record it.
func logFound(ctx context.Context, r *run.Run, kind string, found run.Judgement, fields tidegate.Details) (update tidegate.Details, err error) {
	_, err = r.Update(ctx, func(u *run.Update) error {
		update = tidegate.Pairs(found.Gate, found.Patch(u.Now()))
		u.Log(run.EventJudged, kind, fields)
		return nil
	})
	return update, err
}

// GateAResult is the result of [JudgeGateA].
type GateAResult struct {
	GateResult
	WarningDetails   tidegate.Details `json:"warning_details" jsonschema:"what each warning is about, by its code"`
	ScopePath        string           `json:"scope_path"`
	PerspectivesPath string           `json:"perspectives_path"`
	PlanPath         string           `json:"wave1_plan_path"`
	Rule             string           `json:"rule" jsonschema:"the rule in words"`
}

const gateARule = "scope, perspectives and plan are there, belong to the run and fit each other, and every prompt is the one that the perspectives give"

// JudgeGateA is the tool deep_research_gate_a_evaluate: it says what the judge
// of gate A finds. It changes nothing but the audit log. It returns the errors of
// [run.Open] and [run.Run.Update], READ_FAILED and PATH_NOT_ALLOWED.
func JudgeGateA(ctx context.Context, desk run.Desk, in JudgeInput) (GateAResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *GateAResult) error {
		found, details, err := judgePlanning(r)
		if err != nil {
			return err
		}
		*out = GateAResult{WarningDetails: append(tidegate.Details{}, details...), ScopePath: r.Path(run.ScopeFile),
			PerspectivesPath: r.Path(r.Layout().Perspectives), PlanPath: r.Path(r.Layout().Wave1Plan()), Rule: gateARule}
		return out.take(ctx, desk, r, found, in.Reason, run.Args()...)
	})
}

// JudgeGateD is the tool deep_research_gate_d_evaluate: it says what the judge
// of gate D finds. It changes nothing but the audit log. It returns the errors of
// [run.Open] and [run.Run.Update], and NOT_FOUND, INVALID_JSON and
// SCHEMA_VALIDATION_FAILED for the pack, the pool and the perspectives.
func JudgeGateD(ctx context.Context, desk run.Desk, in JudgeInput) (GateResult, error) {
	return judgeWith(ctx, desk, in.ManifestPath, in.Reason, judgeD)
}

// JudgeGateF is the tool deep_research_gate_f_evaluate: it says what the judge
// of gate F finds. It changes nothing but the audit log. It returns the errors of
// [run.Open] and [run.Run.Update], and INVALID_JSON for run-config.json.
func JudgeGateF(ctx context.Context, desk run.Desk, in JudgeInput) (GateResult, error) {
	return judgeWith(ctx, desk, in.ManifestPath, in.Reason, judgeF)
}

func judgeWith(ctx context.Context, desk run.Desk, manifestPath, reason string, judge judge) (GateResult, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *GateResult) error {
		found, err := judge(ctx, r)
		if err != nil {
			return err
		}
		return out.take(ctx, desk, r, found, reason, run.Args()...)
	})
}

// GateEInput are the arguments of [JudgeGateE].
type GateEInput struct {
	ManifestPath  string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	SynthesisPath string `json:"synthesis_path,omitzero" path:"absolute" jsonschema:"absolute path of the synthesis inside the run; the final one when absent. The gate itself is about the final one"`
	Reason        string `json:"reason" jsonschema:"why, for the audit log"`
}

// GateEResult is the result of [JudgeGateE].
type GateEResult struct {
	GateResult
	Faults []synthesis.Fault `json:"faults" jsonschema:"what the synthesis must change, in the order of its lines"`
}

// JudgeGateE is the tool deep_research_gate_e_evaluate: it says what the judge
// of gate E finds. It changes nothing but the audit log. It returns the errors of
// [run.Open] and [run.Run.Update], NOT_FOUND and INVALID_JSON for the synthesis
// and the pool, PATH_NOT_ALLOWED for a synthesis outside the run, and TAMPERED for
// a kept review that was changed.
func JudgeGateE(ctx context.Context, desk run.Desk, in GateEInput) (GateEResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *GateEResult) error {
		judged, err := judgeNamed(ctx, r, in.SynthesisPath)
		if err != nil {
			return err
		}
		*out = GateEResult{Faults: append([]synthesis.Fault{}, judged.result.Faults...)}
		about := run.Args()
		if judged.name != r.Layout().Synthesis() {
			about = tidegate.Pairs("document", judged.name) // the gate is not about it
		}
		return out.take(ctx, desk, r, judged.judgement, in.Reason, about...)
	})
}
