package step

import (
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/wave"
)

// Refusals is everything that keeps a run from taking an output, apart from its use
// of tools: the faults of its verdict, what a reader cannot see, and gaps that
// cannot be read. They are in the order of judgement.
func Refusals(p wave.Perspective, verdict wave.Verdict, output []byte) []wave.Fault {
	return append(wave.Refusals(verdict, p.Contract, output), pivot.CheckGaps(output)...)
}
