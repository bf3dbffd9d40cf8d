package dispatch

import (
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestManySmallLimitsWaitForEachOther: how much work goes on at once has a bound, however
// little each may cost.
func TestManySmallLimitsWaitForEachOther(t *testing.T) {
	folder := must.Get(artifact.Everywhere.Open("home", t.TempDir()))(t)
	defer folder.Close()
	l := must.Get(openLedger(folder, time.Now, 5))(t)
	var first *reservation
	for range mostUnderWay {
		w := must.Get(l.reserve("", 0, 0.001))(t)
		first = w
	}
	if _, err := l.reserve("", 0, 0.001); tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("one more begins: %v", err)
	}
	must.Do(t, l.settle(first, 10))
	if _, err := l.reserve("", 0, 0.001); tidegate.CodeOf(err) != tidegate.BudgetExhausted {
		t.Errorf("after one that cost more than it may: %v", err)
	}
}
