package change

import (
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// A decision counts once, for the log that the person saw, and for its newest
// review.
func TestADecisionCountsOnceAndNowhereElse(t *testing.T) {
	rounds := int64(3)
	r := func() *record {
		return &record{head: "sha256:2", heads: map[string]bool{artifact.FirstPrev: true, "sha256:1": true, "sha256:2": true},
			decisions: map[string]bool{}, reviews: []logged{{number: 4}}}
	}
	made := r().decision("c", "change_start")
	made.MaxRounds = &rounds
	canonical, err := codec.Canonical(made.value())
	if want := `{"change_id":"c","decision":"change_start","head":"sha256:2","max_rounds":3,"review":4}`; err != nil || string(canonical) != want {
		t.Errorf("canonical form %s (%v), want %s", canonical, err, want)
	}
	if before, after := r(), r(); before.taken(made) {
		t.Error("it was taken before it was made")
	} else if after.decisions[codec.Digest(made.value())] = true; !after.taken(made) || after.taken(decision{ChangeID: "c", Head: "sha256:2"}) {
		t.Error("a decision is not known by its content")
	}
	for _, test := range []struct {
		name string
		edit func(*record, *decision)
		ok   bool
	}{
		{"as it was made", func(*record, *decision) {}, true},
		{"with lines since", func(r *record, d *decision) { d.Head = "sha256:1" }, true},
		{"about another log", func(r *record, d *decision) { d.Head = "sha256:3" }, false},
		{"with a review since", func(r *record, d *decision) { r.reviews = append(r.reviews, logged{number: 5}) }, false},
	} {
		r, d := r(), made
		test.edit(r, &d)
		if err := r.admits(d); (err == nil) != test.ok || err != nil && tidegate.CodeOf(err) != tidegate.InvalidState {
			t.Errorf("%s: got error %v, want it to count: %v", test.name, err, test.ok)
		}
	}
}
