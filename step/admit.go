package step

import (
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/wave"
)

// Refusals is everything that keeps a run from taking an output, its use of
// tools aside: the faults of its verdict, what a reader cannot see, and gaps
// that nobody could read. The order is that of judgement.
func Refusals(p perspective.Perspective, verdict wave.Verdict, output []byte) []wave.Fault {
	return append(wave.Refusals(verdict, p.Contract, output), pivot.CheckGaps(output)...)
}
