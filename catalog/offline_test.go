package catalog_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// TestAnAnswerWaitsForTheLine hands answers in while nothing can be reached, by agents
// that tidegate does not drive. They are judged by the steps that follow.
func TestAnAnswerWaitsForTheLine(t *testing.T) {
	t.Parallel()
	env := pinned(scratch.Short(t))
	var later atomic.Int64
	began, down := env.Now(), true
	env.Pinned, env.Now = false, func() time.Time { return began.Add(time.Duration(later.Load())) }
	fetched := 0
	env.Fetch = func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		if !down {
			return knownPages(ctx, urls, keep)
		}
		for _, url := range urls {
			fetched++
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.TimedOut, Time: env.Now()})
			if err == nil {
				err = keep([]*archive.Packed{packed})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	o := newOrchestrator(t, env)
	o.call("run_init", `{"query": "Should the harbour buy electric tugs?", "run_id": "harbour"}`)
	o.call("run_step", `{"run": "harbour"}`)
	o.work("harbour", "planner")
	o.call("run_step", `{"run": "harbour"}`)
	handedIn := 0
	for {
		job := o.call("job_lease", `{"run": "harbour", "holder": "researcher", "lease_seconds": 60}`).Get("job")
		if job.Kind() == codec.Null {
			break
		}
		handedIn++
		answer, _ := codec.MarshalLine(o.answer(job.Get("kind").Str(), job.Get("prompt_md").Str(), false))
		for range 2 { // a client that was cut off hands the same in again
			verdict := o.call("job_submit", `{"run": "harbour", "token": %q, "answer": %s}`, job.Get("token").Str(), answer)
			if verdict.Get("accepted").Bool() || verdict.Get("waiting_for").Str() != "time" || verdict.Get("faults").Len() != 0 || verdict.Get("state").Str() != "leased" {
				line, _ := codec.MarshalLine(verdict)
				t.Fatalf("%s", line)
			}
		}
	}
	asked := fetched
	for range 5 {
		later.Add(int64(2 * time.Minute)) // longer than the leases were asked for
		step := o.call("run_step", `{"run": "harbour"}`)
		if step.Get("waiting_for").Str() != "time" || step.Get("jobs").Len() != handedIn {
			line, _ := codec.MarshalLine(step)
			t.Fatalf("%s", line)
		}
	}
	if fetched != 6*asked {
		t.Errorf("%d pages were tried, of %d each time", fetched, asked)
	}
	down = false
	later.Add(int64(2 * time.Minute))
	if step := o.call("run_step", `{"run": "harbour"}`); step.Get("stage").Str() == "wave1" {
		line, _ := codec.MarshalLine(step)
		t.Errorf("%s", line)
	}
	if replayed := o.call("run_replay", `{"run": "harbour"}`); !replayed.Get("pass").Bool() {
		line, _ := codec.MarshalLine(replayed)
		t.Errorf("%s", line)
	}
	if verified := o.call("run_verify", `{"run": "harbour"}`); !verified.Get("pass").Bool() {
		line, _ := codec.MarshalLine(verified)
		t.Errorf("%s", line)
	}
}
