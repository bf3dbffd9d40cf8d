package screen

import (
	"fmt"
	"math"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
)

// leftMeter says how long a run will probably still take. It has none for a run whose
// answers are recorded: nobody waits for those.
func leftMeter(board *job.Board, shown []Job) (Meter, bool) {
	recorded := true
	for _, agent := range board.Policy().Agents {
		recorded = recorded && strings.HasPrefix(agent.Driver, "recorded")
	}
	minutes := minutesLeft(board.Jobs(), shown, board.Policy().Budget.MaxParallel)
	if recorded || minutes == 0 {
		return Meter{}, false
	}
	return Meter{Name: "left", Limit: math.Inf(1), Text: fmt.Sprintf("about %s", report.Counted(int(math.Ceil(minutes)), "minute"))}, true
}

// minutesLeft estimates how long the jobs will take that a run has still before it, by
// those of their kind that are done, else by a guess. Shown are the same jobs as the
// list shows them. A second wave and rounds of review count once they are there.
func minutesLeft(jobs []job.Job, shown []Job, parallel float64) float64 {
	type tally struct{ there, done, minutes float64 }
	kinds := map[string]tally{}
	for i, j := range jobs {
		t := kinds[j.Kind]
		t.there++
		if j.State == job.Accepted {
			t.done++
			t.minutes += max(0, shown[i].Minutes)
		}
		kinds[j.Kind] = t
	}
	waves := kinds["wave1"].there
	if waves == 0 {
		waves = dispatch.UsualPerspectives
	}
	left := 0.0
	for _, k := range []struct {
		kind  string
		least float64 // jobs that every run has
		guess float64 // minutes of one
	}{
		{"perspectives", 0, dispatch.OtherMinutes}, {"wave1", waves, dispatch.WaveMinutes}, {"wave2", 0, dispatch.WaveMinutes},
		{"summary", waves, dispatch.OtherMinutes}, {"outline", 0, dispatch.OtherMinutes}, {"section", 0, dispatch.OtherMinutes}, {"synthesis", 1, dispatch.OtherMinutes}, {"review", 1, dispatch.OtherMinutes},
	} {
		t := kinds[k.kind]
		each := k.guess
		if t.done > 0 {
			each = t.minutes / t.done
		}
		left += math.Ceil((max(t.there, k.least)-t.done)/parallel) * each
	}
	return left
}
