package research

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/report"
)

// TestPerspectivesStandAboveTheQuestion at 80 columns and 24 rows, of which the
// question takes one.
func TestPerspectivesStandAboveTheQuestion(t *testing.T) {
	p := plan{Question: "Why tides?", Sent: []string{"Nothing."}, Estimate: estimate{CostUSD: new(float64)}}
	for i := range 8 {
		p.Perspectives = append(p.Perspectives, contract{ID: fmt.Sprintf("angle%d", i), Title: "What an angle is", Track: "standard", MaxWords: 900, MaxSources: 8, Sections: []string{"Findings", fmt.Sprint("Own", i)}})
	}
	var out bytes.Buffer
	if err := report.Text(&out, p.report(), report.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	seen := strings.Join(lines[len(lines)-22:], "\n")
	for _, c := range p.Perspectives {
		if !strings.Contains(seen, c.ID+"  ") {
			t.Errorf("%s is not among the last lines:\n%s", c.ID, seen)
		}
	}
}

func TestScreenNamesSourcesAsTheyComeIn(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := &live{s: &session{Env: &Env{Env: &catalog.Env{Now: func() time.Time { return now }}}}}
	fetch := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for i, url := range urls {
			capture := archive.Capture{URL: url, Kind: []archive.Kind{archive.Unreachable, archive.NoSuchName}[i], Time: now}
			packed, err := archive.Pack(capture)
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}
	kept := 0
	err := l.naming(fetch)(t.Context(), []string{"https://tides.example/a", "https://tides.example/b"}, func(p []*archive.Packed) error { kept += len(p); return nil })
	if err != nil || kept != 2 || len(l.events) != 2 || l.events[0].Text != "no page (unreachable): https://tides.example/a" || l.events[1].Text != "no page (no_such_name): https://tides.example/b" {
		t.Errorf("%v, %d kept, %+v", err, kept, l.events)
	}
}

func TestWhatIsLeftFollowsWhatIsDone(t *testing.T) {
	jobs := []job.Job{{Kind: "perspectives", State: job.Accepted}, {Kind: "wave1", State: job.Accepted}, {Kind: "wave1"}, {Kind: "wave1"}}
	shown := []Job{{Minutes: 1}, {Minutes: 10}, {Minutes: 3}, {Minutes: -1}}
	// A round of two outputs at ten minutes, and by guess two rounds of summaries, the synthesis and its review.
	if got, want := minutesLeft(jobs, shown, 2), 10.0+2*otherMinutes+2*otherMinutes; got != want {
		t.Errorf("%v minutes, want %v", got, want)
	}
	jobs = []job.Job{{Kind: "wave1", State: job.Accepted}, {Kind: "summary", State: job.Accepted}, {Kind: "synthesis", State: job.Accepted}, {Kind: "review", State: job.Accepted}}
	if got := minutesLeft(jobs, shown, 2); got != 0 {
		t.Errorf("%v minutes are left of a run that is done", got)
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
		p := plan{Reading: r}
		if shown := fmt.Sprint(p.report().Blocks); !strings.Contains(shown, want) {
			t.Errorf("the plan does not say %q: %s", want, shown)
		}
	}
}
