package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

func items(n, windows, size int) []reading.Item {
	var all []reading.Item
	for i := range n {
		item := reading.Item{ID: fmt.Sprintf("c%d", i+1), Form: reading.Statement, Text: "It grew."}
		for range windows {
			item.Windows = append(item.Windows, claim.Window{Text: strings.Repeat("x", size)})
		}
		all = append(all, item)
	}
	return all
}

func TestPartsAreEqualAndKeepToTheirLimits(t *testing.T) {
	for _, windows := range []int{1, 3, 8} {
		for n := 0; n < 130; n += 1 + n/6*full.Stride(3, 1) {
			all := items(n, windows, 700)
			parts := reading.Divide(all, 4)
			at, least, most := 0, n, 0
			for k, p := range parts {
				if p.Number != k+4 {
					t.Errorf("part %d has the number %d", k, p.Number)
				}
				for _, item := range p.Items {
					if item.ID != all[at].ID {
						t.Fatalf("%s stands in the place of %s", item.ID, all[at].ID)
					}
					at++
				}
				least, most = min(least, len(p.Items)), max(most, len(p.Items))
				controls := max(3, (len(p.Items)+5)/6)
				asked := reading.Asked{Items: append(p.Items[:len(p.Items):len(p.Items)], items(controls, windows, 700)...)}
				if len(asked.Items) > reading.MaxClaims || len(asked.Prompt()) > reading.MaxBytes {
					t.Errorf("%d claims with %d windows: a part has %d claims and %d bytes", n, windows, len(asked.Items), len(asked.Prompt()))
				}
			}
			if at != n || most-least > 1 && n > 0 {
				t.Errorf("%d claims: %d in parts of %d to %d", n, at, least, most)
			}
		}
	}
}

func TestWhatIsAsked(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte("## Evidence\n\n### Ports\n\nIt grew. It fell [@s1]. It may rise [inferred from @s1]. It is twice as large [@s1] [calculated: 4 / 2 = 2].\n\n## Caveats\n\nOthers matter [inferred from @s1].\n")),
		evidence.Facts{Template: evidence.Briefing, Language: "en", Sources: []evidence.Source{{CID: "s1"}}})
	held := must.Get(r.Hold(t.Context(), "en", func(cid string) (*claim.Page, error) {
		return &claim.Page{CID: cid, Text: "It grew and fell. There are 4 ports. Others matter.\nYear: 1999\tPorts: 7", Title: "Ports of the world", Language: "en"}, nil
	}, claim.Titles{}))(t)
	c := evidence.Assemble(r, "", nil, held, nil)
	unread := reading.Unread(&c)
	var got []string
	for _, item := range unread {
		got = append(got, item.ID+" "+string(item.Form))
	}
	if want := "c1 frame, c2 statement, c3 statement, c4 inference, c5 statement, c6 judgement"; strings.Join(got, ", ") != want {
		t.Errorf("%s", got)
	}
	prompt := reading.Asked{Items: unread}.Prompt()
	for _, part := range []string{
		"\nclaim 1\nform frame\ncontext\n```\nheading: Evidence\n```\nsentence\n```\nPorts\n```\npassage 1\n```\nIt grew.\nIt fell.\nIt may rise.\n```\n",
		"\nclaim 3\nform statement\ncontext\n```\nheading: Ports\nsentence before: It grew.\npage of passage 1: Ports of the world\n```\nsentence\n```\nIt fell.\n```\npassage 1\n```\n",
		"```\nCalculated: 4 / 2 = 2\n```\n", "\nYear: 1999  Ports: 7\n",
	} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, prompt)
		}
	}
	for i := range c.Sentences {
		c.Sentences[i].Verdict = &evidence.Verdict{Verdict: []string{evidence.Partly, evidence.Supported, evidence.Unsupported, evidence.Unclear, evidence.Partly, evidence.Partly}[i], Look: 1 + i/4}
	}
	if left := reading.Unread(&c); len(left) > 0 {
		t.Errorf("what has a verdict is asked again: %v", left)
	}
	got = nil
	for _, item := range reading.SecondLook(&c, func(id string) []claim.Window {
		if id == "c4" {
			return nil
		}
		return []claim.Window{{Text: "another"}}
	}) {
		got = append(got, item.ID)
	}
	if strings.Join(got, " ") != "c3" { // c1 is a frame, c2 supported, c4 has no further windows, c5 and c6 had their look
		t.Errorf("a second look at %s", got)
	}
	(&reading.Questions{Claims: &c, Further: func(string) []claim.Window { return nil }}).Record(reading.Judged{Controls: evidence.Controls{Planted: 4, Hard: 2, Caught: 4},
		Given: []reading.Given{{ID: "c3", Verdict: evidence.Partly, Words: "grew and fell"}, {ID: "c5", Verdict: evidence.Unsupported}}}, evidence.Verdict{Job: "verify.2", Attempt: 1, Round: 1, Look: 2})
	if v := c.Sentences[2].Verdict; v.Verdict != evidence.Partly || v.Words != "grew and fell" || v.Look != 2 {
		t.Errorf("the better verdict does not count: %+v", v)
	}
	if c.Controls != (evidence.Controls{Planted: 4, Hard: 2, Caught: 4}) {
		t.Errorf("%+v", c.Controls)
	}
	if v := c.Sentences[4].Verdict; v.Verdict != evidence.Partly {
		t.Errorf("a worse verdict counts: %+v", v)
	}
}

// TestAnAbsenceIsAskedOtherwise: a reader says whether a passage gives what is said to be on
// no page, and copies no words.
func TestAnAbsenceIsAskedOtherwise(t *testing.T) {
	c := evidence.Claims{Sentences: []evidence.Claim{{ID: "c1", Form: evidence.Absent, Text: "None of the 9 archived pages has a sentence with: liability.", Windows: []claim.Window{{CID: "s1", Text: "It grew."}}}}}
	asked := reading.Asked{Items: reading.Unread(&c)}
	if prompt := asked.Prompt(); !strings.Contains(prompt, "form absence\n") || !strings.Contains(prompt, "none of its passages gives that") {
		t.Errorf("%s", prompt)
	}
	for _, verdict := range []string{evidence.Supported, evidence.Unsupported} {
		if judged, faults := asked.Judge([]byte(`{"verdicts":[{"claim":1,"verdict":"` + verdict + `"}]}`)); len(faults) > 0 || judged.Given[0].Verdict != verdict {
			t.Errorf("%s: %+v, %v", verdict, judged, faults)
		}
	}
}

// TestASecondLookAdds: it shows what was shown before and more behind it; the better verdict
// keeps the windows that it was given for, the one with the words first.
func TestASecondLookAdds(t *testing.T) {
	window := func(text string) claim.Window { return claim.Window{CID: "s1", Text: text} }
	c := evidence.Claims{Sentences: []evidence.Claim{{ID: "c1", Text: "It fell.", Windows: []claim.Window{window("one"), window("two")}}, {ID: "c2", Text: "It rose.", Windows: []claim.Window{window("one")}}}}
	q := &reading.Questions{Claims: &c, Further: func(string) []claim.Window { return []claim.Window{window("three"), window("four")} }}
	texts := func(windows []claim.Window) (all string) {
		for _, w := range windows {
			all += w.Text + " "
		}
		return all
	}
	reading.SetParts(&c)
	q.Record(reading.Judged{Given: []reading.Given{{ID: "c1", Verdict: evidence.Unclear}, {ID: "c2", Verdict: evidence.Partly, Passage: 1}}}, evidence.Verdict{Look: 1})
	if !q.LookAgain() || q.LookAgain() {
		t.Fatalf("the parts are %+v", c.Parts)
	}
	asked := must.Get(q.Open(2))(t)
	if got := texts(asked.Items[0].Windows); got != "one two three four " {
		t.Errorf("a second look shows %s", got)
	}
	q.Record(reading.Judged{Given: []reading.Given{{ID: "c1", Verdict: evidence.Supported, Passage: 3}, {ID: "c2", Verdict: evidence.Unclear}}}, evidence.Verdict{Look: 2})
	if got := texts(c.Sentences[0].Windows); got != "three one two four " {
		t.Errorf("what convinced is %s", got)
	}
	if got := texts(c.Sentences[1].Windows); got != "one " || c.Sentences[1].Verdict.Verdict != evidence.Partly {
		t.Errorf("the worse verdict leaves %s and %+v", got, c.Sentences[1].Verdict)
	}
}

// TestAPartHoldsNothingBeyondItsWindows looks for every sentence of every page in what
// readers are asked: what stands there stands in a claim or its windows.
func TestAPartHoldsNothingBeyondItsWindows(t *testing.T) {
	w := newWorld(t, 5, 60)
	for _, p := range reading.Divide(reading.Unread(&w.claims), 1) {
		asked := plant(t, p, 5, w.material())
		prompt := asked.Prompt()
		if len(prompt) > reading.MaxBytes || len(asked.Items) > reading.MaxClaims {
			t.Errorf("part %d has %d claims in %d bytes", p.Number, len(asked.Items), len(prompt))
		}
		var shown strings.Builder
		for _, item := range asked.Items {
			shown.WriteString(item.Text + "\n" + item.Context.Before + "\n")
			for _, window := range item.Windows {
				shown.WriteString(window.Text + "\n")
			}
			if len(item.Windows) > 3 {
				t.Errorf("%q has %d windows of one page", item.Text, len(item.Windows))
			}
		}
		absent := 0
		for _, text := range w.pages {
			for sentence := range strings.SplitAfterSeq(text, ". ") {
				sentence = strings.TrimSpace(sentence)
				if !strings.Contains(prompt, sentence) {
					absent++
				} else if !strings.Contains(shown.String(), sentence) {
					t.Errorf("part %d has %q", p.Number, sentence)
				}
			}
		}
		if absent == 0 {
			t.Error("the part holds all pages: the test says nothing")
		}
	}
}
