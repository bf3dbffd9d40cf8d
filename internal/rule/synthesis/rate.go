package synthesis

import (
	"math/big"
	"strings"
)

// Rate is a whole fraction: it is compared exactly, and rounded only in print.
type Rate struct{ Of, In int } // Of parts in a whole of In; In 0 is the rate 0

// Above holds when the rate is more than a part of a whole.
func (r Rate) Above(part, whole int) bool { return r.In > 0 && r.Of*whole > part*r.In }

// Below holds when the rate is less than a part of a whole.
func (r Rate) Below(part, whole int) bool { return r.In == 0 && part > 0 || r.Of*whole < part*r.In }

// MarshalJSON prints the rate with at most six decimals, a half rounded up.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

func (r Rate) String() string {
	if r.In == 0 {
		return "0"
	}
	// FloatString rounds a half away from zero, and a rate is never below zero.
	text := big.NewRat(int64(r.Of), int64(r.In)).FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
