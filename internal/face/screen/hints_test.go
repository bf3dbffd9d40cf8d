package screen

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestADecisionIsNamedWhenItIsNeeded goes through the states of a run. Each names
// the commands that help then, and no others.
func TestADecisionIsNamedWhenItIsNeeded(t *testing.T) {
	calm := func(change func(*moment)) moment {
		m := moment{
			name: "tugs", status: run.Running, stage: run.Wave1, driven: true,
			jobs:   []Job{{ID: "wave1.grid", Mark: Working}, {ID: "wave1.policy", Mark: Ahead}},
			meters: []Meter{{Used: 10, Limit: 240}, {Used: 79, Limit: 100}, {Used: 3, Limit: math.Inf(1)}},
		}
		change(&m)
		return m
	}
	usual := []string{"tidegate run pause tugs", "tidegate run cancel tugs"}
	sources := []string{"tidegate citations list tugs", "tidegate citations replace tugs CID URL", "tidegate citations attach tugs CID FILE"}
	for _, tt := range []struct {
		name   string
		moment moment
		want   []string // before the usual ones
		alone  bool     // without the usual ones
	}{
		{"all is well", calm(func(*moment) {}), nil, false},
		{"it was just made", calm(func(m *moment) { m.status = run.Created }), nil, false},
		{"a job has no tries left", calm(func(m *moment) { m.jobs[1].Mark = Failed }), []string{"tidegate job retry tugs wave1.policy --note TEXT"}, false},
		{"minutes run out", calm(func(m *moment) { m.meters[0].Used = 192 }), []string{"tidegate run limit tugs max_minutes 480"}, false},
		{"tokens run out", calm(func(m *moment) { m.meters[1].Used = 80 }), []string{"tidegate run limit tugs max_tokens 200"}, false},
		{"money runs out", calm(func(m *moment) { m.meters[2] = Meter{Used: 2, Limit: 2.5} }), []string{"tidegate run limit tugs max_cost_usd 5"}, false},
		{"there is no budget", calm(func(m *moment) { m.meters[1] = Meter{} }), []string{"tidegate run limit tugs max_tokens 1"}, false},
		{"a source cannot be used", calm(func(m *moment) { m.stage, m.unusable = run.Citations, 1 }), sources, false},
		{"an agent still corrects its sources", calm(func(m *moment) { m.unusable = 1 }), nil, false},
		{"all sources can be used", calm(func(m *moment) { m.stage = run.Citations }), nil, false},
		{"nobody drives it", calm(func(m *moment) { m.driven = false }), []string{"tidegate run continue tugs"}, true},
		{"it is done", calm(func(m *moment) { m.status, m.driven = run.Completed, false }), nil, true},
		{"it is paused", calm(func(m *moment) { m.status = run.Paused }), nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if !tt.alone {
				want = append(want[:len(want):len(want)], usual...)
			}
			var got []string
			for _, h := range tt.moment.hints() {
				got = append(got, h.Command)
				if h.About == "" {
					t.Errorf("%s does not say what it does", h.Command)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the commands differ (-want +got)\n%s", diff)
			}
		})
	}
}

// TestAHomeWithWorkersIsResumedWhereItWas: each command that resumes it names its program.
func TestAHomeWithWorkersIsResumedWhereItWas(t *testing.T) {
	workers := &dispatch.Workers{Program: "far-program", Flags: func() string { return " --address HOST:1 --queue q" }}
	for _, hint := range (moment{workers: workers, name: "harbour", status: run.Running}).hints() {
		if strings.Contains(hint.Command, "run continue") && !strings.HasPrefix(hint.Command, "far-program ") {
			t.Error(hint.Command)
		}
	}
}

// TestKeysScrollTheJobs types keys, byte by byte as a terminal sends them, with a
// list of 200 jobs in which the followed ones begin at 80.
func TestKeysScrollTheJobs(t *testing.T) {
	const jobs, first, page, follows = 200, 80, 12, -1
	const up, down, pageUp, pageDown, home, end = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
	for keys, want := range map[string]int{
		"j": 81, "k": 79, down: 81, up: 79, " ": 92, "b": 68, pageDown: 92, pageUp: 68,
		"g": 0, home: 0, "jG": follows, "j" + end: follows, "gk": 0, strings.Repeat(" ", 50): 199, "j" + down + pageUp: 70, "x": 80,
	} {
		top, typed := follows, []byte(nil)
		for _, key := range []byte(keys) {
			top, typed = scrolled(top, append(typed, key), jobs, first, page)
		}
		if top != want || len(typed) != 0 {
			t.Errorf("after %q the first job is %d, want %d; %q is left", keys, top, want, typed)
		}
	}
}
