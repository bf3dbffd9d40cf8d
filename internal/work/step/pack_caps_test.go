package step_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestCaps(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name                string
		summaryKB, totalKB  any
		p1, p2              int // bytes
		refused             bool
		refusedPerspective  string
		refusedForTheirSum  int
		estimatedTokensWant int64
	}{
		{name: "below", summaryKB: 2, totalKB: 4, p1: 2047, p2: 1, estimatedTokensWant: 512},
		{name: "at the cap of one", summaryKB: 2, totalKB: 8, p1: 2048, p2: 2048, estimatedTokensWant: 1024},
		{name: "above the cap of one", summaryKB: 2, totalKB: 8, p1: 1, p2: 2049, refused: true, refusedPerspective: "p2"},
		{name: "at the cap of all", summaryKB: 2, totalKB: 3, p1: 2048, p2: 1024, estimatedTokensWant: 768},
		{name: "above the cap of all", summaryKB: 2, totalKB: 3, p1: 2048, p2: 1025, refused: true, refusedForTheirSum: 3073},
		{name: "a cap with a fraction", summaryKB: 0.5, totalKB: 0.75, p1: 512, p2: 256, estimatedTokensWant: 192},
		{name: "above a cap with a fraction", summaryKB: 0.5, totalKB: 10, p1: 513, p2: 1, refused: true, refusedPerspective: "p1"},
		{name: "a cap that is not a whole number of bytes", summaryKB: 0.001, totalKB: 1, p1: 1, p2: 1, estimatedTokensWant: 1},
		{name: "above a cap that is not a whole number of bytes", summaryKB: 0.001, totalKB: 1, p1: 2, p2: 1, refused: true, refusedPerspective: "p1"},
		{name: "a cap of nothing", summaryKB: 0, totalKB: 0, p1: 0, p2: 0, estimatedTokensWant: 0},
		{name: "above a cap of nothing", summaryKB: 0, totalKB: 9, p1: 0, p2: 1, refused: true, refusedPerspective: "p2"},
		{name: "a cap beyond all sizes", summaryKB: 1e300, totalKB: 1e300, p1: 9000, p2: 1, estimatedTokensWant: 2251},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newPackRun(t)
			r.limits(test.summaryKB, test.totalKB)
			r.fixture("p1", text(test.p1))
			r.fixture("p2", text(test.p2))
			_, err := r.build()
			if !test.refused {
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := r.pack().Get("total_estimated_tokens").Int(); got != test.estimatedTokensWant {
					t.Errorf("%d tokens, want %d", got, test.estimatedTokensWant)
				}
				return
			}
			e := tidegate.AsError(err)
			if e == nil || e.Code != tidegate.SizeCapExceeded {
				t.Fatalf("got %v", err)
			}
			if id, _ := e.Details.Get("perspective_id"); test.refusedPerspective != "" && id != test.refusedPerspective {
				t.Errorf("got %v, want a refusal of %s", e.Details, test.refusedPerspective)
			}
			if n, _ := e.Details.Get("total_bytes"); test.refusedForTheirSum != 0 && n != test.refusedForTheirSum {
				t.Errorf("got %v, want a refusal of %d bytes", e.Details, test.refusedForTheirSum)
			}
		})
	}
}

func TestBuildReportsProgress(t *testing.T) {
	r := newPackRun(t)
	most := make(chan int, 10)
	r.mustBuild(func(req *step.PackInput) {
		req.Progress = func(done, total int) {
			if total == 2 {
				most <- done
			}
		}
	})
	if len(most) != 2 {
		t.Errorf("progress heard %d figures, want 2", len(most))
	}
}
