package gates

import (
	"testing"

	"github.com/tidegate/tidegate/internal/work/run"
)

func TestEveryGateHasAJudge(t *testing.T) {
	for _, row := range run.GateTable {
		if judges[row.ID] == nil {
			t.Errorf("gate %s has no judge", row.ID)
		}
	}
}
