package catalog

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// gateTools are a person's commands on gates: one for each row of the table.
func gateTools(env tools) []*tool.Tool {
	var tools []*tool.Tool
	for _, row := range run.GateTable {
		letter := strings.ToLower(row.ID)
		tools = append(tools, tool.New(tool.Spec{
			Name: "deep_research_gate_" + letter + "_record", Set: "gate", Effect: tool.Writes, Person: true,
			Summary: "Judge gate " + row.ID + " and record what its judge found.",
			Command: &tool.Command{
				Path: "gate " + letter, Short: "Judge gate " + row.ID + ": " + strings.ToLower(row.Name),
				Long: "Judge gate " + row.ID + " of a run and record the result. Its judge looks at " + row.About + ". The exit status is 1 when it does not pass. " +
					"With --accept and a --reason a person lets it pass all the same; every view of the run says so from then on.",
				Operands: runOperand, Hide: []string{"manifest_path"}, Fill: env.fillRun, Example: "tidegate gate " + letter + " harbour",
			},
		}, func(ctx context.Context, call tool.Caller, in gates.GateInput) (gates.GateRecord, error) {
			in.Gate = row.ID
			return gates.RecordGate(ctx, env.Desk(call.Reach), in)
		}))
	}
	return tools
}
