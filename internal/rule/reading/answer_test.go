package reading_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestAnswers(t *testing.T) {
	window := func(text string) []claim.Window {
		return []claim.Window{{Text: "Nothing here at all."}, {Text: text}}
	}
	asked := reading.Asked{Items: []reading.Item{
		{ID: "c1", Form: reading.Statement, Text: "The port handled 2,134,000 containers and 7 ships.", Windows: window("In 2020 the port of\nRotterdam handled 2 134 000 containers and 7 ships. And Rotterdam is a town.")},
		{ID: "c2", Form: reading.Frame, Text: "The ports:", Windows: []claim.Window{{Text: "Rotterdam"}}},
		{ID: "c3", Form: reading.Statement, Text: "港口很大。", Windows: window("这个港口非常大，处理货物很多。")},
		{ID: "c4", Form: reading.Statement, Text: "It is closed.", Windows: window("Closed.")},
	}}
	good := []string{
		`{"claim":1,"verdict":"supported","passage":2,"words":"port of Rotterdam handled"}`,
		`{"claim":2,"verdict":"supported"}`,
		`{"claim":3,"verdict":"partly","passage":2,"words":"这个港口非常大"}`,
		`{"claim":4,"verdict":"unsupported","passage":null,"words":null,"because":"it is open"}`,
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"as it should be", "", "", ""},
		{"words in quotation marks", `"port of Rotterdam handled"`, `"“port of Rotterdam handled”"`, ""},
		{"a number of the claim", `"port of Rotterdam handled"`, `"2 134 000"`, ""},
		{"a number of one digit", `"port of Rotterdam handled"`, `"7"`, ""},
		{"a whole short window", `"verdict":"unsupported","passage":null,"words":null`, `"verdict":"supported","passage":2,"words":"Closed."`, ""},
		{"words of the page about something else", `"port of Rotterdam handled"`, `"Rotterdam is a town"`, "WORDS_NOT_FOUND"},
		{"words with a link", `"port of Rotterdam handled"`, `"[port](https://port.example) of **Rotterdam** handled"`, ""},
		{"two words", `"port of Rotterdam handled"`, `"Rotterdam handled"`, "WORDS_NOT_FOUND"},
		{"another number", `"port of Rotterdam handled"`, `"2020"`, "WORDS_NOT_FOUND"},
		{"parts of words", `"port of Rotterdam handled"`, `"ort of Rotterdam"`, "WORDS_NOT_FOUND"},
		{"words of another passage", `"passage":2,"words":"port of Rotterdam handled"`, `"passage":1,"words":"port of Rotterdam handled"`, "WORDS_NOT_FOUND"},
		{"a passage that is not there", `"passage":2,"words":"port`, `"passage":3,"words":"port`, "WORDS_NOT_FOUND"},
		{"no passage", `"passage":2,"words":"port of Rotterdam handled"`, `"words":"port of Rotterdam handled"`, "WORDS_NOT_FOUND"},
		{"five characters", "这个港口非常大", "港口非常大", "WORDS_NOT_FOUND"},
		{"twice", `"claim":2`, `"claim":1`, "VERDICT_MISSING VERDICT_MISSING"},
		{"a claim of another part", `"claim":2`, `"claim":9`, "VERDICT_MISSING VERDICT_MISSING"},
		{"another word for it", `"verdict":"partly"`, `"verdict":"true"`, "SCHEMA_VALIDATION_FAILED"},
		{"a long reason", "it is open", strings.Repeat("x", 201), "SCHEMA_VALIDATION_FAILED"},
		{"a link", "it is open", "see https://example.com/x", "SCHEMA_VALIDATION_FAILED"},
		{"the name of a scheme", "it is open", "it is open by `ssh://` alone", ""},
		{"a link in Markdown", "it is open", "see [here](example.com/x)", "SCHEMA_VALIDATION_FAILED"},
		{"an image in Markdown", "it is open", "see ![here](x.png)", "SCHEMA_VALIDATION_FAILED"},
		{"no JSON", `{"claim":1`, `{claim:1`, "INVALID_JSON"},
		{"a key twice", `{"claim":1`, `{"claim":1,"claim":1`, "INVALID_JSON"},
	} {
		answer := strings.Replace(fmt.Sprintf(`{"verdicts":[%s]}`, strings.Join(good, ",")), test.old, test.new, 1)
		_, faults := asked.Judge([]byte(answer))
		var got []string
		for _, f := range faults {
			got = append(got, string(f.Code))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.name, faults, test.want)
		}
	}
	person := reading.Asked{Items: asked.Items, ByID: true}
	said := `{"claim":"c3","verdict":"unclear"},{"claim":"c1","verdict":"supported","passage":2,"words":"port of Rotterdam handled"}`
	if _, faults := person.Judge([]byte(`{"verdicts":[` + said + `]}`)); len(faults) != 2 || faults[0].Code != "VERDICT_MISSING" {
		t.Errorf("a person leaves out what nobody has read: %v", faults)
	}
	j, faults := person.Judge([]byte(`{"verdicts":[` + said + `,{"claim":"c2","verdict":"unclear"},{"claim":"c4","verdict":"unclear"}]}`))
	if len(faults) > 0 || len(j.Given) != 4 || j.Given[0].ID != "c1" || j.Given[2].Verdict != "unclear" || j.Refuses {
		t.Errorf("a person's answer: %v %v", j, faults)
	}
	if _, faults := person.Judge([]byte(`{"verdicts":[{"claim":1,"verdict":"unclear"}]}`)); len(faults) == 0 {
		t.Error("a person names claims by number")
	}
}

// TestWordsAreComparedAsQuotationsAre: white space, marks, dashes, soft hyphens and case make no
// difference, other words do, and what is kept is what the page has.
func TestWordsAreComparedAsQuotationsAre(t *testing.T) {
	const window = "In 2020\tthe port’s  “old”\nquay han\u00addled – once – 14 ships"
	for words, want := range map[string]string{
		"the  port’s “old”\nquay":      "the  port’s “old”\nquay",
		"The port's \"old\" quay":      "the port’s “old” quay",
		"quay handled — once — 14":     "quay han\u00addled – once – 14",
		"14 ships":                     "",
		"— once – –":                   "",
		"the port’s … 14 ships":        "",
		"the port old quay":            "",
		"he port’s “old” quay handled": "",
		"":                             "",
		"–":                            "",
	} {
		item := reading.Item{ID: "c1", Form: reading.Statement, Text: "The old quay of the port handled ships once.", Windows: []claim.Window{{Text: window}}}
		answer := must.Get(json.Marshal(map[string]any{"verdicts": []any{map[string]any{"claim": 1, "verdict": "supported", "passage": 1, "words": words}}}))(t)
		j, faults := reading.Asked{Items: []reading.Item{item}}.Judge(answer)
		if got := len(faults) == 0; got != (want != "") || got && j.Given[0].Words != want {
			t.Errorf("%q: %v %v", words, j.Given, faults)
		}
	}
}

func TestWordsOfAnotherLanguage(t *testing.T) {
	const page = "The result is a risk level that is displayed to the user in the app: low risk (i.e. green) or high risk (red), and nothing else is shown."
	row := reading.Item{ID: "c1", Form: reading.Statement, Text: "Niedriges Risiko: grün", Windows: []claim.Window{{Text: page}}}
	sentence := reading.Item{ID: "c2", Form: reading.Statement, Text: "Das Ergebnis ist eine Stufe, die den Nutzern in der App gezeigt wird.", Windows: []claim.Window{{Text: page}}}
	const answer = `{"verdicts":[{"claim":1,"verdict":"supported","passage":1,"words":"low risk (i.e. green)"},{"claim":2,"verdict":"supported","passage":1,"words":"displayed to the user"}]}`
	if _, faults := (reading.Asked{Items: []reading.Item{row, sentence}}).Judge([]byte(answer)); len(faults) > 0 {
		t.Errorf("a short claim beside a long one of its language: %v", faults)
	}
	row.Text = "Low danger: blue"
	sentence.Text = "The outcome is a number that is written down for them in the program."
	if _, faults := (reading.Asked{Items: []reading.Item{row, sentence}}).Judge([]byte(answer)); len(faults) == 0 {
		t.Error("words of the claims' language that share none with the claim are taken")
	}
}

// TestRefusingCountsWhatStandsByRule: a reader may doubt what the rules doubt.
func TestRefusingCountsWhatStandsByRule(t *testing.T) {
	var c evidence.Claims
	for i, standing := range []claim.Standing{claim.Found, claim.Found, claim.Weak, claim.Weak, claim.Weak} {
		c.Sentences = append(c.Sentences, evidence.Claim{ID: fmt.Sprintf("c%d", i+1), Form: evidence.Cited, Standing: standing, Text: "It grew.", Windows: []claim.Window{{Text: "It grew."}}})
	}
	asked := reading.Asked{Items: reading.Unread(&c)}
	for supported, want := range []bool{true, false, false} {
		read := reader(func(i reading.Item) bool { return i.ID <= fmt.Sprintf("c%d", supported) })
		if j, faults := asked.Judge(read.answer(asked)); len(faults) > 0 || j.Refuses != want {
			t.Errorf("%d of 2 are supported: refuses %v, %v", supported, j.Refuses, faults)
		}
	}
}

func TestUnfitReaders(t *testing.T) {
	for _, test := range []struct {
		asked, missed int
		want          bool
	}{{1, 1, false}, {10, 1, false}, {10, 2, true}, {15, 2, true}, {16, 2, false}, {2, 2, true}, {30, 4, true}, {32, 4, false}} {
		tested := make([]reading.Tested, test.asked)
		for i := range test.missed {
			tested[i].Missed = true
		}
		if got := reading.Unfit(tested); got != test.want {
			t.Errorf("%d of %d: unfit %v", test.missed, test.asked, got)
		}
	}
}
