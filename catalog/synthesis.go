package catalog

import (
	"context"

	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/internal/work/telemetry"
	"github.com/tidegate/tidegate/tool"
)

// earlier is the set of the tools that only the orchestrator of the earlier
// system needs.
const earlier = "earlier"

func synthesisTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_gate_a_evaluate", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.EvaluateInput) (step.GateAResult, error) {
			return step.EvaluateGateA(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_d_evaluate", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.GateDInput) (step.Evaluation, error) {
			return step.EvaluateGateD(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_e_evaluate", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.GateEInput) (step.GateEResult, error) {
			return step.EvaluateGateE(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_f_evaluate", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.EvaluateInput) (step.Evaluation, error) {
			return step.EvaluateGateF(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_list", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "gate list", Operands: readOperand, Hide: []string{"manifest_path"}, Fill: env.fillReadRun},
		}, func(ctx context.Context, in manifestIn) (step.GateList, error) {
			return step.ListGates(ctx, in.ManifestPath)
		}),
		declare(tool.Spec{
			Name: "deep_research_gate_e_reports", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.ReportsInput) (step.ReportsResult, error) {
			return step.WriteGateEReports(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_synthesis_write", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.SynthesisInput) (step.SynthesisResult, error) {
			in.Dir = env.Dir
			return step.WriteSynthesis(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_review_factory_run", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.ReviewInput) (step.ReviewResult, error) {
			in.Dir = env.Dir
			return step.ReviewSynthesis(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_revision_control", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.RevisionInput) (step.RevisionResult, error) {
			return step.ControlRevision(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_telemetry_append", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in telemetry.AppendInput) (telemetry.AppendResult, error) {
			return telemetry.Append(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_run_metrics_write", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, Idempotent: true,
		}, func(ctx context.Context, in telemetry.MetricsInput) (telemetry.MetricsResult, error) {
			return telemetry.WriteMetrics(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_tick_ledger_append", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in telemetry.TickInput) (telemetry.TickResult, error) {
			return telemetry.AppendTick(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_fallback_offer", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in step.FallbackInput) (step.FallbackResult, error) {
			return step.OfferFallback(ctx, env.clock(), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_fixture_run_seed", Set: earlier, Effect: tool.Writes,
		}, func(ctx context.Context, in run.SeedInput) (run.SeedResult, error) {
			return run.Seed(ctx, env.clock(), env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_dry_run_seed", Set: earlier, Effect: tool.Writes,
		}, func(ctx context.Context, in run.SeedInput) (run.DryRunResult, error) {
			return run.SeedDryRun(ctx, env.clock(), env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_fixture_bundle_capture", Set: earlier, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, func(ctx context.Context, in replay.CaptureInput) (replay.CaptureResult, error) {
			return replay.Capture(ctx, env.clock(), env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_fixture_replay", Set: earlier, Effect: tool.Reads, Idempotent: true,
		}, func(ctx context.Context, in replay.BundleReplayInput) (replay.BundleReplay, error) {
			return replay.ReplayBundle(ctx, env.Program, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_regression_run", Set: earlier, Effect: tool.Reads, Idempotent: true,
		}, func(ctx context.Context, in replay.RegressionInput) (replay.Regression, error) {
			return replay.Regress(ctx, env.Program, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_quality_audit", Set: earlier, Effect: tool.WritesOnRequest,
		}, func(ctx context.Context, in replay.AuditInput) (replay.QualityAudit, error) {
			return replay.Audit(ctx, env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_run_replay", Set: "run", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "run replay", Operands: readOperand, Hide: []string{"manifest_path"}, Fill: env.fillReadRun, Formats: []string{"markdown", "junit"}},
		}, func(ctx context.Context, in manifestIn) (replay.Result, error) {
			r, err := run.Open(ctx, in.ManifestPath)
			if err != nil {
				return replay.Result{}, err
			}
			defer r.Close()
			return replay.Run(ctx, r, env.Program)
		}),
	}
}
