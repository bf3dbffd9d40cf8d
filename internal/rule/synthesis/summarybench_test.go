package synthesis_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
)

// BenchmarkHygiene looks through a summary without fault.
func BenchmarkHygiene(b *testing.B) {
	pool := readPool(b, pool)
	text := strings.Repeat("- Fuel use fell by a third within two years, and by half after that [@cid_a].\n", 64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		must.Do(b, synthesis.SummaryFault(pool, text))
	}
}

// BenchmarkGenerate makes a summary of an output of 10 KB.
func BenchmarkGenerate(b *testing.B) {
	pool := readPool(b, pool)
	output := []byte("# Findings\n" + strings.Repeat("- Fuel use fell by a third, says [the port](https://x.org/a), and see https://x.org/no.\n", 110))
	b.SetBytes(int64(len(output)))
	for b.Loop() {
		if text, _ := synthesis.GenerateSummary(pool, output, 5120, 5120); text == "" {
			b.Fatal("no summary")
		}
	}
}
