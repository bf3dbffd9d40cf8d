//go:build bench

package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidegate/tidegate/bench/sample"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/tool"
)

const (
	pivotOutputs = 1000
	gapsEach     = 3
)

// pivotRun makes a run of sample outputs that each state exactly gapsEach gaps.
func pivotRun(b *testing.B) (root string) {
	b.Helper()
	root = b.TempDir()
	must.Do(b, (sample.Wave{Outputs: pivotOutputs, Words: 850}).Write(root))
	files, err := filepath.Glob(filepath.Join(root, "wave-1", "*.md"))
	if err != nil || len(files) != pivotOutputs {
		b.Fatal(len(files), err)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(b)
		must.Do(b, os.WriteFile(file, withGaps(b, text, gapsEach), 0o600))
	}
	manifest := `{"schema_version": "manifest.v1", "run_id": "bench"}`
	must.Do(b, os.WriteFile(filepath.Join(root, "manifest.json"), []byte(manifest), 0o600))
	return root
}

// withGaps turns all gaps of a sample output but the first n into prose.
func withGaps(b *testing.B, text []byte, n int) []byte {
	mark := []byte("\n- (P")
	parts := bytes.Split(text, mark)
	if len(parts) <= n {
		b.Fatalf("a sample output has only %d gaps", len(parts)-1)
	}
	out := bytes.Join(parts[:n+1], mark)
	for _, rest := range parts[n+1:] {
		out = append(append(out, "\nand (P"...), rest...)
	}
	return out
}

var pivotClock = run.Desk{Now: func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) }}

// BenchmarkPivot compares deciding on a wave with reviewing the same files, in turn
// in one run. The metric pivot/review must stay below 2 for library and call. In
// addition, written waits for the disk, and validated_and_written is what the command
// does: it validates the outputs first, so that it is a review and a pivot.
func BenchmarkPivot(b *testing.B) {
	root := pivotRun(b)
	ctx := context.Background()
	request := step.WaveReviewInput{
		PerspectivesPath: filepath.Join(root, "perspectives.json"), OutputsDir: filepath.Join(root, "wave-1"), MaxFailures: 25,
	}
	fromRun := must.Get(step.PivotOf(ctx, pivotClock, filepath.Join(root, "manifest.json")))(b)
	onlyDecide := fromRun
	onlyDecide.ManifestPath = ""
	decide := func(in step.PivotInput) error {
		d, err := step.DecidePivot(ctx, pivotClock, in)
		if err == nil && d.Metrics.Total != pivotOutputs*gapsEach {
			err = fmt.Errorf("%d gaps", d.Metrics.Total)
		}
		return err
	}
	review := func() error {
		_, err := step.ReviewWave(ctx, pivotClock, request)
		return err
	}
	b.Run("library", func(b *testing.B) {
		compare(b, review, func() error { return decide(onlyDecide) })
	})
	b.Run("written", func(b *testing.B) {
		compare(b, review, func() error { return decide(fromRun) })
	})
	b.Run("validated_and_written", func(b *testing.B) {
		compare(b, review, func() error {
			in, err := step.PivotOf(ctx, pivotClock, fromRun.ManifestPath)
			if err != nil {
				return err
			}
			return decide(in)
		})
	})
	b.Run("call", func(b *testing.B) {
		tools := map[string]*tool.Tool{}
		for _, t := range catalog.Tools(&catalog.Env{Now: pivotClock.Now}) {
			tools[t.Name] = t
		}
		call := func(name string, args any) func() error {
			raw := must.Get(codec.MarshalLine(args))(b)
			return func() error {
				if result := tools[name].Call(ctx, raw, tool.Caller{}); result.Err != nil {
					return result.Err
				}
				return nil
			}
		}
		type output struct {
			ID   string `json:"perspective_id"`
			Path string `json:"output_md_path"`
		}
		var outputs []output
		for _, o := range onlyDecide.Outputs {
			outputs = append(outputs, output{o.PerspectiveID, o.Path})
		}
		compare(b,
			call("deep_research_wave_review", map[string]any{"perspectives_path": request.PerspectivesPath, "outputs_dir": request.OutputsDir}),
			call("deep_research_pivot_decide", map[string]any{"wave1_outputs": outputs, "wave1_validation_reports": onlyDecide.Reports}))
	})
}

// compare runs both functions in turn and reports the medians of their times and the
// ratio of the medians.
func compare(b *testing.B, review, pivot func() error) {
	timed := func(f func() error) time.Duration {
		start := time.Now()
		must.Do(b, f())
		return time.Since(start)
	}
	var reviewed, pivoted []time.Duration
	for b.Loop() {
		reviewed = append(reviewed, timed(review))
		pivoted = append(pivoted, timed(pivot))
	}
	median := func(times []time.Duration) float64 {
		slices.Sort(times)
		return float64(times[len(times)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(pivoted)/median(reviewed), "pivot/review")
	b.ReportMetric(median(pivoted), "pivot-ms")
	b.ReportMetric(median(reviewed), "review-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPivotGaps shows that the cost of a gap does not grow with the number of
// gaps: ns/gap, taken from the fastest round, stays the same.
func BenchmarkPivotGaps(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text bytes.Buffer
			text.WriteString("# Gaps\n")
			for i := range n {
				fmt.Fprintf(&text, "- (P%d) what is known of case %d is not measured #case-%d\n", i%4, i, i%7)
			}
			path := filepath.Join(b.TempDir(), "p.md")
			must.Do(b, os.WriteFile(path, text.Bytes(), 0o600))
			in := step.PivotInput{
				Outputs: []pivot.Output{{PerspectiveID: "p", Path: path}},
				Reports: []*codec.Value{codec.Of(pivot.Report{OK: true, PerspectiveID: "p", MarkdownPath: path})},
			}
			best := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				d, err := step.DecidePivot(context.Background(), pivotClock, in)
				if err != nil || d.Metrics.Total != n {
					b.Fatal(d.Metrics.Total, err)
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best.Nanoseconds())/float64(n), "ns/gap")
		})
	}
}
