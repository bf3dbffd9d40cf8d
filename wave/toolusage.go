package wave

import (
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// SidecarVersion is the schema_version of the file beside an output that
// records what the agent used.
const SidecarVersion = "wave-output-meta.v1"

// CheckToolUsage compares recorded use with a budget. Without a record nothing
// was used. It returns INVALID_TOOL_BUDGET, INVALID_TOOL_USAGE and, for the
// first tool in byte order, TOOL_BUDGET_EXCEEDED.
func CheckToolUsage(budget []ToolLimit, usage *codec.Value) error {
	for _, limit := range budget {
		if limit.Calls < 0 {
			return tidegate.Errorf(tidegate.InvalidToolBudget, tidegate.Pairs("tool", limit.Tool, "limit", limit.Calls), "the budget of %s must be at least 0", limit.Tool)
		}
	}
	if usage == nil {
		return nil
	}
	if usage.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.InvalidToolUsage, tidegate.Pairs("tool_usage", usage.Kind().String()), "tool_usage must be an object of numbers")
	}
	for _, m := range usage.Members() {
		if n, ok := m.Value.Float(); !ok || n < 0 {
			return tidegate.Errorf(tidegate.InvalidToolUsage, tidegate.Pairs("tool", tidegate.Cut(m.Key), "recorded", m.Value), "the use of %q must be a number of at least 0", tidegate.Cut(m.Key))
		}
	}
	for _, limit := range budget {
		if n, _ := usage.Get(limit.Tool).Float(); n > limit.Calls {
			return tidegate.Errorf(tidegate.ToolBudgetExceeded, tidegate.Pairs("tool", limit.Tool, "limit", limit.Calls, "recorded", n),
				"%s was called %s times, the budget is %s", limit.Tool, strconv.FormatFloat(n, 'f', -1, 64), strconv.FormatFloat(limit.Calls, 'f', -1, 64))
		}
	}
	return nil
}
