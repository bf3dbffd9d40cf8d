package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

func facts(change ...func(*evidence.Facts)) evidence.Facts {
	f := evidence.Facts{Template: evidence.Briefing, Language: "en", Question: "How did the port of Rotterdam grow after 2010?"}
	for i := range 9 {
		f.Sources = append(f.Sources, evidence.Source{CID: fmt.Sprintf("s%d", i+1), Perspectives: []string{fmt.Sprintf("p%d", i/3)}})
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

// forms writes the sentences of a report, one to a line.
func forms(r evidence.Report) string {
	var b strings.Builder
	for _, s := range r.Sentences {
		fmt.Fprintf(&b, "%s %s|%s\n", s.Form, strings.Join(s.CIDs, ","), s.Text)
	}
	return b.String()
}

// codes are the faults of a report, each with its line.
func codes(faults []evidence.Fault) []string {
	var all []string
	for _, f := range faults {
		all = append(all, fmt.Sprintf("%s:%d", f.Code, f.Line))
	}
	return all
}

// TestSentences: what stands below a heading, its sentences with their forms, and the
// faults.
func TestSentences(t *testing.T) {
	for _, test := range []struct {
		name, draft, want, faults string
		change                    func(*evidence.Facts)
	}{
		{name: "forms", draft: "It grew. It shrank again. [@s1] That was [@s2] bad [@s3]. It may grow [inferred from @s1 @s4].\n",
			want: "carried s1|It grew.\ncited s1|It shrank again.\ncited s2,s3|That was bad.\ninferred s1,s4|It may grow.\n"},
		{name: "a citation reaches three sentences back", draft: "One is. Two is. Is it? Three is. Four is. Five is [@s1].",
			want:   " |One is.\ncarried s1|Two is.\nframe |Is it?\ncarried s1|Three is.\ncarried s1|Four is.\ncited s1|Five is.\n",
			faults: "UNCITED_SENTENCE:3"},
		{name: "nothing reaches over a paragraph", draft: "It grew.\n\nIt shrank [@s1].", want: " |It grew.\ncited s1|It shrank.\n", faults: "UNCITED_SENTENCE:3"},
		{name: "behind the last citation", draft: "It shrank [@s1].\nIt grew.", want: "cited s1|It shrank.\n |It grew.\n", faults: "UNCITED_SENTENCE:4"},
		{name: "a hard line break ends a sentence", draft: "It grew  \nIt shrank [@s1].\n", want: "carried s1|It grew\ncited s1|It shrank.\n"},
		{name: "a soft one does not", draft: "It grew\nand shrank [@s1].\n", want: "cited s1|It grew and shrank.\n"},
		{name: "emphasis and code", draft: "The *port* of `R. D.` **grew.** [@s1] It `[@s2]` shrank [@s3].", want: "cited s1|The port of R. D. grew.\ncited s3|It [@s2] shrank.\n"},
		{name: "labels", draft: "**Cost.** Two ports pay [@s1]. **Not a label.** It grew [@s2].\n\n- **Ships**: Many came. They left [@s3].\n- __Depth:__\\\n  It is deep [@s4].\n- **Two things:** These matter:\n  - A [@s1]\n",
			want: "cited s1|Cost. Two ports pay.\ncarried s2|Not a label.\ncited s2|It grew.\ncarried s3|Ships: Many came.\ncited s3|They left.\ncited s4|Depth: It is deep.\nframe |Two things: These matter:\ncited s1|A\n"},
		{name: "what is bold and no label", draft: "**It grew.** [@s1] It fell [@s2].\n\n**It grew a lot more than in last year.** It fell [@s2].\n\n**It grew!** It fell [@s2].\n\n**It** grew. It fell [@s2].\n\n**It grew.**",
			want:   "cited s1|It grew.\ncited s2|It fell.\ncarried s2|It grew a lot more than in last year.\ncited s2|It fell.\ncarried s2|It grew!\ncited s2|It fell.\ncarried s2|It grew.\ncited s2|It fell.\n |It grew.\n",
			faults: "UNCITED_SENTENCE:11"},
		{name: "a mark before any text", draft: "[@s1] says that it grew.", want: "cited s1|says that it grew.\n"},
		{name: "a mark alone", draft: "[@s1]", faults: "FORM_MIXED:3"},
		{name: "what is on no page", draft: "It grew [@s1]. [not found on the archived pages: liability insurance]. It fell [@s2].\n\n- [not found on the archived pages: the crew's pay]\n",
			want:   "cited s1|It grew.\nabsent |None of the 9 archived pages has a sentence with: liability insurance.\ncited s2|It fell.\nabsent |None of the 9 archived pages has a sentence with: the crew's pay.\n",
			faults: "UNCITED_SENTENCE:0"},
		{name: "nothing but what is on no page", draft: "[not found on the archived pages: liability]", want: "absent |None of the 9 archived pages has a sentence with: liability.\n", faults: "UNCITED_SENTENCE:0",
			change: func(f *evidence.Facts) {
				f.Template.Sections = []evidence.Section{{Title: "Key Findings"}, {Title: "Evidence", Answer: true}}
			}},
		{name: "an absence within a sentence", draft: "It has no [not found on the archived pages: liability] at all [@s1].",
			want: "cited s1|It has no at all.\nabsent |None of the 9 archived pages has a sentence with: liability.\n", faults: "FORM_MIXED:3"},
		{name: "an absence of too much", draft: "It grew [@s1]. [not found on the archived pages: what liability insurance tugs need]\n\n[not found on pages: tugs]",
			want: "cited s1|It grew.\nabsent |None of the 9 archived pages has a sentence with: what liability insurance tugs need.\n |[not found on pages: tugs]\n", faults: "FORM_MIXED:3 FORM_MIXED:5"},
		{name: "an absence in a row", draft: "| Port | Calls |\n|---|---|\n| Genoa [@s1] | [not found on the archived pages: tugs] |\n", want: "frame |Port | Calls\ncited s1|Port: Genoa\n", faults: "FORM_MIXED:5"},
		{name: "mixed", draft: "It grew [@s1] [inferred from @s2].", want: "inferred s2|It grew.\n", faults: "FORM_MIXED:3"},
		{name: "inferred twice", draft: "It [inferred from @s1] grew [inferred from @s2].", want: "inferred s1,s2|It grew.\n", faults: "FORM_MIXED:3"},
		{name: "no grammar", draft: "It grew [@s1, @s2]. It fell [inferred]. It rose [Calculated: 3]. So [sic] it was [@s1].",
			want:   "carried s1|It grew [@s1, @s2].\ncarried s1|It fell [inferred].\ncarried s1|It rose [Calculated: 3].\ncited s1|So [sic] it was.\n",
			faults: "FORM_MIXED:3 FORM_MIXED:3 FORM_MIXED:3"},
		{name: "ids of an inference", draft: "One [inferred from @s1, @s2]. two [inferred from @s1 and @s3]. Three [inferred from @s1, @s2, and @s3]. Four [inferred from @s1,@s2 @s3 ].",
			want: "inferred s1,s2|One.\ninferred s1,s3|two.\ninferred s1,s2,s3|Three.\ninferred s1,s2,s3|Four.\n"},
		{name: "a mark ends a sentence", draft: "It is safe. [inferred from @s1 @s2] restic can write. [@s3] npm too [@s4]. iPhone sales grew [@s5].",
			want: "inferred s1,s2|It is safe.\ncited s3|restic can write.\ncited s4|npm too.\ncited s5|iPhone sales grew.\n"},
		{name: "one cause is one fault", draft: "It grew [@s1] much in the end. restic did not [inferred from @s2]. It fell [inferred from @s2; @s3].",
			want: "inferred s2|It grew much in the end. restic did not.\n |It fell [inferred from @s2; @s3].\n", faults: "FORM_MIXED:3 FORM_MIXED:3"},
		{name: "a footnote", draft: "It grew[^1] [@s1].\n\n[^1]: By much [@s1].", want: "cited s1|It grew[^1].\ncited s1|[^1]: By much.\n", faults: "LINK_NOT_ALLOWED:3 LINK_NOT_ALLOWED:5"},
		{name: "too many", draft: "It grew [@s1][@s2][@s3][@s4]. It fell [inferred from @s1 @s2 @s3 @s4].",
			want: "cited s1,s2,s3,s4|It grew.\ninferred s1,s2,s3,s4|It fell.\n", faults: "TOO_MANY_CITATIONS:3 TOO_MANY_CITATIONS:3"},
		{name: "an unknown source", draft: "It fell [inferred from @s99].", want: "inferred s99|It fell.\n", faults: "UNKNOWN_CID:3"},
		{name: "a long sentence", draft: strings.Repeat("word ", 60) + "end [@s1].", want: "cited s1|" + strings.Repeat("word ", 60) + "end.\n", faults: "TOO_LONG:3"},
		{name: "a long sentence of one word", draft: strings.Repeat("grew/", 300) + " [@s1]", want: "cited s1|" + strings.Repeat("grew/", 300) + "\n", faults: "TOO_LONG:3"},
		{name: "a long sentence without blanks", draft: strings.Repeat("港", 201) + "[@s1]。", want: "cited s1|" + strings.Repeat("港", 201) + "。\n", faults: "TOO_LONG:3",
			change: func(f *evidence.Facts) { f.Language = "zh" }},
		{name: "lists", draft: "These ports grew:\n\n- Rotterdam [@s1]\n- In the south\n  - Genoa grew [@s2].\n  - Bari shrank.\n- Hamburg [@s3]. Then Bremen.",
			want:   "frame |These ports grew:\ncited s1|Rotterdam\nframe |In the south\ncited s2|Genoa grew.\n |Bari shrank.\ncited s3|Hamburg.\n |Then Bremen.\n",
			faults: "UNCITED_SENTENCE:8 UNCITED_SENTENCE:9"},
		{name: "a colon before no list", draft: "The port grew:\n\nMuch [@s1].", want: " |The port grew:\ncited s1|Much.\n", faults: "UNCITED_SENTENCE:3"},
		{name: "a frame with a number", draft: "These 12 ports grew:\n\n- Rotterdam [@s1]", want: " |These 12 ports grew:\ncited s1|Rotterdam\n", faults: "UNCITED_SENTENCE:3"},
		{name: "a frame with a number of the question", draft: "Ports since 2010:\n\n- Rotterdam [@s1]", want: "frame |Ports since 2010:\ncited s1|Rotterdam\n"},
		{name: "a question that nothing answers", draft: "It grew [@s1]. Shall I go on?", want: "cited s1|It grew.\n |Shall I go on?\n", faults: "UNCITED_SENTENCE:3"},
		{name: "a header over nothing that calculates", draft: "| Port | Sum [calculated: 1 + 1 = 3] |\n|---|---|\n| Rotterdam grew [@s1] | |\n",
			want: "frame |Port | Sum\ncited s1|Port: Rotterdam grew\n", faults: "FORM_MIXED:3"},
		{name: "headings that do not count off", draft: "### 1947: the war\n\nIt fell [@s1].\n\n### Option 250000\n\nIt grew [@s1].\n\n### 12: the last\n\nIt stood [@s1].",
			want: "frame |1947: the war\ncited s1|It fell.\nframe |Option 250000\ncited s1|It grew.\nframe |12: the last\ncited s1|It stood.\n", faults: "HEADING_CLAIMS:3 HEADING_CLAIMS:7"},
		{name: "a table", draft: "The ports:\n\n| Port | 2019 [@s1] | Note |\n|---|---|---|\n| Rotterdam | 14.8 | |\n| Genoa | 2.6 | [@s2] |\n| Bari | | small |\n\n[chart: bar]\n",
			want:   "frame |The ports:\nframe |Port | 2019 | Note\ncited s1|Port: Rotterdam; 2019: 14.8\ncited s2,s1|Port: Genoa; 2019: 2.6\n |Port: Bari; Note: small\n",
			faults: "UNCITED_SENTENCE:9"},
		{name: "a chart right below its table", draft: "| Port | Calls [@s1] |\n|---|---|\n| Genoa | 14 |\n| Bari | 12 |\n[chart: bar]\n\nIt grew [@s1].",
			want: "frame |Port | Calls\ncited s1|Port: Genoa; Calls: 14\ncited s1|Port: Bari; Calls: 12\ncited s1|It grew.\n"},
		{name: "a chart of words", draft: "| Port | Calls [@s1] |\n|---|---|\n| Genoa | 14 |\n| Bari | few |\n\n[chart: line]\n",
			want: "frame |Port | Calls\ncited s1|Port: Genoa; Calls: 14\ncited s1|Port: Bari; Calls: few\n", faults: "FORM_MIXED:6"},
		{name: "a chart of two units", draft: "| Port | Calls (t) [@s1] | Share (%) [@s1] |\n|---|---|---|\n| Genoa | 14 | 2 |\n| Bari | 12 | 4 |\n\n[chart: bar]\n",
			want: "frame |Port | Calls (t) | Share (%)\ncited s1|Port: Genoa; Calls (t): 14; Share (%): 2\ncited s1|Port: Bari; Calls (t): 12; Share (%): 4\n", faults: "FORM_MIXED:3"},
		{name: "a chart of nothing", draft: "It grew [@s1].\n\n[chart: bar]\n", want: "cited s1|It grew.\n", faults: "FORM_MIXED:5"},
		{name: "a chart in a cell", draft: "| Port | Calls [@s1] |\n|---|---|\n| [chart: bar] | 14 |\n| Bari | 12 |\n", want: "frame |Port | Calls\ncited s1|Calls: 14\ncited s1|Port: Bari; Calls: 12\n", faults: "FORM_MIXED:5"},
		{name: "a chart of another kind", draft: "| Port | Calls [@s1] |\n|---|---|\n| Genoa | 14 |\n| Bari | 12 |\n\n[chart: pie]\n", want: "frame |Port | Calls\ncited s1|Port: Genoa; Calls: 14\ncited s1|Port: Bari; Calls: 12\n |[chart: pie]\n", faults: "FORM_MIXED:8"},
		{name: "a number above an empty column", draft: "| Port | 73 submarines |\n|---|---|\n| Genoa [@s2] | |", want: " |Port | 73 submarines\ncited s2|Port: Genoa\n", faults: "UNCITED_SENTENCE:3"},
		{name: "a block quote", draft: "> It grew. So they said [@s1].", want: "carried s1|It grew.\ncited s1|So they said.\n"},
		{name: "code", draft: "```\nx\n```", faults: "UNCITED_SENTENCE:3"},
		{name: "headings", draft: "### Growth of the port\n\nIt grew [@s1].\n\n### Option 1\n\nIt fell [@s1].\n\n#### 2. COVID-19 since 2010\n\nIt fell [@s1].\n",
			want: "frame |Growth of the port\ncited s1|It grew.\nframe |Option 1\ncited s1|It fell.\nframe |2. COVID-19 since 2010\ncited s1|It fell.\n"},
		{name: "headings that claim", draft: "### It grew by 12 %\n\nIt grew [@s1].\n\n### One two three four five six seven eight nine\n\nIt fell [@s1].\n\n## Other\n\nIt fell [@s1].\n\n# Title\n\nIt fell [@s1].\n\n### Marked [@s1]\n",
			want:   "frame |It grew by 12 %\ncited s1|It grew.\nframe |One two three four five six seven eight nine\ncited s1|It fell.\nframe |Other\ncited s1|It fell.\nframe |Title\ncited s1|It fell.\nframe |Marked\n",
			faults: "HEADING_CLAIMS:3 HEADING_CLAIMS:7 HEADING_CLAIMS:11 HEADING_CLAIMS:15 HEADING_CLAIMS:19 HEADING_CLAIMS:19"},
		{name: "a date in the heading of a timeline", draft: "### March 1947\n\nIn March 1947 it grew [@s1].\n\n### May 1950\n\nIt fell [@s1].\n",
			want: "frame |March 1947\ncited s1|In March 1947 it grew.\nframe |May 1950\ncited s1|It fell.\n", faults: "HEADING_CLAIMS:7",
			change: func(f *evidence.Facts) { f.Template.Timeline = true }},
		{name: "the run outside the caveats", draft: "Few sources were found [inferred from @run]. They are new [@run].",
			want: "inferred run|Few sources were found.\ncited run|They are new.\n", faults: "UNKNOWN_CID:3 UNKNOWN_CID:3"},
		{name: "unsourced", draft: "It grew. It fell.", want: " |It grew.\n |It fell.\n", change: func(f *evidence.Facts) { f.Unsourced = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := facts()
			if test.change != nil {
				test.change(&f)
			}
			// Enough cited sentences elsewhere that a few inferences are not too many.
			r := evidence.Read(markdown.Read([]byte("## Evidence\n\n"+test.draft+"\n\n## Key Findings\n"+strings.Repeat("\n- It is [@s9].", 12))), f)
			var own evidence.Report
			for _, s := range r.Sentences {
				if s.Section == "Evidence" {
					own.Sentences = append(own.Sentences, s)
				}
			}
			if got := forms(own); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if got := strings.Join(codes(r.Faults), " "); got != test.faults {
				t.Errorf("faults %s, want %s: %v", got, test.faults, r.Faults)
			}
		})
	}
}

// TestFaultsNameTheirCause: two sentences that were read as one say why, and sources have
// the names that they have in the prompt.
func TestFaultsNameTheirCause(t *testing.T) {
	const cid = "cid_0123456789abcdef"
	f := facts(func(f *evidence.Facts) { f.Whole, f.Sources = false, []evidence.Source{{CID: cid, ID: "s7"}} })
	r := evidence.Read(markdown.Read([]byte("It grew [@"+cid+"] in the end. restic did not [inferred from @"+cid+"].\n\nIt fell [inferred from "+cid+"].\n")), f)
	var got []string
	for _, fault := range r.Faults {
		if fault.Line > 0 {
			got = append(got, fault.Message)
		}
	}
	want := []string{`two sentences in line 1 were read as one because "restic" begins with a small letter`,
		`line 3 has "[inferred from s7]", which begins like a mark and is none`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAnInferenceShowsEachOfItsPages: also one that no other sentence cites.
func TestAnInferenceShowsEachOfItsPages(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte("## Evidence\n\nIt grew [@s1]. It shrank [@s2]. It changes [inferred from @s1 @s2 @s3].\n")), facts())
	window := func(cid string, start int) claim.Window {
		return claim.Window{CID: cid, Start: start, End: start + 10, Text: "It changes"}
	}
	held := []claim.Judgement{{Windows: []claim.Window{window("s1", 0)}}, {Windows: []claim.Window{window("s2", 0)}}, {Windows: []claim.Window{window("s1", 50), window("s2", 50), window("s3", 50)}}}
	var shown []string
	for _, w := range evidence.Assemble(r, "sha256:1", nil, held, nil).Sentences[2].Windows {
		shown = append(shown, fmt.Sprint(w.CID, " ", w.Start))
	}
	if got := strings.Join(shown, ", "); got != "s1 0, s2 0, s3 50" {
		t.Errorf("shown are %s", got)
	}
}

// TestWhatIsReadAgain: a sentence is asked about again when the one before it changes only
// where it points back at it, and a heading not because a sentence below it was dropped.
func TestWhatIsReadAgain(t *testing.T) {
	claims := func(draft, language string, before *evidence.Claims) evidence.Claims {
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\n"+draft)), facts(func(f *evidence.Facts) { f.Language = language }))
		return evidence.Assemble(r, "sha256:"+draft, []evidence.Page{{CID: "s1", Digest: "sha256:1"}}, make([]claim.Judgement, len(r.Sentences)), before)
	}
	for _, test := range []struct {
		language, second string
		again            bool
	}{
		{"en", "Tugs are quiet", false}, {"en", "They are quiet", true}, {"en", "The latter are quiet", true}, {"de", "Schlepper sind leise", false},
		{"de", "Diese sind leise", true}, {"fr", "C'est calme", true}, {"fr", "Les remorqueurs", false}, {"fi", "Se on hiljainen", true}, {"zh", "这些很安静", true},
		{"zh", "拖船很安静", false}, {"xx", "Anything goes", true},
	} {
		first := claims("It grew [@s1]. "+test.second+" [@s1].", test.language, nil)
		then := claims("It shrank [@s1]. "+test.second+" [@s1].", test.language, nil)
		if n := len(first.Sentences) - 1; (first.Sentences[n].Digest != then.Sentences[n].Digest) != test.again {
			t.Errorf("%s: %q is read again: %v", test.language, test.second, !test.again)
		}
	}
	const heading = "### Tugs\n\n"
	before := claims(heading+"Tugs grew [@s1]. Tugs fell [@s1]. Tugs are quiet [@s1]. Tugs are dear [@s1].", "en", nil)
	before.Sentences[0].Verdict = &evidence.Verdict{Verdict: evidence.Supported}
	for draft, kept := range map[string]bool{"Tugs grew [@s1]. Tugs are quiet [@s1]. Tugs are dear [@s1].": true, "Tugs grew [@s1]. Tugs sank [@s1].": false} {
		if after := claims(heading+draft, "en", &before); (after.Sentences[0].Verdict != nil) != kept {
			t.Errorf("the verdict on the heading over %q is kept: %v", draft, !kept)
		}
	}
}

const honest = `## Summary

The port grew after 2010 [@s1].

## Key Findings

- Rotterdam grew [@s1].
- Genoa grew, too [@s4].
- Hamburg did not [@s7].

## Evidence

The harbour master counted ships. He published the count [@s4].

## Caveats

Only nine pages were read [inferred from @run].
`

func TestAWholeReport(t *testing.T) {
	whole := func(f *evidence.Facts) { f.Whole = true }
	if r := evidence.Read(markdown.Read([]byte(honest)), facts(whole)); len(r.Faults) > 0 {
		t.Errorf("an honest report has faults: %v", r.Faults)
	}
	for name, test := range map[string]struct{ draft, fault, says string }{
		"no statement":      {strings.Replace(honest, "The port grew after 2010 [@s1].", "", 1), "TOO_LITTLE:0", `a sentence under "Summary"`},
		"few findings":      {strings.Replace(honest, "- Hamburg did not [@s7].\n", "", 1), "TOO_LITTLE:0", "2 of 3"},
		"few sources":       {strings.NewReplacer("@s7", "@s1", "@s4", "@s1").Replace(honest), "TOO_LITTLE:0", "sources: 1 of 3"},
		"few perspectives":  {strings.NewReplacer("@s7", "@s2", "@s4", "@s3").Replace(honest), "TOO_LITTLE:0", "1 of 3 are used"},
		"text before":       {"Here is the report.\n\n" + honest, "MISSING_REQUIRED_SECTION:1", "before the first section"},
		"text behind":       {honest + "\n---\n\nLet me know! Or not.\n", "MISSING_REQUIRED_SECTION:21", "behind the last section"},
		"a long answer":     {strings.Replace(honest, "The port grew after 2010 [@s1].", strings.Repeat("The port grew after 2010 [@s1].\n", 6), 1), "TOO_LONG:8", `the section "Summary" answers the question in 6 sentences; 5 are allowed`},
		"a title":           {"# Ports\n\n" + honest, "HEADING_CLAIMS:1", "Ports"},
		"too much inferred": {strings.NewReplacer("[@s1].\n\n## Key", "[inferred from @s1].\n\n## Key", "too [@s4]", "too [inferred from @s4]").Replace(honest), "TOO_MUCH_INFERRED:0", "2 of 6"},
		"the run six times": {honest + strings.Repeat("Few pages were read [inferred from @run].\n", 5), "TOO_MANY_CITATIONS:22", "@run"},
	} {
		r := evidence.Read(markdown.Read([]byte(test.draft)), facts(whole))
		if i := slices.Index(codes(r.Faults), test.fault); i < 0 || !strings.Contains(r.Faults[i].Message, test.says) {
			t.Errorf("%s: %v", name, r.Faults)
		}
	}
}

// TestALongAnswerIsOneAuthors: five sentences are no fault, and neither are more in a section
// that is to have the findings, or whose length an outline gives.
func TestALongAnswerIsOneAuthors(t *testing.T) {
	answer := func(n int) string {
		return strings.Replace(honest, "The port grew after 2010 [@s1].", strings.Repeat("The port grew after 2010 [@s1].\n", n), 1)
	}
	for draft, change := range map[string]func(*evidence.Facts){
		answer(5): func(*evidence.Facts) {},
		answer(6): func(f *evidence.Facts) { f.InParts = true },
		answer(7): func(f *evidence.Facts) {
			f.Template.Sections = slices.Clone(f.Template.Sections)
			f.Template.Sections[0].Findings, f.Template.Sections[1].Findings = true, false
		},
	} {
		whole := facts(func(f *evidence.Facts) { f.Whole = true }, change)
		if r := evidence.Read(markdown.Read([]byte(draft)), whole); slices.ContainsFunc(r.Faults, func(f evidence.Fault) bool { return f.Code == tidegate.TooLong }) {
			t.Errorf("%v", r.Faults)
		}
	}
}

// TestNoReportNeedsASilentSource: what nothing can be read from cannot be cited.
func TestNoReportNeedsASilentSource(t *testing.T) {
	silent := facts(func(f *evidence.Facts) {
		f.Whole = true
		for i := range f.Sources {
			f.Sources[i].Silent = f.Sources[i].CID != "s1"
		}
	})
	draft := strings.NewReplacer("@s7", "@s1", "@s4", "@s1").Replace(honest)
	if r := evidence.Read(markdown.Read([]byte(draft)), silent); len(r.Faults) > 0 {
		t.Errorf("%v", r.Faults)
	}
	if findings, perspectives, sources := silent.Needs(); findings != 1 || perspectives != 1 || sources != 1 {
		t.Errorf("needs %d findings, %d perspectives, %d sources", findings, perspectives, sources)
	}
}

func TestContext(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte("## Evidence\n\n### Ports\n\nOne is. Two is [@s1]. These:\n\n- A [@s1]\n- B\n  - C [@s1]\n\nThree [@s2].\n")), facts())
	want := []evidence.Context{
		{Heading: "Evidence", Shown: "One is.\nTwo is.\nThese:"},
		{Heading: "Ports"},
		{Heading: "Ports", Before: "One is."},
		{Heading: "Ports", Before: "Two is.", Shown: "A\nB\nC"},
		{Heading: "Ports", LeadIn: "These:"},
		{Heading: "Ports", LeadIn: "These:", Shown: "C"},
		{Heading: "Ports", LeadIn: "B"},
		{Heading: "Ports"},
	}
	for i, s := range r.Sentences {
		if s.Context != want[i] || s.ID != fmt.Sprintf("c%d", i+1) {
			t.Errorf("%s %q: %+v, want %+v", s.ID, s.Text, s.Context, want[i])
		}
	}
}

// FuzzRead: whatever the draft, each sentence has its place, and a mark is never text.
func FuzzRead(f *testing.F) {
	f.Add(honest)
	f.Add("## Evidence\n\n| a | b |\n|-|-|\n| [@s1] | [calculated: 1/0=2] |\n> - x [@s1\n\n[chart: bar]\n")
	f.Fuzz(func(t *testing.T, draft string) {
		r := evidence.Read(markdown.Read([]byte(draft)), facts())
		for _, s := range r.Sentences {
			if s.Line < 1 || s.Text == "" || s.Text != strings.Join(strings.Fields(s.Text), " ") {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// TestAQuotationOfSeveralSentences is looked for as a whole: its sentences alone are on
// the page in another order.
func TestAQuotationOfSeveralSentences(t *testing.T) {
	for text, want := range map[string]bool{
		`It says: "The port is old and quiet. It opened its gates long ago." [@s1]`:                   true,
		`It says: "It opened its gates long ago. The port is old and quiet." [@s1]`:                   false,
		`It says: "It is. The port is old." [@s1]`:                                                    false,
		`Somebody came. It has "the port" "is old" in it. Nobody left the harbour then. [@s1]`:        true,
		`Somebody came. It has "no port" "is old" in it. Nobody left the harbour then. [@s1]`:         false,
		`It says: "The port is old and quiet." Then: "It opened its gates … long ago" as well. [@s1]`: true,
	} {
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\n"+text+"\n")), evidence.Facts{Template: evidence.Briefing, Language: "en", Sources: []evidence.Source{{CID: "s1"}}})
		held, err := r.Hold(t.Context(), "en", func(cid string) (*claim.Page, error) {
			return &claim.Page{CID: cid, Text: "The port is old and quiet. It opened its gates long ago. Nobody left it."}, nil
		}, claim.Titles{})
		if err != nil || len(held) == 0 {
			t.Fatal(held, err)
		}
		if found := len(r.Faults) == 0; found != want {
			t.Errorf("%s: %+v", text, r.Faults)
		}
	}
}
