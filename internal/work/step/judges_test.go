package step

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/gate"
)

func TestEveryGateHasAJudge(t *testing.T) {
	for _, row := range gate.Table {
		if judges[row.ID] == nil {
			t.Errorf("gate %s has no judge", row.ID)
		}
	}
}
