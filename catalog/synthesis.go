package catalog

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

func synthesisTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_gate_list", Set: "gate", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: env.readsRun("gate list"),
		}, ofRun(env, gates.ListGates)),
		declare(tool.Spec{
			Name: "deep_research_run_replay", Set: "run", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "run replay", Operands: readOperand, Hide: []string{"manifest_path"}, Fill: env.fillRunOrAudit, Formats: []string{"markdown", "junit"}},
		}, func(ctx context.Context, call tool.Caller, in manifestIn) (replay.Result, error) {
			if filepath.Base(in.ManifestPath) == audit.File {
				return replay.Audit(ctx, env.Desk(call.Reach), in.ManifestPath, env.Program)
			}
			r, err := run.Open(ctx, env.Desk(call.Reach), in.ManifestPath)
			if err != nil {
				return replay.Result{}, err
			}
			defer r.Close()
			return replay.Run(ctx, r, env.Program)
		}),
	}
}
