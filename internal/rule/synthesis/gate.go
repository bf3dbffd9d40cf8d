package synthesis

import (
	"github.com/tidegate/tidegate"
)

// The statuses of a gate that was judged.
const (
	GatePass = "pass"
	GateFail = "fail"
)

// Gate is what a judge says of a gate.
type Gate struct {
	ID           string
	Metrics      tidegate.Details
	Faults       []string // why it fails, as codes in byte order; none when it passes
	Warnings     []string // what else a person should know, likewise
	Notes        string   // what a person reads of the faults; at most 200 characters
	InputsDigest string
}

func flag(holds bool) int {
	if holds {
		return 1
	}
	return 0
}
