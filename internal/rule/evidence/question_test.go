package evidence_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestTheQuestionGroundsNothing: what only the question of the run says is weak, and what the
// rule says of the run stands.
func TestTheQuestionGroundsNothing(t *testing.T) {
	about := evidence.RunText(evidence.RunFacts{Question: "Why did the port of Velden hide 412 deaths from its owner?", Day: "2026-02-14", Sensitivity: "normal", Perspectives: 14,
		Sources: []evidence.Count{{Of: "blocked", N: 23}, {Of: "valid", N: 31}}, Languages: []string{"en"}, Years: []string{"2021"}})
	for text, want := range map[string]claim.Standing{
		"The port of Velden hid 412 deaths from its owner.":              claim.Weak,
		"Number of perspectives: 14.":                                    claim.Found,
		"Sources by status were blocked 23 and valid 31.":                claim.Found,
		"The research was made on 2026-02-14.":                           claim.Found,
		"Sources by status were blocked 23 and valid 55.":                claim.Missing,
		"The question asks why the port of Velden hid deaths from them.": claim.Weak,
	} {
		r := evidence.Read(markdown.Read([]byte("## Caveats\n\n"+text+" [inferred from @run]\n")), facts())
		held, err := r.Hold(t.Context(), "en", func(cid string) (*claim.Page, error) {
			return &claim.Page{CID: cid, Text: about, Language: "en"}, nil
		}, claim.Titles{})
		if err != nil || len(held) != 1 || held[0].Standing != want {
			t.Errorf("%q: %+v, %v", text, held, err)
		}
	}
}

// TestANumberOfTheQuestionIsForAReader: it is no fault by rule that the page does not name it,
// and the sentence is weak.
func TestANumberOfTheQuestionIsForAReader(t *testing.T) {
	for question, want := range map[string]claim.Standing{"What did edition 4.0.3 of the harbour rules change?": claim.Weak, "What did the harbour rules change?": claim.Missing} {
		facts := facts()
		facts.Question = question
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\nEdition 4.0.3 of the harbour rules wants two tugs beside each tanker. [@s1]\n")), facts)
		before := len(r.Faults)
		held, err := r.Hold(t.Context(), "en", func(cid string) (*claim.Page, error) {
			return &claim.Page{CID: cid, Text: "The harbour rules want two tugs beside each tanker.", Language: "en"}, nil
		}, claim.Titles{})
		if err != nil || held[0].Standing != want || (len(r.Faults) > before) != (want == claim.Missing) {
			t.Errorf("%q: %+v, %v, %v", question, held, r.Faults, err)
		}
	}
}
