package research

import (
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// TestManySmallLimitsWaitForEachOther: how much work goes on at once has a bound, however
// little each may cost.
func TestManySmallLimitsWaitForEachOther(t *testing.T) {
	folder, err := artifact.Everywhere.Open("home", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	l, err := openLedger(folder, time.Now, 5)
	if err != nil {
		t.Fatal(err)
	}
	var first *worked
	for range mostUnderWay {
		w, err := l.reserve("", 0, 0.001)
		if err != nil {
			t.Fatal(err)
		}
		first = w
	}
	if _, err := l.reserve("", 0, 0.001); tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Errorf("one more begins: %v", err)
	}
	if err := l.settle(first, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := l.reserve("", 0, 0.001); tidegate.CodeOf(err) != tidegate.BudgetExhausted {
		t.Errorf("after one that cost more than it may: %v", err)
	}
}
