package source_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

// BenchmarkReadPool reads a pool of 100,000 lines.
func BenchmarkReadPool(b *testing.B) {
	data := must.Get(io.ReadAll(million(100_000)))(b)
	for _, mode := range []struct {
		name string
		urls func(string) bool
	}{{"ids", nil}, {"ids and URLs", every}} {
		b.Run(mode.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				must.Get(source.ReadPool(b.Context(), bytes.NewReader(data), "/pool", mode.urls))(b)
			}
		})
	}
}
