package wave_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/wave"
)

// randomOutput is an output that meets its contract about half of the time.
func randomOutput(random *rand.Rand) string {
	var out strings.Builder
	for _, title := range []string{"Findings", "Gaps", "Sources"} {
		if random.IntN(8) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s %s\n", strings.Repeat("#", 1+random.IntN(3)), title)
		for range random.IntN(5) {
			switch {
			case title != "Sources":
				fmt.Fprintf(&out, "%s\n", strings.TrimSpace(strings.Repeat("tide ", 1+random.IntN(4))))
			case random.IntN(12) == 0:
				out.WriteString("- a book\n")
			default:
				fmt.Fprintf(&out, "- https://example.org/%d\n", random.IntN(9))
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// TestWhatPassedPassesALooserContract loosens each clause of a contract that an
// output meets, and tightens each of one that it breaks.
func TestWhatPassedPassesALooserContract(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	passed, failed := 0, 0
	for range 5_000 {
		output := randomOutput(random)
		contract := wave.Contract{
			MaxWords: float64(random.IntN(30)), MaxSources: float64(random.IntN(4)), Sections: []string{"Findings", "Gaps", "Sources"}[random.IntN(3):],
		}
		looser, tighter := contract, contract
		switch random.IntN(3) {
		case 0:
			looser.MaxWords, tighter.MaxWords = contract.MaxWords+1, contract.MaxWords-1
		case 1:
			looser.MaxSources, tighter.MaxSources = contract.MaxSources+1, contract.MaxSources-1
		default:
			looser.Sections = slices.Delete(slices.Clone(contract.Sections), 0, 1)
			tighter.Sections = append(slices.Clone(contract.Sections), "Method")
		}
		if judge(t, contract, output).Failure() == nil {
			passed++
			if f := judge(t, looser, output).Failure(); f != nil {
				t.Fatalf("%+v is met, the looser %+v is not: %v\n%s", contract, looser, f, output)
			}
			continue
		}
		failed++
		if judge(t, tighter, output).Failure() == nil {
			t.Fatalf("%+v is not met, the tighter %+v is\n%s", contract, tighter, output)
		}
	}
	if passed < 500 || failed < 500 {
		t.Errorf("%d passed and %d failed: too few of one to say something", passed, failed)
	}
}

// TestMoreWordsAreNeverFewer adds a paragraph before, in and after an output: it
// has that many more words, and what was too long stays too long.
func TestMoreWordsAreNeverFewer(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	for range 2_000 {
		output := randomOutput(random)
		lines := strings.SplitAfter(output, "\n")
		at := random.IntN(len(lines))
		longer := strings.Join(slices.Insert(lines, at, "\nthree words more\n\n"), "")
		contract := wave.Contract{MaxWords: float64(random.IntN(30)), MaxSources: 9}
		before, after := judge(t, contract, output), judge(t, contract, longer)
		if after.Words != before.Words+3 {
			t.Fatalf("%d words became %d at line %d of\n%s", before.Words, after.Words, at, output)
		}
		if tooLong(before) && !tooLong(after) {
			t.Fatalf("too long before and not after\n%s", longer)
		}
	}
}

func tooLong(v wave.Verdict) bool {
	f := v.Failure()
	return f != nil && f.Code == "TOO_MANY_WORDS"
}
