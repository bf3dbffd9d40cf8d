package stage_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// agedRun is a run whose log has that many lines.
func agedRun(t testing.TB, lines int) string {
	t.Helper()
	out := must.Get(run.Create(context.Background(), runs.Pinned, t.TempDir(), run.InitInput{Query: "q", RunID: "r1"}))(t)
	r := must.Get(run.Open(context.Background(), runs.Pinned, out.ManifestPath))(t)
	defer r.Close()
	must.Get(r.Update(context.Background(), func(u *run.Update) error {
		for range lines {
			u.Log(run.EventProgress, "count", tidegate.Pairs("reason", "count"))
		}
		return nil
	}))(t)
	if v, err := run.Verify(context.Background(), runs.Pinned, run.VerifyInput{ManifestPath: out.ManifestPath, Follows: stage.Follows}); err != nil || !v.Pass {
		t.Fatalf("the aged run is not sound: %+v, %v", v.Findings, err)
	}
	return out.ManifestPath
}

func writeOnce(t testing.TB, manifest string) {
	r := must.Get(run.Open(context.Background(), runs.Pinned, manifest))(t)
	defer r.Close()
	must.Get(r.Update(context.Background(), func(u *run.Update) error { return u.Progress("count", "x") }))(t)
}

// Memory stands for work here: it can be counted and need not be timed.
func TestTenThousandthWriteCostsNoMoreThanTheHundredth(t *testing.T) {
	cost := func(revision int) uint64 {
		manifest := agedRun(t, revision)
		writeOnce(t, manifest)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 5 {
			writeOnce(t, manifest)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	hundredth, tenThousandth := cost(100), cost(10_000)
	if tenThousandth > 2*hundredth {
		t.Errorf("the 10,000th write takes %d bytes, the hundredth %d", tenThousandth, hundredth)
	}
}

// BenchmarkManifestWrite times the hundredth and the 10,000th write of a run in
// turn and reports their ratio, which must stay below 2.
func BenchmarkManifestWrite(b *testing.B) {
	young, old := agedRun(b, 100), agedRun(b, 10_000)
	var atYoung, atOld time.Duration
	for b.Loop() {
		start := time.Now()
		writeOnce(b, young)
		middle := time.Now()
		writeOnce(b, old)
		atYoung += middle.Sub(start)
		atOld += time.Since(middle)
	}
	b.ReportMetric(float64(atOld)/float64(atYoung), "10000th/100th")
	b.ReportMetric(float64(atYoung.Microseconds())/float64(b.N), "µs/100th")
	b.ReportMetric(float64(atOld.Microseconds())/float64(b.N), "µs/10000th")
}
