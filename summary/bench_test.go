package summary_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/summary"
)

// BenchmarkReadPool reads a pool of 100,000 lines.
func BenchmarkReadPool(b *testing.B) {
	data, err := io.ReadAll(million(100_000))
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []struct {
		name string
		urls bool
	}{{"ids", false}, {"ids and URLs", true}} {
		b.Run(mode.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := summary.ReadPool(b.Context(), bytes.NewReader(data), "/pool", mode.urls); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHygiene looks through a summary without fault.
func BenchmarkHygiene(b *testing.B) {
	pool := readPool(b, pool)
	text := strings.Repeat("- Fuel use fell by a third within two years, and by half after that [@cid_a].\n", 64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := pool.Whole(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGenerate makes a summary of an output of 10 KB.
func BenchmarkGenerate(b *testing.B) {
	pool := readPool(b, pool)
	output := []byte("# Findings\n" + strings.Repeat("- Fuel use fell by a third, says [the port](https://x.org/a), and see https://x.org/no.\n", 110))
	b.SetBytes(int64(len(output)))
	for b.Loop() {
		if text, _ := pool.Generate(output, 5120, 5120); text == "" {
			b.Fatal("no summary")
		}
	}
}
