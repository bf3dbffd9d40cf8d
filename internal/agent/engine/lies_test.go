package engine_test

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestNumbersThatCannotBe has an agent, or the machine that it works on, report what
// no attempt can have taken: it costs a try, and neither stops the home nor lowers
// what is charged.
func TestNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	cost := func(n float64) *float64 { return &n }
	for name, said := range full.Some(map[string]driver.Answer{
		"fewer tokens than none":  {Usage: &driver.Usage{Input: -1 << 40}},
		"written fewer than none": {Usage: &driver.Usage{Output: math.MinInt64}},
		"more than there are":     {Usage: &driver.Usage{Input: math.MaxInt64, Output: math.MaxInt64}},
		"money back":              {CostUSD: cost(-1e6)},
		"all the money":           {CostUSD: cost(math.MaxFloat64)},
		"not a number":            {CostUSD: cost(math.NaN())},
		"calls given back":        {ToolCalls: map[string]int{driver.SearchCalls: -100}},
	}, 4) {
		for _, failed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				manifest, desk := newRun(t, map[string]float64{"tries": 2})
				var asked atomic.Int32
				out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Wait: noWait, Pool: &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
					asked.Add(1)
					answer := said
					if failed {
						return answer, &driver.Error{Kind: driver.Died, Message: "it fell over"}
					}
					answer.Text = "{}"
					return answer, nil
				}}})
				if err != nil || out.Status != run.Failed || asked.Load() != 2 || strings.Contains(out.Reason, "max_") {
					t.Fatalf("%s, %v after %d attempts", shown(out), err, asked.Load())
				}
				if spent := boardOf(t, desk, manifest).Spent(); !(spent.Tokens >= 0 && spent.Tokens < 1e6 && spent.CostUSD >= 0 && spent.CostUSD < 1) {
					t.Errorf("charged are %+v", spent)
				}
			})
		}
	}
}
