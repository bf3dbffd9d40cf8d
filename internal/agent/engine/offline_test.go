package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheLineAtHomeIsDown has nothing be reached for a while: answers wait, are neither
// accepted nor refused, and use no try. After half an hour their sources are what they
// are.
func TestTheLineAtHomeIsDown(t *testing.T) {
	for name, c := range map[string]struct {
		down time.Duration
		ends engine.Waiting
		most int // attempts at a job
	}{
		"for ten minutes": {10 * time.Minute, engine.ForNothing, 1},
		"for good":        {1000 * time.Hour, engine.ForPerson, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, desk := newRun(t, map[string]float64{"max_minutes": 1e6})
			var later atomic.Int64
			began := time.Now()
			desk.Now = func() time.Time { return began.Add(time.Duration(later.Load())) }
			pool := &crew{agent: obedient}
			up := new(web)
			out, err := engine.Drive(t.Context(), manifest, engine.Options{
				Desk: desk, Pool: pool, Agents: agents, Parallel: 1,
				Wait: func(_ context.Context, d time.Duration) { // those who wait at the same time wait for the same minute
					until := later.Load() + int64(d)
					for now := later.Load(); now < until && !later.CompareAndSwap(now, until); now = later.Load() {
					}
				},
				Fetch: func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
					if time.Duration(later.Load()) >= c.down {
						return up.fetch(ctx, urls, keep)
					}
					for _, url := range urls {
						packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Unreachable, Time: desk.Now(), Detail: "no route to host"})
						if err == nil {
							err = keep([]*archive.Packed{packed})
						}
						if err != nil {
							return err
						}
					}
					return nil
				},
			})
			if err != nil || out.WaitingFor != c.ends {
				t.Fatalf("%v: %s", err, shown(out))
			}
			board := must.Get(job.OpenBoard(t.Context(), desk, manifest))(t)
			defer board.Close()
			for _, j := range board.Jobs() {
				if j.Attempt > c.most {
					shown, _ := board.Show(j.ID)
					var ends []string
					for _, a := range shown.Attempts {
						ends = append(ends, a.Outcome+" "+a.Reason)
					}
					t.Errorf("%s had %d attempts: %q", j.ID, j.Attempt, ends)
				}
			}
			log := must.Read(t, filepath.Join(filepath.Dir(manifest), "logs/audit.jsonl"))
			waits := strings.Count(log, `"kind":"job_wait"`)
			refused := strings.Contains(log, `"faults":["SOURCE_NOT_USABLE"]`)
			if waits < 10 || refused != (c.ends == engine.ForPerson) {
				t.Errorf("waited %d times, refused %t", waits, refused)
			}
		})
	}
}
