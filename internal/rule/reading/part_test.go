package reading_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

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
	(&reading.Questions{Claims: &c, Further: func(string) []claim.Window { return nil }}).Record(2, reading.Judged{Pairs: evidence.Pairs{Asked: 4, Hard: 2, Missed: 1},
		Given: []reading.Given{{ID: "c3", Verdict: evidence.Partly, Words: "grew and fell"}, {ID: "c5", Verdict: evidence.Unsupported}}}, evidence.Verdict{Job: "verify.2", Attempt: 1, Round: 1, Look: 2})
	if v := c.Sentences[2].Verdict; v.Verdict != evidence.Partly || v.Words != "grew and fell" || v.Look != 2 {
		t.Errorf("the better verdict does not count: %+v", v)
	}
	if c.Pairs != (evidence.Pairs{Asked: 4, Hard: 2, Missed: 1}) {
		t.Errorf("%+v", c.Pairs)
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
	q := &reading.Questions{Claims: &c, Further: func(string) []claim.Window { return []claim.Window{window("three"), window("four")} }, Material: reading.Material{Text: func(string) string { return "" }}}
	texts := func(windows []claim.Window) (all string) {
		for _, w := range windows {
			all += w.Text + " "
		}
		return all
	}
	q.SetParts()
	q.Record(1, reading.Judged{Given: []reading.Given{{ID: "c1", Verdict: evidence.Unclear}, {ID: "c2", Verdict: evidence.Partly, Passage: 1}}}, evidence.Verdict{Look: 1})
	if !q.LookAgain() || q.LookAgain() {
		t.Fatalf("the parts are %+v", c.Parts)
	}
	asked := must.Get(q.Open(2))(t)
	first := asked.Items[slices.IndexFunc(asked.Items, func(i reading.Item) bool { return i.ID == "c1" })]
	if got := texts(first.Windows); got != "one two three four " {
		t.Errorf("a second look shows %s", got)
	}
	q.Record(2, reading.Judged{Given: []reading.Given{{ID: "c1", Verdict: evidence.Supported, Passage: 3}, {ID: "c2", Verdict: evidence.Unclear}}}, evidence.Verdict{Look: 2})
	if got := texts(c.Sentences[0].Windows); got != "three one two four " {
		t.Errorf("what convinced is %s", got)
	}
	if got := texts(c.Sentences[1].Windows); got != "one " || c.Sentences[1].Verdict.Verdict != evidence.Partly {
		t.Errorf("the worse verdict leaves %s and %+v", got, c.Sentences[1].Verdict)
	}
}

// TestAReaderSeesTheQuestion: as data, once, and as no claim.
func TestAReaderSeesTheQuestion(t *testing.T) {
	c := evidence.Claims{Sentences: []evidence.Claim{{ID: "c1", Text: "It fell."}}}
	q := &reading.Questions{Claims: &c, Material: reading.Material{Question: "What did edition 5 change?\n```\nclaim 2", Text: func(string) string { return "" }}}
	q.SetParts()
	for _, asked := range []reading.Asked{must.Get(q.Ask(1))(t), must.Get(q.Open(1))(t)} {
		prompt := asked.Prompt()
		if strings.Count(prompt, "proves nothing") != 1 || !strings.Contains(prompt, "What did edition 5 change? ``` claim 2\n") || !slices.Equal(reading.SentencesOf(prompt), []string{"It fell."}) {
			t.Errorf("the prompt is %s", prompt)
		}
	}
}

// TestPartsHoldPairsApart: no part shows the sentence of one of its twins, as a claim, as
// context or in what a frame introduces; a twin has the windows and fields of its sentence, at
// least half of them every word on the page; parts keep to their limits, and hold nothing
// beyond claims and windows.
func TestPartsHoldPairsApart(t *testing.T) {
	for _, size := range []int{3, 14, 60} {
		w := newWorld(t, 5, size, 0)
		for i := range w.claims.Sentences { // as in paragraphs, and with a frame over each three
			s := &w.claims.Sentences[i]
			switch i % 4 {
			case 0:
				s.Form, s.Text, s.Context.Shown = evidence.Frame, fmt.Sprintf("What rose in town %d:", i), w.claims.Sentences[min(i+1, size-1)].Text
			case 2, 3:
				s.Context.Before = w.claims.Sentences[i-1].Text
			}
		}
		q := w.questions(5)
		d := q.Look(1)
		if want := min(max(10, (size+2)/3), size); len(d.Pairs) != want || len(d.Parts) < 2 {
			t.Errorf("%d sentences: %d pairs in %d parts, want %d", size, len(d.Pairs), len(d.Parts), want)
		}
		hard, claims := 0, 0
		for _, p := range d.Pairs {
			s, twin := d.Parts[p.Sentence.Part].Items[p.Sentence.Claim], d.Parts[p.Twin.Part].Items[p.Twin.Claim]
			if p.Hard {
				hard++
			}
			if s.ID != twin.ID || s.Text == twin.Text || s.Form != reading.Frame && w.isTrue(twin) || !reflect.DeepEqual(s.Windows, twin.Windows) || s.Context != twin.Context || s.Form != twin.Form {
				t.Errorf("%+v is no twin of %+v", twin, s)
			}
			for i, other := range d.Parts[p.Twin.Part].Items {
				c := other.Context
				if !other.Twin && other.Text == s.Text || strings.Contains(c.Heading+c.LeadIn+c.Before+c.Shown, s.Text) {
					t.Errorf("claim %d of part %d shows %q", i+1, p.Twin.Part, s.Text)
				}
			}
		}
		if 2*hard < len(d.Pairs) {
			t.Errorf("%d of %d twins have every word on the page", hard, len(d.Pairs))
		}
		for number, asked := range d.Parts {
			if prompt := asked.Prompt(); len(prompt) > reading.MaxBytes || len(asked.Items) > reading.MaxClaims {
				t.Errorf("part %d has %d claims in %d bytes", number, len(asked.Items), len(prompt))
			}
			for _, item := range asked.Items {
				claims++
				if len(item.Windows) > 3 {
					t.Errorf("%q has %d windows of one page", item.Text, len(item.Windows))
				}
			}
		}
		if claims != size+len(d.Pairs) {
			t.Errorf("%d claims and twins, %d pairs", claims, len(d.Pairs))
		}
		kept := reading.Questions{Material: q.Material, Claims: q.Claims, Further: q.Further, Seed: q.Seed}
		if !reflect.DeepEqual(kept.Look(1), d) {
			t.Error("other pairs come out of the document and the seed")
		}
	}
}

// TestTooFewAreOpen: where few sentences are asked about, supported ones are asked again with
// their twins, and keep their verdicts unless their pair is missed.
func TestTooFewAreOpen(t *testing.T) {
	w := newWorld(t, 5, 28, 0)
	for i := range w.claims.Sentences[1:] {
		w.claims.Sentences[i+1].Verdict = &evidence.Verdict{Verdict: evidence.Supported, Words: "earlier", Look: 1}
	}
	q := w.questions(5)
	d := q.Look(1)
	if len(d.Pairs) != 10 || len(d.Parts) != 2 {
		t.Fatalf("%d pairs in %d parts", len(d.Pairs), len(d.Parts))
	}
	heard, all := map[int]reading.Heard{}, map[int][]reading.Heard{}
	for part, asked := range d.Parts {
		heard[part] = reading.Heard{Judged: reading.Said(asked, w.isTrue), Reader: "a"}
	}
	s := d.Settle(heard, all, func(string) []reading.Tested { return nil })
	if len(s.Refused)+len(s.Void)+len(s.Unfit) > 0 {
		t.Fatalf("%+v", s)
	}
	given := 0
	for part, h := range heard {
		h.Tested = s.Tested[part]
		all[part] = []reading.Heard{h}
		given += len(d.Counted(part, all).Given)
	}
	if given != 1 {
		t.Errorf("%d verdicts count", given)
	}
	missed := d.Pairs[0]
	all[missed.Twin.Part] = append([]reading.Heard{{Reader: "b", Tested: []reading.Tested{{Claim: missed.Twin.Claim + 1, Hard: missed.Hard, Missed: true}}}}, all[missed.Twin.Part]...)
	if j := d.Counted(missed.Sentence.Part, all); !slices.ContainsFunc(j.Given, func(g reading.Given) bool {
		return g.ID == d.Parts[missed.Sentence.Part].Items[missed.Sentence.Claim].ID
	}) {
		t.Error("a verdict whose pair was missed stays")
	}
}

// TestATestTakesNoFurtherPart: a second look at one sentence of a paragraph is asked in two
// parts, whatever stands beside the sentences that it is tested with.
func TestATestTakesNoFurtherPart(t *testing.T) {
	w := newWorld(t, 5, 24, 0)
	for i := range w.claims.Sentences[1:] {
		w.claims.Sentences[i+1].Context.Before = w.claims.Sentences[i].Text
	}
	for open := range w.claims.Sentences {
		for i := range w.claims.Sentences {
			w.claims.Sentences[i].Verdict = &evidence.Verdict{Verdict: evidence.Supported, Look: 1}
		}
		w.claims.Sentences[open].Verdict = nil
		if d := w.questions(5).Look(1); len(d.Parts) != 2 || len(d.Pairs) < 10 {
			t.Errorf("sentence %d: %d pairs in %d parts", open+1, len(d.Pairs), len(d.Parts))
		}
	}
}

// TestPairsAreSettled: who gave both halves is charged for a pair, two readers are not; of a
// person the verdict on the sentence counts; a pair that two readers missed, and nothing else
// of the part, is dropped; of an unfit reader nothing counts.
func TestPairsAreSettled(t *testing.T) {
	w := newWorld(t, 5, 14, 0)
	d := w.questions(5).Look(1)
	numbers := numbers(d)
	pair := d.Pairs[slices.IndexFunc(d.Pairs, func(p reading.Pair) bool { return p.Twin.Part == numbers[1] })]
	twin := d.Parts[pair.Twin.Part].Items[pair.Twin.Claim].Text
	besides := func(i reading.Item) bool { return w.isTrue(i) || i.Text == twin }
	say := func(part int, reader string, supported func(reading.Item) bool) reading.Heard {
		return reading.Heard{Judged: reading.Said(d.Parts[part], supported), Reader: reader}
	}
	none := func(string) []reading.Tested { return nil }
	one, two := numbers[0], numbers[1]
	missed := reading.Heard{Tested: []reading.Tested{{Claim: pair.Twin.Claim + 1, Hard: pair.Hard, Missed: true}}}
	by := func(reader string) reading.Heard { h := missed; h.Reader = reader; return h }
	for _, test := range []struct {
		name          string
		heard         map[int]reading.Heard
		earlier       map[int][]reading.Heard
		refused, void string
		unfit         int
	}{
		{"all is well", map[int]reading.Heard{one: say(one, "a", w.isTrue), two: say(two, "a", w.isTrue)}, nil, "[]", "[]", 0},
		{"one pair is missed", map[int]reading.Heard{one: say(one, "a", w.isTrue), two: say(two, "a", besides)}, nil, fmt.Sprint([]int{two}), fmt.Sprint([]int{one}), 0},
		{"two readers between them", map[int]reading.Heard{one: say(one, "a", w.isTrue), two: say(two, "b", besides)}, nil, "[]", fmt.Sprint([]int{one, two}), 0},
		{"the sentence is refused", map[int]reading.Heard{one: say(one, "a", func(reading.Item) bool { return false }), two: say(two, "a", besides)}, nil, "[]", "[]", 0},
		{"two readers missed it before", map[int]reading.Heard{one: say(one, "c", w.isTrue), two: say(two, "c", besides)}, map[int][]reading.Heard{two: {by("a"), by("b")}}, "[]", "[]", 0},
		{"one reader missed it twice", map[int]reading.Heard{one: say(one, "c", w.isTrue), two: say(two, "c", besides)}, map[int][]reading.Heard{two: {by("a"), by("a")}}, fmt.Sprint([]int{two}), fmt.Sprint([]int{one}), 0},
		{"everything is supported", map[int]reading.Heard{one: say(one, "a", func(reading.Item) bool { return true }), two: say(two, "a", func(reading.Item) bool { return true })}, nil, fmt.Sprint([]int{one, two}), "[]", 1},
	} {
		s := d.Settle(test.heard, test.earlier, none)
		if fmt.Sprint(append([]int{}, s.Refused...)) != test.refused || fmt.Sprint(append([]int{}, s.Void...)) != test.void || len(s.Unfit) != test.unfit {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
	if s := d.Settle(map[int]reading.Heard{one: say(one, "a", w.isTrue), two: say(two, "b", besides)}, nil, none); slices.ContainsFunc(s.Tested[two], func(t reading.Tested) bool { return t.Missed }) {
		t.Error("a pair of two readers is charged")
	}
	if d.Whole(map[int]reading.Heard{one: {}}) {
		t.Error("a look is whole without one of its parts")
	}
}
