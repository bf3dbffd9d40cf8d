package screen

import (
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/tool"
)

// Flags are the flags of options.
func Flags(options []brief.Option) []tool.Flag {
	var out []tool.Flag
	for _, o := range options {
		if name := o.Typed(); name != "" {
			out = append(out, tool.Flag{Name: name, About: o.About, Kind: o.Kind, Default: o.Default, List: o.List, Enum: o.Enum, Complete: o.Complete})
		}
	}
	return out
}

// budget are the options of the budget. Parallel bounds one home and is not part of the
// run's policy.
var budget = append(brief.Named("parallel"), brief.Limits()...)

// BudgetFlags are the flags of the budget.
var BudgetFlags = Flags(budget)

// Budget reads the flags of the budget. It returns INVALID_ARGS.
func Budget(call cli.Invocation) (parallel int, most map[string]float64, err error) {
	var b brief.Brief
	err = brief.Read(&b, budget, call.Flags)
	return b.Parallel, b.Budget, err
}

// CellFlags are those by which a person says what agents find in their cells.
var CellFlags = []tool.Flag{
	{Name: "agent-read", About: "a file or `folder` that agents may read besides what their cell holds; may be repeated", Kind: tool.PathFlag, List: true},
	{Name: "agent-network", About: "what agents may reach: none, model or web (default as tidegate agents shows)", Kind: tool.Word, Enum: []string{string(cell.None), string(cell.Model), string(cell.Web)}},
	{Name: "agent-model-address", About: "the model on this machine, as `IP:PORT`, that agents of exec: and acp: reach with --agent-network model, and nothing else", Kind: tool.Word},
	UnconfinedFlag,
}

// UnconfinedFlag lets agents work without cells.
var UnconfinedFlag = tool.Flag{Name: "unconfined", About: "let agents work without a cell, with your rights, on your files; every plan and report says so", Kind: tool.Switch}

// Cells reads the flags of a call. It returns INVALID_ARGS.
func Cells(call cli.Invocation) (dispatch.CellChoice, error) {
	c := dispatch.CellChoice{Read: call.Flags["agent-read"], Network: cell.Network(call.Flag("agent-network")), Address: call.Flag("agent-model-address"), Unconfined: call.Flag("unconfined") == "true"}
	if c.Network != "" && !slices.Contains(cell.Networks, c.Network) {
		return c, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent-network", tidegate.Cut(string(c.Network))), "--agent-network must be none, model or web, got %q", tidegate.Cut(string(c.Network)))
	}
	return c, nil
}

// ModelFlag names the model.
var ModelFlag = tool.Flag{Name: "model", About: "the `model` that the agents are asked for (default as tidegate.toml says, else the client's own choice, or what tidegate prefers of a service)", Kind: tool.Word}
