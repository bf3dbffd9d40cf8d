package dispatch

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/job"
)

// TestWhatIsWrongIsToldBySentence: a sentence stands once, without its marks, with what its page
// has instead; that a number is not there, and an address that the sentence has, are not said again.
func TestWhatIsWrongIsToldBySentence(t *testing.T) {
	t.Parallel()
	const answer = "- Interviews, 60 % of them, https://deck.example/crews\n" +
		"A tug spends 310,000 euro less. [@s2] Two save 700,000 euro. [@s2] [calculated: 2 * (1 + 2) = 700,000] Over 20 years that is 12 million euro. [calculated: 20 * 600,000 = 12 million]\n"
	var faults []job.Fault
	for line, messages := range [][]string{{"60 %: the page says 70 % (line 1)", `the number "60 %" in line 1 is not on the cited page`,
		"the source https://deck.example/crews is mismatch: redirected to https://deck.example/", `the number "61 %" in line 1 is not on the cited page`, `the number "61 %" in line 1 is not on the cited page`},
		{"310,000 euro: the page says 210,000 euro (line 2)", `the calculation "2 * (1 + 2) = 700,000" in line 2 gives 6`, `"600,000" in the calculation of line 2 is in no passage`}} {
		for _, m := range messages {
			faults = append(faults, job.Fault{Message: m, Line: new(line + 1)})
		}
	}
	faults = append(faults, job.Fault{Message: "it is too short"})
	want := []Wrong{
		{"Interviews, 60 % of them, https://deck.example/crews", []Why{{"60 %", "70 %", ""}, {Words: "the source is mismatch: redirected to https://deck.example/"}, {Words: `the number "61 %" is not on the cited page`}}, 1},
		{"A tug spends 310,000 euro less.", []Why{{"310,000 euro", "210,000 euro", ""}}, 1},
		{"Two save 700,000 euro.", []Why{{Words: `the calculation "2 * (1 + 2) = 700,000" gives 6`}}, 1},
		{"Over 20 years that is 12 million euro.", []Why{{Words: `"600,000" in the calculation is in no passage`}}, 1},
		{"", []Why{{Words: "it is too short"}}, 1},
	}
	got := WrongWith("synthesis", []byte(answer), faults)
	for i, w := range want {
		if i >= len(got) || got[i].Text != w.Text || !slices.Equal(got[i].Whys, w.Whys) {
			t.Errorf("%+v", got)
			break
		}
	}
	var all Refusals
	for range 2 {
		for _, w := range got {
			all.add(w)
		}
	}
	if len(all.Groups) != len(want) || all.Groups[0].Tries != 2 || len(all.Groups[0].Whys) != 3 {
		t.Errorf("%+v", all)
	}
}
