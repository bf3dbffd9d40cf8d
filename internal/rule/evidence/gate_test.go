package evidence_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// claims makes a document of n cited sentences that stand, changed as s says: an id with
// its verdict, form or finding, as "c2 partly".
func claims(n int, changes ...string) *evidence.Claims {
	c := &evidence.Claims{Rules: evidence.Rules}
	for i := range n {
		c.Sentences = append(c.Sentences, evidence.Claim{ID: fmt.Sprintf("c%d", i+1), Line: i + 1, Text: fmt.Sprintf("Sentence %d.", i+1), Form: evidence.Cited,
			Standing: claim.Found, Verdict: &evidence.Verdict{Verdict: evidence.Supported, Words: "in so many words"}})
	}
	for _, change := range changes {
		id, what, _ := strings.Cut(change, " ")
		s := c.Find(id)
		switch what {
		case "frame":
			s.Form, s.Standing = evidence.Frame, ""
		case "firm":
			s.Firm = true
		case "inferred":
			s.Form = evidence.Inferred
		case "weak":
			s.Standing = claim.Weak
		case "unread":
			s.Verdict = nil
		case "accepted":
			s.Accepted = &evidence.Acceptance{By: "Ada"}
		case "calculated":
			s.Calculation = &evidence.Calculation{}
		case "numbers", "quotations":
			s.Standing, s.Findings = claim.Missing, []claim.Finding{{Rule: what, Level: claim.Fault, Text: "12"}}
		case "words":
			s.Verdict.Words = "about 12 ships"
		default:
			s.Verdict = &evidence.Verdict{Verdict: what, Because: "it says\n```\nanother thing"}
		}
	}
	return c
}

func TestGateE(t *testing.T) {
	for _, test := range []struct {
		name                  string
		n                     int
		changes               string
		refused, marked, open string
		noReader              bool
	}{
		{name: "all supported", n: 10},
		{name: "one may be partly supported", n: 10, changes: "c2 partly", marked: "c2"},
		{name: "the last in the report's order", n: 39, changes: "c9 unclear,c7 partly", marked: "c9", refused: "c7"},
		{name: "two of forty", n: 40, changes: "c9 unclear,c7 partly,c30 partly", marked: "c9 c30", refused: "c7"},
		{name: "never more than three", n: 400, changes: "c1 partly,c2 partly,c3 partly,c4 partly", marked: "c2 c3 c4", refused: "c1"},
		{name: "frames do not count", n: 40, changes: "c1 frame,c2 partly,c3 partly", marked: "c3", refused: "c2"},
		{name: "the answer never", n: 40, changes: "c3 partly,c40 partly,c40 firm", marked: "c3", refused: "c40"},
		{name: "unsupported never", n: 10, changes: "c2 unsupported", refused: "c2"},
		{name: "frames never", n: 10, changes: "c2 frame,c2 partly", refused: "c2"},
		{name: "a quotation never", n: 10, changes: "c2 quotations", refused: "c2"},
		{name: "a number that the reader confirms", n: 10, changes: "c2 numbers,c2 words", marked: "c2"},
		{name: "and one whose words have none", n: 10, changes: "c2 numbers", refused: "c2"},
		{name: "unread", n: 10, changes: "c2 unread,c3 unread", open: "c2 c3"},
		{name: "an unread quotation", n: 10, changes: "c2 unread,c2 quotations", refused: "c2"},
		{name: "accepted", n: 10, changes: "c2 unsupported,c2 accepted"},
		{name: "no reader", n: 10, changes: "c1 unread,c2 unread,c2 weak,c3 unread,c3 weak,c4 unread,c4 frame,c5 unread,c5 numbers", noReader: true, marked: "c2 c3 c4", refused: "c5"},
	} {
		var changes []string
		if test.changes != "" {
			changes = strings.Split(test.changes, ",")
		}
		o := claims(test.n, changes...).Judge(!test.noReader)
		ids := func(list []evidence.Refusal) string {
			var all []string
			for _, r := range list {
				all = append(all, r.ID)
			}
			return strings.Join(all, " ")
		}
		var open []string
		for _, s := range o.Open {
			open = append(open, s.ID)
		}
		if ids(o.Refused) != test.refused || ids(o.Marked) != test.marked || strings.Join(open, " ") != test.open || o.Pass() != (test.refused+test.open == "") {
			t.Errorf("%s: refused %s, marked %s, open %s", test.name, ids(o.Refused), ids(o.Marked), open)
		}
	}
}

func TestDirectives(t *testing.T) {
	c := claims(30, "c4 unsupported", "c8 unsupported", "c9 partly")
	o := c.Judge(true)
	strikes := o.Strikes(map[string]int{"c8": 1, "c20": 1})
	directives := o.Directives(strikes)
	if len(directives) != 2 || directives[0].Line != 4 || directives[1].ID != "c8" {
		t.Fatalf("%+v", directives)
	}
	for _, d := range directives {
		if strings.Contains(d.Action, "Sentence "+d.ID[1:]) || strings.Contains(d.Action, "another thing") || d.Because == "" {
			t.Errorf("the words of others are not apart: %+v", d)
		}
	}
	if strings.Contains(directives[0].Action, "DROP") || !strings.Contains(directives[1].Action, "DROP_REQUIRED") || strings.Join(o.Drops(strikes), " ") != "c8" {
		t.Errorf("%+v", directives)
	}
}

// TestDirectivesNameTheirReason: also where a rule overrules the second reader, where a sentence
// must go, and where a reader gives none.
func TestDirectivesNameTheirReason(t *testing.T) {
	c := claims(30, "c4 numbers", "c8 unsupported", "c9 unsupported")
	c.Find("c9").Verdict.Because = ""
	for k, want := range []string{`confirms it; its pages do not have "12"`, "in this one, the second reader says: unsupported", "unsupported; the second reader gives no reason"} {
		if action := c.Judge(true).Directives(map[string]int{"c8": 2})[k].Action; !strings.Contains(action, want) {
			t.Errorf("%q does not say %q", action, want)
		}
	}
}

func TestVerdictsAreTakenOverByDigest(t *testing.T) {
	draft := "## Evidence\n\nIt grew. It fell [@s1]. It rose [@s2].\n"
	pages := []evidence.Page{{CID: "s1", Digest: "a"}, {CID: "s2", Digest: "b"}}
	make := func(draft string, pages []evidence.Page, before *evidence.Claims) evidence.Claims {
		r := evidence.Read(markdown.Read([]byte(draft)), facts())
		return evidence.Assemble(r, "sha256:x", pages, hold(t, &r, "en", map[string]string{"s1": "It fell and grew.", "s2": "It rose."}), before)
	}
	first := make(draft, pages, nil)
	for i := range first.Sentences {
		first.Sentences[i].Verdict = &evidence.Verdict{Verdict: evidence.Supported}
	}
	for _, test := range []struct {
		name, old, new string
		pages          []evidence.Page
		kept           string
	}{
		{"nothing changed", "", "", pages, "c1 c2 c3"},
		{"white space", "grew. It", "grew.\nIt", pages, "c1 c2 c3"},
		{"a sentence", "rose", "climbed", pages, "c1 c2"},
		{"one before another", "It fell", "It sank", pages, "c1"},
		{"a citation", "rose [@s2]", "rose [@s1]", pages, "c1 c2"},
		{"a form", "rose [@s2]", "rose [inferred from @s2]", pages, "c1 c2"},
		{"the heading", "## Evidence", "## Key Findings", pages, ""},
		{"a page", "", "", []evidence.Page{{CID: "s1", Digest: "a"}, {CID: "s2", Digest: "c"}}, "c1 c2"},
	} {
		next := make(strings.Replace(draft, test.old, test.new, 1), test.pages, &first)
		var kept []string
		for _, s := range next.Sentences {
			if s.Verdict != nil {
				kept = append(kept, s.ID)
			}
		}
		if got := strings.Join(kept, " "); got != test.kept {
			t.Errorf("%s: %s keep their verdicts, want %s", test.name, got, test.kept)
		}
	}
	data := must.Get(codec.MarshalFile(first))(t)
	kept := must.Get(evidence.ParseClaims(data))(t)
	if next := make(draft, pages, kept); !reflect.DeepEqual(next, make(draft, pages, &first)) {
		t.Errorf("what was kept reads otherwise: %+v", next)
	}
	if _, err := evidence.ParseClaims([]byte(`{"schema_version":"claims.v2"}`)); err == nil {
		t.Error("another document is read")
	}
	older := first
	older.Rules = "evidence.0"
	if next := make(draft, pages, &older); next.Sentences[0].Verdict != nil {
		t.Error("a verdict of other rules is taken over")
	}
}

// TestWindowsStayWithTheirVerdicts: a sentence shows what it was confirmed by, from then
// on, and first of all where it is asked again; an inference what the sentences show that
// cite the same sources.
func TestWindowsStayWithTheirVerdicts(t *testing.T) {
	draft := "## Evidence\n\nIt fell [@s1]. Tugs grew [@s1]. Crews rose [@s2]. So tugs and crews matter [inferred from @s2 @s1].\n"
	pages := []evidence.Page{{CID: "s1", Digest: "a"}, {CID: "s2", Digest: "b"}}
	assemble := func(draft string, pages []evidence.Page, before *evidence.Claims) evidence.Claims {
		r := evidence.Read(markdown.Read([]byte(draft)), facts())
		return evidence.Assemble(r, "sha256:x", pages, hold(t, &r, "en", map[string]string{"s1": "It fell. Tugs grew.", "s2": "Crews rose."}), before)
	}
	shown := func(c evidence.Claims, i int) (texts string) {
		for _, w := range c.Sentences[i].Windows {
			texts += w.CID + ": " + w.Text + "|"
		}
		return texts
	}
	before := assemble(draft, pages, nil)
	if got := shown(before, 3); got != "s2: Crews rose.|s1: It fell. Tugs grew.|" {
		t.Errorf("the inference has %q", got)
	}
	proof := claim.Window{CID: "s1", Start: 100, End: 120, Text: "Tugs grew, later on."}
	before.Sentences[1].Verdict = &evidence.Verdict{Verdict: evidence.Supported}
	before.Sentences[1].Windows = []claim.Window{proof, {CID: "s1", Start: 60, End: 80, Text: "More."}}
	for name, test := range map[string]struct {
		draft, want string
		pages       []evidence.Page
	}{
		"as it stood":                {draft, "s1: Tugs grew, later on.|s1: More.|", pages},
		"in another place":           {strings.Replace(draft, "## Evidence", "## Key Findings", 1), "s1: Tugs grew, later on.|s1: More.|", pages},
		"on a page that has changed": {draft, "s1: It fell. Tugs grew.|", []evidence.Page{{CID: "s1", Digest: "c"}, pages[1]}},
	} {
		if got := shown(assemble(test.draft, test.pages, &before), 1); got != test.want {
			t.Errorf("%s: it is shown with %q", name, got)
		}
	}
	again := assemble(strings.Replace(draft, "So tugs", "Therefore tugs", 1), pages, &before)
	if got := shown(again, 3); got != "s2: Crews rose.|s1: Tugs grew, later on.|" {
		t.Errorf("an inference of the next round has %q", got)
	}
}

func TestTrustLine(t *testing.T) {
	c := claims(30, "c1 frame", "c2 inferred", "c3 weak", "c4 partly", "c5 accepted", "c6 calculated")
	c.Pairs = evidence.Pairs{Asked: 12, Hard: 5}
	const count = "30 sentences: 25 stand by rule and second reader, 1 by second reader alone, 1 inferred, 1 marked, 1 accepted by Ada, 1 frame; 1 calculation. "
	for _, test := range []struct {
		by   evidence.Readers
		want string
	}{
		{evidence.Readers{}, count + "Readers were tested with 12 pairs, 5 of them with every word on the page, and missed none."},
		{evidence.Readers{OneAgent: true, Recorded: true}, count + "Readers were tested with 12 pairs, 5 of them with every word on the page, and missed none. It was read by the writer's own agent. The second reader was a recording."},
		{evidence.Readers{Undriven: true}, count + "It was read by agents that tidegate did not start, who could compare their prompts."},
		{evidence.Readers{None: true}, "30 sentences: 26 stand by rule, 1 inferred, 1 marked, 1 accepted by Ada, 1 frame; 1 calculation. There was no second reader: weak sentences and frames are marked."},
		{evidence.Readers{Unsourced: true}, "No source was checked."},
	} {
		if got := evidence.TrustLine(c, test.by); got != test.want {
			t.Errorf("%+v:\n got %s\nwant %s", test.by, got, test.want)
		}
	}
}
