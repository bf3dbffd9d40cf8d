package wave_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/bench/sample"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

func BenchmarkJudge(b *testing.B) {
	for _, kind := range []struct {
		name  string
		share float64
	}{{"ASCII", 0}, {"5 percent non-ASCII", 0.05}} {
		b.Run(kind.name, func(b *testing.B) {
			dir := b.TempDir()
			must.Do(b, (sample.Wave{Outputs: 1, Words: 850, NonASCII: kind.share}).Write(dir))
			output := must.Get(os.ReadFile(filepath.Join(dir, "wave-1", "p00000.md")))(b)
			c := wave.Contract{MaxWords: 1e6, MaxSources: 1e6, Sections: []string{"Summary", "Findings", "Gaps", "Sources"}}
			var j wave.Judge
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				if v, err := j.Judge(c, bytes.NewReader(output)); err != nil || v.Failure() != nil {
					b.Fatal(err, v.Failure())
				}
			}
		})
	}
}

func BenchmarkReviewOf1000(b *testing.B) {
	dir := b.TempDir()
	must.Do(b, (sample.Wave{Outputs: 1000, Words: 850, Failing: 0.1}).Write(dir))
	b.ReportAllocs()
	for b.Loop() {
		if got := review(b, inFolder(b, dir)); got.Validated != 1000 {
			b.Fatal(got.Validated)
		}
	}
}
