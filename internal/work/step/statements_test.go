package step_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestPassagesOfNumbersComeFirst: where there is no room for all, statements with numbers
// have theirs, a passage that two share counts once, and what is left out is counted.
func TestPassagesOfNumbersComeFirst(t *testing.T) {
	passage := func(start int) evidence.Window {
		return evidence.Window{CID: "a", Start: start, End: start + 40, Text: strings.Repeat("x", 40)}
	}
	all := []step.Statement{
		{Text: "Tugs are quiet.", Passage: passage(0)},
		{Text: "Tugs are many.", Passage: passage(100)},
		{Text: "There are 14 tugs.", Passage: passage(200)},
		{Text: "There are 14 of them.", Passage: passage(200)},
		{Text: "No page carries it."},
		{Text: "They cost 9 million.", Passage: passage(300)},
	}
	for most, want := range map[int]struct {
		texts string
		left  int
	}{
		0:   {"", 5},
		80:  {"There are 14 tugs.|There are 14 of them.|They cost 9 million.", 2},
		125: {"Tugs are quiet.|There are 14 tugs.|There are 14 of them.|They cost 9 million.", 1},
		160: {"Tugs are quiet.|Tugs are many.|There are 14 tugs.|There are 14 of them.|They cost 9 million.", 0},
	} {
		shown, left := step.WithPassages(all, most)
		var texts []string
		for _, s := range shown {
			texts = append(texts, s.Text)
		}
		if got := strings.Join(texts, "|"); got != want.texts || left != want.left {
			t.Errorf("%d bytes: %s, %d left out", most, got, left)
		}
	}
}
