package step

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/gate"
)

// withoutJudge are the gates that nothing can judge in this version, so that
// they cannot pass.
const withoutJudge = "D E F"

func TestEveryGateHasAJudge(t *testing.T) {
	for _, row := range gate.Table {
		judged, left := HasJudge(row.ID), strings.Contains(withoutJudge, row.ID)
		switch {
		case !judged && !left:
			t.Errorf("gate %s has no judge", row.ID)
		case judged && left:
			t.Errorf("gate %s has a judge and is listed as a gate without one", row.ID)
		}
	}
}
