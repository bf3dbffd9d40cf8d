package run

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestTimeIsCountedOnce adds spans in any order, and counts the minutes that at
// least one of them covers.
func TestTimeIsCountedOnce(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(1, seed))
		covered := map[int]bool{}
		var list Times
		for range random.IntN(12) {
			from, length := random.IntN(50), random.IntN(6)
			for minute := from; minute < from+length; minute++ {
				covered[minute] = true
			}
			before := append(Times{}, list...)
			longer := list.With(Span{at(from), at(from + length)})
			for i := range before {
				if list[i] != before[i] {
					t.Fatalf("seed %d: the list that was added to has changed", seed)
				}
			}
			list = longer
		}
		for i, s := range list {
			if i > 0 && !list[i-1].To.Before(s.From) {
				t.Fatalf("seed %d: %v and %v are not apart", seed, list[i-1], s)
			}
		}
		if sum := list.Total(); sum != time.Duration(len(covered))*time.Minute {
			t.Fatalf("seed %d: %v, want %d minutes", seed, sum, len(covered))
		}
	}
}

func at(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute) }
