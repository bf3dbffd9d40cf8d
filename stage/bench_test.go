package stage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/stage"
)

// agedRun is a run whose manifest has been written revision - 1 times: its log
// has that many lines, chained as if they had been written one by one.
func agedRun(t testing.TB, revision int) string {
	t.Helper()
	out, err := run.Create(context.Background(), pinned, t.TempDir(), run.InitInput{Query: "q", RunID: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	logPath := filepath.Join(out.Root, "logs/audit.jsonl")
	var log strings.Builder
	log.WriteString(read(logPath))
	prev := codec.DigestBytes([]byte(strings.TrimSuffix(log.String(), "\n")))
	for r := 1; r < revision; r++ {
		line := fmt.Sprintf(`{"ts":"2026-02-14T12:00:00.000Z","kind":"manifest_write","run_id":"r1","prev_revision":%d,"new_revision":%d,`+
			`"reason":"count","patch_digest":"%s","manifest_digest":"","clock":"pinned","prev":"%s"}`, r, r+1, prev, prev)
		log.WriteString(line + "\n")
		prev = codec.DigestBytes([]byte(line))
	}
	for path, content := range map[string]string{
		logPath:          log.String(),
		out.ManifestPath: strings.Replace(read(out.ManifestPath), `"revision": 1`, fmt.Sprintf(`"revision": %d`, revision), 1),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := run.Verify(context.Background(), out.ManifestPath); err != nil || !v.Pass {
		t.Fatalf("the aged run is not sound: %+v, %v", v.Findings, err)
	}
	return out.ManifestPath
}

func writeOnce(t testing.TB, manifest string) {
	_, err := stage.ManifestWrite(context.Background(), pinned, stage.ManifestWriteInput{
		ManifestPath: manifest, Patch: codec.Of(tidegate.D("metrics", tidegate.D("n", 1))), Reason: "count"})
	if err != nil {
		t.Fatal(err)
	}
}

// Memory stands for work here: it is counted, not timed.
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
