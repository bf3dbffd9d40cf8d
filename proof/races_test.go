package proof_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// beforeLock is a context that does something once, when a call that has already
// judged its files is about to wait for the lock: waiting is the first to ask for
// the deadline.
type beforeLock struct {
	context.Context
	do func()
}

func (c *beforeLock) Deadline() (time.Time, bool) {
	if do := c.do; do != nil {
		c.do = nil
		do()
	}
	return c.Context.Deadline()
}

// TestNothingIsWrittenByAJudgementOfAnotherState lets every other call, of an
// agent or a person, come between what a call judged and what it writes. What an
// agent cannot bring about alone, it cannot bring about with a second one either.
func TestNothingIsWrittenByAJudgementOfAnotherState(t *testing.T) {
	t.Parallel()
	pairs := 0
	for _, at := range []string{"with perspectives", "planned", "wave1 handed in", "wave1 reviewed", "wave1 judged", "in pivot", "decided", "in wave2", "wave2 handed in"} {
		begun := begun(t, withGap, at)
		calls := racing(t, begun)
		stride := full.Stride(len(calls)*len(calls), 3)
		for pair := 0; pair < len(calls)*len(calls); pair += stride {
			first, second := calls[pair/len(calls)], calls[pair%len(calls)]
			if first.person {
				continue
			}
			pairs++
			o := newOffice(t)
			v := victim{o.run("tides"), ""}
			must.Do(t, os.CopyFS(v.root, os.DirFS(begun.root)))
			fill := func(args string) string { return strings.ReplaceAll(args, begun.dir, v.dir) }
			before := oathOf(t, v)
			var needed []string // gates that count when the call that may move the run begins
			ctx := &beforeLock{Context: t.Context()}
			ctx.do = func() {
				if second.person {
					o.person(t, second.tool, parsed(t, []byte(fill(second.args))))
					before = oathOf(t, v) // a person's change is allowed
				} else {
					o.asCalled(t, second.tool, fill(second.args))
				}
				needed = counting(t, v.folder)
			}
			answer := o.tools[first.tool].Call(ctx, []byte(fill(first.args)), tool.Caller{}).Envelope
			what := fmt.Sprintf("%s while %s, %s: %s", first.name, second.name, at, answer)
			if wrong := forged(t, v.folder); len(wrong) > 0 {
				t.Errorf("gates %v pass, and their judges say otherwise: %s", wrong, what)
			}
			now := oathOf(t, v)
			if ctx.do == nil && (now.fixed != before.fixed || now.status != before.status && before.status != "created") {
				t.Errorf("the run was %s and is %s, or has other limits: %s", before.status, now.status, what)
			}
			if now.stage != before.stage && first.tool == "deep_research_stage_advance" && second.tool != first.tool {
				for _, gate := range neededFor[now.stage] {
					if ctx.do == nil && !strings.Contains(strings.Join(needed, ""), string(gate)) {
						t.Errorf("the run is in stage %s although gate %c did not count: %s", now.stage, gate, what)
					}
				}
			}
			if pass, findings := v.verify(t); !pass {
				t.Errorf("the run does not verify: %s\n%s", what, findings)
			}
			os.RemoveAll(filepath.Dir(o.dir))
		}
	}
	t.Logf("%d pairs of calls", pairs)
}

// racer is a call that another may come between.
type racer struct {
	name, tool, args string
	person           bool
}

// racing are the calls that mean something for a run, whatever its stage.
func racing(t *testing.T, f folder) []racer {
	t.Helper()
	agent := func(name, tool string, args tidegate.Details) racer { return racer{name, tool, asJSON(args), false} }
	person := func(name, tool string, args tidegate.Details) racer { return racer{name, tool, asJSON(args), true} }
	manifest := tidegate.Pairs("manifest_path", f.manifest(), "reason", "r")
	with := func(more ...any) tidegate.Details { return append(tidegate.Pairs(more...), manifest...) }
	ingest := func(wave, id, gap string) tidegate.Details {
		return tidegate.Pairs("manifest_path", f.manifest(), "perspectives_path", f.path("perspectives.json"), "wave", wave, "outputs", []tidegate.Details{submission(id, gap)})
	}
	calls := []racer{
		agent("plan", "deep_research_wave1_plan", manifest),
		agent("other contracts", "deep_research_perspectives_write", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "value", contracts(f.id, 100_000), "reason", "r")),
		agent("other output", "deep_research_wave_output_ingest", ingest("wave1", "moon", "(P3) x")),
		agent("output of wave 2", "deep_research_wave_output_ingest", ingest("wave2", "gap_moon_1", "")),
		agent("review", "deep_research_wave_review", f.reviewArgs()),
		agent("advance", "deep_research_stage_advance", f.advanceArgs()),
		agent("pivot", "deep_research_pivot_decide", with("wave1_outputs", pivotOutputs, "wave1_validation_reports", pivotReports)),
		person("gate A", "deep_research_gate_a_record", manifest),
		person("gate B", "deep_research_gate_b_record", manifest),
		person("pause", "deep_research_run_pause", manifest),
		person("cancel", "deep_research_run_cancel", manifest),
	}
	if stage := f.stage(t); stage == "init" || stage == "wave1" {
		calls = append(calls, person("replan", "deep_research_perspectives_replan", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "value", contracts(f.id, 30), "reason", "r", "replan", true)))
	}
	return calls
}
