package reading_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
)

// aboutCode are questions about findings, whose code is the same.
func aboutCode(seed string, texts ...string) *reading.Questions {
	code := []claim.Window{{Title: "==== a.go, around line 3", Digest: "d1", Text: "     3 +| \tf, err := os.Open(name)\n     4  | \tdefer f.Close()\n"}}
	c := &evidence.Claims{}
	for i, text := range texts {
		c.Sentences = append(c.Sentences, reading.FindingClaim(fmt.Sprintf("f%d", i+1), "a.go:3", text, code))
	}
	q := &reading.Questions{Claims: c, Seed: reading.PinnedSeed(1, seed), Further: func(string) []claim.Window { return nil },
		Material: reading.Material{Language: "en", Text: func(string) string { return "" }}}
	q.SetParts()
	return q
}

// TestContraries: of a sentence about code the main verb is negated, or its negation taken
// out, and it is cut where it goes on to something else. None is denied twice.
func TestContraries(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"The file that `open` gives is opened.":                                    "",
		"The file is never closed.":                                                "The file is always closed.",
		"When `cfg` is nil, `Parse` dereferences it at line 42 and panics.":        "When `cfg` is nil, `Parse` does not dereference it at line 42.",
		"The pointer can be nil here.":                                             "The pointer cannot be nil here.",
		"It may be nil.":                                                           "It can never be nil.",
		"The counter overflows when n is large.":                                   "The counter does not overflow when n is large.",
		"The counter does not overflow.":                                           "The counter overflows.",
		"The map is written without the lock.":                                     "The map is written with the lock.",
		"There is no check for nil in `over`.":                                     "There is some check for nil in `over`.",
		"Returns nil instead of the error.":                                        "Does not return nil instead of the error.",
		"The error from `is not` is ignored because the result is discarded.":      "The error from `is not` is not ignored.",
		"Not every caller is checked.":                                             "",
		"Every caller is checked.":                                                 "",
		"The parser should reject what has no name.":                               "",
		"The lock is not released, never.":                                         "The lock is released.",
		"The lock is not released without an error.":                               "",
		"This change inverts the condition, so that every request is turned away.": "This change does not invert the condition.",
		"Two calls race.":                                                          "",
	} {
		var twin string
		d := aboutCode("x", sentence).Look(1)
		for _, part := range d.Parts {
			for _, item := range part.Items {
				if item.Twin {
					twin = item.Text
				}
			}
		}
		if twin != want {
			t.Errorf("%s\n\tgot  %q\n\twant %q", sentence, twin, want)
		}
	}
}

// TestFindingsAndTheirContraries: a finding is asked whole, and its sentences beside it, with
// their contraries in another part, so that nothing of a part tells which is which.
func TestFindingsAndTheirContraries(t *testing.T) {
	t.Parallel()
	const text = "The file is never closed. The loop runs once more than the list is long."
	d := aboutCode("x", text, "The index overflows. Then it is used again. `load` returns before that.", "No verb here").Look(1)
	all := map[string]int{}
	for number, part := range d.Parts {
		prompt := part.Prompt()
		if strings.Count(prompt, "os.Open") != 1 || strings.Contains(prompt, "passage 1") || !strings.Contains(prompt, "`unsupported` need `words`") {
			t.Errorf("%s", prompt)
		}
		for _, item := range part.Items {
			all[item.Text] = number
		}
	}
	var texts []string
	for each := range all {
		texts = append(texts, each)
	}
	slices.Sort(texts)
	want := []string{
		"No verb here", "The file is always closed.", "The file is never closed.", text, "The index does not overflow.", "The index overflows.",
		"The index overflows. Then it is used again. `load` returns before that.", "The loop does not run once more than the list is long.", "The loop runs once more than the list is long.",
		"`load` does not return before that.", "`load` returns before that.",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("%q", texts)
	}
	if all["The file is always closed."] == all["The file is never closed."] || all["The file is always closed."] == all[text] {
		t.Errorf("a part shows both: %v", all)
	}
}

// TestReadersOfFindings: who says the same of a finding and of its contrary has missed the
// pair, whatever it is that he says; who decides nothing, has no say; words of the code show
// by what one decides.
func TestReadersOfFindings(t *testing.T) {
	t.Parallel()
	findings := []string{"The file is never closed. The index overflows.", "The loop runs once more than the list is long.", "The name is checked before that."}
	so := func(text string) bool {
		return strings.Contains(text, "checked") != (strings.Contains(text, "not") || strings.Contains(text, "always"))
	}
	for name, tt := range map[string]struct {
		says  func(text string) string
		unfit bool
		want  string
	}{
		"honest":    {func(text string) string { return map[bool]string{true: "supported", false: "unsupported"}[so(text)] }, false, "unsupported unsupported supported"},
		"credulous": {func(string) string { return "supported" }, true, ""},
		"refuter":   {func(string) string { return "unsupported" }, true, ""},
		"undecided": {func(text string) string {
			if slices.Contains(findings, text) {
				return "unsupported"
			}
			return "unclear"
		}, false, "unclear unclear unclear"},
		"wrong once": {func(text string) string {
			return map[bool]string{true: "supported", false: "unsupported"}[so(text) || strings.HasPrefix(text, "The loop ")]
		}, false, "unsupported unclear supported"},
	} {
		d := aboutCode(name, findings...).Look(1)
		heard := map[int]reading.Heard{}
		for number, part := range d.Parts {
			var list []string
			for i, item := range part.Items {
				list = append(list, fmt.Sprintf(`{"claim":%d,"verdict":%q,"words":"defer f.Close()"}`, i+1, tt.says(item.Text)))
			}
			j, faults := part.Judge([]byte(`{"verdicts":[` + strings.Join(list, ",") + `]}`))
			if len(faults) > 0 {
				t.Fatalf("%+v", faults)
			}
			heard[number] = reading.Heard{Judged: j, Reader: "r"}
		}
		s := d.Settle(heard, nil, func(string) []reading.Tested { return nil })
		if got := len(s.Unfit) > 0; got != tt.unfit || got != (len(s.Refused) > 0) {
			t.Errorf("%s: %+v", name, s)
		}
		if tt.unfit {
			continue
		}
		all, said := map[int][]reading.Heard{}, map[string]string{}
		for number, h := range heard {
			h.Tested = s.Tested[number]
			all[number] = []reading.Heard{h}
		}
		for number := range heard {
			for _, g := range d.Counted(number, all).Given {
				said[g.ID] = g.Verdict
			}
		}
		if got := strings.TrimSpace(said["f1"] + " " + said["f2"] + " " + said["f3"]); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if !reading.Unfit([]reading.Tested{{Missed: true, Either: true}}) || reading.Unfit([]reading.Tested{{Missed: true, Either: true}, {Either: true}}) {
		t.Error("one pair missed of one, or of two")
	}
}

// TestWordsOfTheCode: a verdict on a finding needs a piece of its code, without the numbers and
// marks that are shown before its lines.
func TestWordsOfTheCode(t *testing.T) {
	t.Parallel()
	asked := reading.Asked{Items: reading.Unread(aboutCode("x", "The file is never closed.").Claims)}
	for words, ok := range map[string]bool{
		"f, err := os.Open(name)": true, "os.Open(": true, "f, err := os.Open(name)\n\tdefer f.Close()": true, "     4  | \tdefer f.Close()": true,
		"`defer f.Close()`": true, "f": false, "": false, "defer g.Close()": false, "3 +|": false,
	} {
		for _, verdict := range []string{"supported", "unsupported", "unclear"} {
			_, faults := asked.Judge(codecJSON(verdict, words))
			if got := len(faults) == 0; got != (ok || verdict == "unclear") {
				t.Errorf("%s %q: %+v", verdict, words, faults)
			}
		}
	}
}

func codecJSON(verdict, words string) []byte {
	data, _ := codec.MarshalLine(map[string]any{"verdicts": []map[string]any{{"claim": 1, "verdict": verdict, "words": words, "because": "m[k](x) does it"}}})
	return data
}

// TestWordsOfCodeBeside: what decides a finding may stand in the code of another that is shown
// with it.
func TestWordsOfCodeBeside(t *testing.T) {
	t.Parallel()
	c := &evidence.Claims{Sentences: []evidence.Claim{
		reading.FindingClaim("f1", "a.go:3", "The file is never closed.", []claim.Window{{Digest: "d1", Text: "     3 +| \tf, err := os.Open(name)\n"}}),
		reading.FindingClaim("f2", "b.go:4", "The file is closed twice.", []claim.Window{{Digest: "d2", Text: "     4  | \tdefer f.Close()\n"}})}}
	asked := reading.Asked{Items: reading.Unread(c)}
	judged, faults := asked.Judge([]byte(`{"verdicts":[{"claim":1,"verdict":"unsupported","words":"defer f.Close()"},{"claim":2,"verdict":"unsupported","words":"defer f.Close()"}]}`))
	if len(faults) > 0 || judged.Given[0].Passage != 0 || judged.Given[1].Passage != 1 {
		t.Errorf("%+v, %+v", judged, faults)
	}
}
