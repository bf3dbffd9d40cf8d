package synthesis

import "github.com/tidegate/tidegate"

// The statuses of a gate that was judged.
const (
	GatePass = "pass"
	GateFail = "fail"
)

// Gate is what a judge says of a gate.
type Gate struct {
	ID           string
	Status       string
	Metrics      tidegate.Details
	Warnings     []string // codes
	Notes        string   // what a person reads; at most 200 characters
	InputsDigest string
}

// Update is the gate as deep_research_gates_write takes it.
func (g Gate) Update(checkedAt string, artifacts []string) tidegate.Details {
	return tidegate.D(g.ID, tidegate.D("status", g.Status, "checked_at", checkedAt, "metrics", g.Metrics,
		"artifacts", append([]string{}, artifacts...), "warnings", append([]string{}, g.Warnings...), "notes", g.Notes))
}

func passIf(holds bool) string {
	if holds {
		return GatePass
	}
	return GateFail
}

func flag(holds bool) int {
	if holds {
		return 1
	}
	return 0
}
