package dispatch

import (
	"slices"
	"testing"
)

// TestAReasonIsToldOnce: what the page has instead says more than that a number is not there,
// and an address that the line has is not said again.
func TestAReasonIsToldOnce(t *testing.T) {
	t.Parallel()
	w := Wrong{Text: "- Interviews, 60 % of them, https://deck.example/crews"}
	for _, why := range []string{"60 %: the page says 70 % (line 10)", `the number "60 %" in line 10 is not on the cited page`,
		"the source https://deck.example/crews is mismatch: redirected to https://deck.example/", `the number "61 %" in line 10 is not on the cited page`, `the number "61 %" in line 10 is not on the cited page`} {
		w.tell(why)
	}
	if want := []string{"60 %: the page says 70 % (line 10)", "the source is mismatch: redirected to https://deck.example/", `the number "61 %" in line 10 is not on the cited page`}; !slices.Equal(w.Whys, want) {
		t.Errorf("%q", w.Whys)
	}
}
