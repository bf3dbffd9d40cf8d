package research

import (
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestAnUnfitReaderIsTold: the screen says why another agent reads.
func TestAnUnfitReaderIsTold(t *testing.T) {
	h, ok := tell(run.Entry{Event: run.EventUnfit, Entry: codec.Of(tidegate.Pairs("job_id", "verify.1", "attempt", 2, "reader", "codex gpt-5"))})
	if !ok || h.job != "verify.1" || h.text != "codex gpt-5 missed too many planted errors, and reads no more" {
		t.Errorf("%+v, %v", h, ok)
	}
}
