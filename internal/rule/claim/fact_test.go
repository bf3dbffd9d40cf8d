package claim_test

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
)

// TestFacts: each number, date, quotation and name of a sentence leads to the words that carry
// it, in whatever spelling, and what no window has leads nowhere.
func TestFacts(t *testing.T) {
	windows := []claim.Window{
		{CID: "a", Text: "Annex 2: two electric tugs that charge at the same time need 3.0 MW at the berth, says the yard."},
		{CID: "b", Text: "On 4 March 2024 Quaypower wrote that the substation \"has 1,100 kW to spare on a winter evening\"."},
	}
	for name, test := range map[string]struct {
		question claim.Question
		want     []string // text: the words of the window
	}{
		"numbers":      {claim.Question{Text: "Two tugs need 3 MW, and 7.7 MW are not there.", Language: "en"}, []string{"Two: two", "3 MW: 3.0 MW"}},
		"a date":       {claim.Question{Text: "It was written in March 2024.", Language: "en"}, []string{"March 2024: 4 March 2024"}},
		"a quotation":  {claim.Question{Text: "It “has 1,100 kW to spare on a winter evening”.", Language: "en"}, []string{"1,100 kW: 1,100 kW", "has 1,100 kW to spare on a winter evening: has 1,100 kW to spare on a winter evening"}},
		"a name":       {claim.Question{Text: "The figure is that of Quaypower.", Language: "en"}, []string{"Quaypower: Quaypower"}},
		"an operand":   {claim.Question{Text: "A buffer brings the rest.", Language: "en", Operands: []string{"3.0 MW"}}, []string{"3.0 MW: 3.0 MW"}},
		"nothing":      {claim.Question{Text: "It is so.", Language: "en"}, nil},
		"other values": {claim.Question{Text: "It needs 30 MW.", Language: "en"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range claim.Facts(test.question, windows) {
				got = append(got, f.Text+": "+windows[f.Window].Text[f.Start:f.End])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
