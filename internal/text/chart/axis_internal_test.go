package chart

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAxes: ticks stand at round places, few of them, and the last amount is not below the
// largest.
func TestAxes(t *testing.T) {
	t.Parallel()
	labels := func(ticks []Tick) string {
		var out []string
		for _, tick := range ticks {
			out = append(out, fmt.Sprintf("%s@%v", tick.Label, tick.At))
		}
		return strings.Join(out, " ")
	}
	for whole, want := range map[time.Duration]string{
		0:                       "",
		4 * time.Second:         "0@0 1 s@25 2 s@50 3 s@75 4 s@100",
		90 * time.Minute:        "0@0 30 min@33.33 60 min@66.67 90 min@100",
		300 * 24 * time.Hour:    "0@0 1536 h@21.33 3072 h@42.67 4608 h@64 6144 h@85.33",
		1500 * time.Microsecond: "0@0 1 ms@66.67",
	} {
		if got := labels(TimeAxis(whole)); got != want {
			t.Errorf("%v has the ticks %q, want %q", whole, got, want)
		}
	}
	for most, want := range map[float64]string{
		0: "", 1.2: "$0.00@100 $0.50@66.67 $1.00@33.33 $1.50@0", 77_064: "$0.00@100 $20000.00@75 $40000.00@50 $60000.00@25 $80000.00@0", 5: "$0.00@100 $1.00@80 $2.00@60 $3.00@40 $4.00@20 $5.00@0",
	} {
		ticks, top := AmountAxis(most, func(f float64) string { return fmt.Sprintf("$%.2f", f) })
		if got := labels(ticks); got != want || top < most {
			t.Errorf("%v has the ticks %q up to %v, want %q", most, got, top, want)
		}
	}
}
