package dispatch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestPerspectivesStandAboveTheQuestion at 80 columns and 24 rows, of which the
// question takes one.
func TestPerspectivesStandAboveTheQuestion(t *testing.T) {
	p := Plan{Question: "Why tides?", Sent: []string{"Nothing."}, Estimate: estimate{CostUSD: new(float64)}}
	for i := range 8 {
		p.Perspectives = append(p.Perspectives, contract{ID: fmt.Sprintf("angle%d", i), Title: "What an angle is", Track: "standard", MaxWords: 900, MaxSources: 8, Sections: []string{"Findings", fmt.Sprint("Own", i)}})
	}
	var out bytes.Buffer
	must.Do(t, report.Text(&out, p.Report(), report.Options{Width: 80}))
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	seen := strings.Join(lines[len(lines)-22:], "\n")
	for _, c := range p.Perspectives {
		if !strings.Contains(seen, c.ID+"  ") {
			t.Errorf("%s is not among the last lines:\n%s", c.ID, seen)
		}
	}
}

func TestPlanPromisesNoLimitOfSilenceThatNobodyKeeps(t *testing.T) {
	five, exec, own := engine.Agent{Driver: "claude"}, engine.Agent{Driver: "exec:agent -x"}, engine.Agent{Driver: "exec:agent", Idle: 12}
	for want, agents := range map[string][]engine.Agent{
		"5":                   {five, five},
		"no limit of silence": {exec, exec},
		"12":                  {own, own},
		"5 (planner); no limit of silence (researcher)": {five, exec},
	} {
		var shown []planAgent
		for i, agent := range agents {
			shown = append(shown, planAgent{Role: []string{"planner", "researcher"}[i], IdleMinutes: silence(agent, 5)})
		}
		if got := silenceWords(shown); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestThePlanNamesTheCostOfReading(t *testing.T) {
	cost := 1.5
	for want, r := range map[string]reading{
		"2 of these jobs, about 40,000 tokens, about 0.12 USD": reading{Jobs: 2}.of(estimate{Tokens: 500_000, CostUSD: &cost}),
		"2 of these jobs, about 40,000 tokens":                 reading{Jobs: 2}.of(estimate{Tokens: 500_000}),
		"2 of these jobs, no tokens":                           reading{Jobs: 2}.of(estimate{CostUSD: new(float64)}),
		"none":                                                 reading{}.of(estimate{Tokens: 500_000, CostUSD: &cost}),
	} {
		p := Plan{Reading: r}
		if shown := fmt.Sprint(p.Report().Blocks); !strings.Contains(shown, want) {
			t.Errorf("the plan does not say %q: %s", want, shown)
		}
	}
}

// TestARunHasTheNameOfItsQuestion: in any script, and no longer than a file's name may be.
func TestARunHasTheNameOfItsQuestion(t *testing.T) {
	for question, want := range map[string]string{
		"Harbour: should the port buy tugs?": "harbour",
		"Which heat pump fits an old house?": "which-heat-pump-fits-an",
		"港口是否应该将其四艘拖船中的两艘更换为电动拖船，以及这在十五年内会花费多少？": "港口是否应该将其四艘拖船中的两艘更换为电动",
		"ท่าเรือควรซื้อ":        "ท่าเรือควรซื้อ",
		strings.Repeat("x", 80): strings.Repeat("x", 63),
		"?!":                    "question",
	} {
		if got := nameOf(question); got != want {
			t.Errorf("%s is named %s, want %s", question, got, want)
		}
	}
}
