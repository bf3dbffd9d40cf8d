package step_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestGateFHoldsARunToItsBudget: ended attempts took no more than a person allowed,
// or the gate fails and says what to do.
func TestGateFHoldsARunToItsBudget(t *testing.T) {
	made := runs.Create(t, run.InitInput{})
	at := runs.Pinned.Now()
	desk := run.Desk{Pinned: true, Now: func() time.Time { return at }}
	r := runs.OpenAt(t, desk, made.ManifestPath)
	do := func(after time.Duration, change func(u *run.Update) error) {
		t.Helper()
		at = at.Add(after)
		must.Get(r.Update(t.Context(), change))(t)
	}
	attempt := func(event run.Event, job string, accepted bool) func(u *run.Update) error {
		return func(u *run.Update) error {
			u.Log(event, "test", tidegate.Pairs("job_id", job, "attempt", 1, "accepted", accepted))
			return nil
		}
	}
	for _, job := range []string{"wave1.a", "wave1.b", "wave1.c"} {
		do(0, func(u *run.Update) error {
			return u.Write(run.AttemptDir(job, 1)+"/attempt.json", []byte(`{"usage":{"input_tokens":900,"output_tokens":100,"cost_usd":0.25}}`))
		})
	}
	// Two leases at once count once; a refused answer ends nothing, and an attempt that goes on is not counted.
	do(0, attempt(run.EventLeased, "wave1.a", false))
	do(time.Minute, attempt(run.EventLeased, "wave1.b", false))
	do(time.Minute, attempt(run.EventVerdict, "wave1.a", false))
	do(time.Minute, attempt(run.EventVerdict, "wave1.a", true))
	do(time.Minute, attempt(run.EventEnded, "wave1.b", false))
	// Fetching counts from the line before, and a minute at most: somebody may have been away.
	do(0, attempt(run.EventMoved, "", false))
	do(30*time.Second, attempt(run.EventFetched, "", false))
	do(time.Hour, attempt(run.EventFetched, "", false))
	do(time.Minute, attempt(run.EventLeased, "wave1.c", false))
	// A lease that ran out counts until then, whenever that is noticed.
	lasts := func(event run.Event, d time.Duration) func(u *run.Update) error {
		return func(u *run.Update) error {
			u.Log(event, "test", tidegate.Pairs("job_id", "wave1.d", "attempt", 1, "expires_at", tidegate.Stamp(at.Add(d))))
			return nil
		}
	}
	do(0, lasts(run.EventLeased, time.Minute))
	do(time.Minute, lasts(run.EventExtended, time.Minute))
	do(24*time.Hour, attempt(run.EventEnded, "wave1.d", false))

	for _, c := range []struct {
		name        string
		keeps, over float64
	}{{"max_tokens", 2000, 1999}, {"max_cost_usd", 0.5, 0.49}, {"max_minutes", 7.5, 7}} {
		for limit, fails := range map[float64]bool{c.keeps: false, c.over: true} {
			do(0, func(u *run.Update) error { return u.SetBudget(c.name, limit, "test") })
			found, err := gates.Judge(t.Context(), r, "F")
			if err != nil || slices.Contains(found.Warnings, "BUDGET_EXCEEDED:1") != fails {
				t.Errorf("%s %v: %v %v", c.name, limit, found.Warnings, err)
			}
			if said := strings.Join(found.Changes, "\n"); fails != strings.Contains(said, "run limit") || fails != strings.Contains(found.Notes, c.name) {
				t.Errorf("%s %v: %q %q", c.name, limit, found.Notes, said)
			}
		}
		do(0, func(u *run.Update) error { return u.SetBudget(c.name, c.keeps, "test") })
	}
}
