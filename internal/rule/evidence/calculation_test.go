package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestCalculations holds formulas over two windows. A bar parts the language, the
// formula and what the fault names, "" for a formula that holds.
func TestCalculations(t *testing.T) {
	texts := map[string]string{
		"en": "The port handled 2,134,000 containers in 2020, up from 1,940,000, at a cost of $412 million and 12.5 %. It has 7 quays, 5 cranes and 1,100 workers.",
		"de": "Der Hafen schlug 2.134.000 Container um, zuvor 1.940.000; die Kosten waren 1.234,5 Mio. Euro und 12,5 %.",
		"fr": "Le port a traité 28 400 conteneurs, contre 25 000.",
		"zh": "港口处理了2.84万吨货物，去年为2.5万吨。",
		"ar": "بلغ العدد ٢٨٤٠٠ حاوية مقابل ٢٥٠٠٠ حاوية.",
	}
	for _, test := range []struct{ language, formula, fault string }{
		{"en", "2,134,000 / 1,940,000 = 1.10", ""},
		{"en", "(2,134,000 − 1,940,000) ÷ 1,940,000 = 10 %", ""},
		{"en", "(2,134,000 - 1,940,000) / 1,940,000 × 100 = 10.0", ""},
		{"en", "412 million / 2,134,000 = 193.06", ""},
		{"en", "412 million / 2,134,000 = 193.07", "CALCULATION_WRONG 193.06"},
		{"en", "412 million * 12.5 % = 51.5 million", ""},
		{"en", "7 + 5 = 12", ""},
		{"en", "1,940,000 - 2,134,000 = -194000", ""},
		{"en", "-(7 - 12) = 5", "OPERAND_NOT_FOUND \"12\""},
		{"en", "7 * 12 = 84", ""},
		{"en", "1,940,000 - 2,134,000 = -194 thousand", ""},
		{"en", "2,134,000 / 1,940,000 = 1.2", "CALCULATION_WRONG 1.1"},
		{"en", "7 / (5 - 5) = 3", "CALCULATION_WRONG divides by zero"},
		{"en", "7 / 2 = 4", ""}, // halves may be rounded either way
		{"en", "7 / 2 = 3", ""},
		{"en", "7 / 3 = 2.34", "CALCULATION_WRONG 2.33"},
		{"en", "8 + 7 = 15", "OPERAND_NOT_FOUND \"8\""},
		{"en", "60 * 24 = 1440", "OPERAND_NOT_FOUND nothing but constants"},
		{"en", "1,100 + 9 * 1 = 1109", "OPERAND_NOT_FOUND nothing but constants"},
		{"en", "7 * (1,100 - 3 * 100) = 5600", "OPERAND_NOT_FOUND nothing but constants"},
		{"en", "1,100 / (52 * 2) + 7 * 12 = 94.6", ""},
		{"en", "7 tonnes * 2 = 14", "FORM_MIXED tonnes"},
		{"en", "7 * = 14", "FORM_MIXED number is missing"},
		{"en", "7 * 2 = 14 cranes", "FORM_MIXED more than a number"},
		{"en", "7 * 1,00,0 = 14", "FORM_MIXED is no number"},
		{"en", "7" + strings.Repeat("+7", 40) + " = 287", "FORM_MIXED more than 40 numbers"},
		{"en", strings.Repeat("(", 10_000) + "7" + strings.Repeat(")", 10_000) + " = 7", "FORM_MIXED nested deeper than 20"},
		{"en", strings.Repeat("-", 10_000) + "7 = 7", "FORM_MIXED nested deeper than 20"},
		{"en", strings.Repeat("(", 20) + "7" + strings.Repeat(")", 20) + " = 7", ""},
		{"en", "(7 = 7", "FORM_MIXED parenthesis"},
		{"de", "(2.134.000 - 1.940.000) / 1.940.000 = 10,0 %", ""},
		{"de", "1.234,5 Mio. / 2.134.000 = 578,49", ""},
		{"de", "1.234,5 Mio. / 2.134.000 = 578,5 Mio.", "CALCULATION_WRONG 0,0 Mio."},
		{"fr", "28 400 / 25 000 = 1,136", ""},
		{"zh", "2.84万 / 2.5万 = 1.136", ""},
		{"ar", "٢٨٤٠٠ / ٢٥٠٠٠ = ١٫١٣٦", ""},
	} {
		f := facts()
		f.Language = test.language
		_, result, _ := strings.Cut(test.formula, " = ")
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\nIt is "+result+" [@s1] [calculated: "+test.formula+"].\n")), f)
		hold(t, &r, test.language, map[string]string{"s1": texts[test.language]})
		faults := r.Faults
		code, says, _ := strings.Cut(test.fault, " ")
		switch {
		case test.fault == "" && len(faults) > 0:
			t.Errorf("%.60s: %v", test.formula, faults)
		case test.fault != "" && (len(faults) == 0 || string(faults[0].Code) != code || !strings.Contains(faults[0].Message, says)):
			t.Errorf("%.60s: %v, want %s", test.formula, faults, test.fault)
		}
	}
}

func hold(t *testing.T, r *evidence.Report, language string, pages map[string]string) []claim.Judgement {
	t.Helper()
	held := must.Get(r.Hold(t.Context(), language, func(cid string) (*claim.Page, error) {
		text, ok := pages[cid]
		if !ok {
			return nil, nil
		}
		return &claim.Page{CID: cid, Text: text, Title: "Ports", Language: language}, nil
	}, claim.Titles{}))(t)
	return held
}

// TestAbsence: what is said to be on no page is looked for on all that may be cited, as words
// that stand beside each other; the author is told where, and a reader is shown what comes
// nearest.
func TestAbsence(t *testing.T) {
	for name, test := range map[string]struct {
		page string
		has  bool
	}{
		"nothing":          {"The port grew.", false},
		"one word":         {"Insurance is dear.", false},
		"both, far apart":  {"Insurance is dear. The port grew. It fell. Liability is another thing.", false},
		"in one sentence":  {"Liability insurances are dear.", true},
		"in one, apart":    {"Insurance of ships is a matter of liability.", false},
		"in two":           {"There is no liability. Insurance is dear.", false},
		"in another order": {"The port grew. For liability there is insurance. It fell.", true},
	} {
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\nIt grew [@s1]. [not found on the archived pages: liability insurance]\n")), facts())
		held := hold(t, &r, "en", map[string]string{"s1": "It grew.", "s5": test.page})
		missing := held[1].Standing == claim.Missing
		if missing != test.has || missing != slices.Equal(codes(r.Faults), []string{"UNCITED_SENTENCE:3"}) {
			t.Errorf("%s: %+v, %v", name, held[1].Findings, r.Faults)
		}
		if told := fmt.Sprint(r.Faults); missing && !strings.Contains(told, "iability") {
			t.Errorf("%s: the words that refuse it are not shown: %s", name, told)
		}
		c := evidence.Assemble(r, "sha256:1", nil, held, nil)
		for i := range c.Sentences {
			c.Sentences[i].Verdict = &evidence.Verdict{Verdict: evidence.Supported}
		}
		if c.Judge(true).Pass() == test.has {
			t.Errorf("%s: gate E passes: %v", name, !test.has)
		}
		if stand := c.Stands(true)[1].Words; !test.has && stand != "not found on the archived pages, confirmed by a second reader" {
			t.Errorf("%s: it %s", name, stand)
		}
		if name == "one word" && (len(held[1].Windows) != 1 || held[1].Windows[0].CID != "s5") {
			t.Errorf("the reader is shown %+v", held[1].Windows)
		}
	}
}

// TestASentenceSaysWhatItCalculates: a result that the sentence does not say proves nothing.
func TestASentenceSaysWhatItCalculates(t *testing.T) {
	for text, says := range map[string]bool{
		"It grew to 110 percent": true, "It grew 1.10 times": true, "It grew": false, "It grew to 1,940,000": false, "It grew 11.10 times": false, "It grew to 1.1 times as much": true,
	} {
		for _, result := range []string{"1.10", "110 %"} {
			r := evidence.Read(markdown.Read([]byte("## Evidence\n\n"+text+" [@s1] [calculated: 2,134,000 / 1,940,000 = "+result+"].\n")), facts())
			refused := slices.Contains(codes(r.Faults), "CALCULATION_WRONG:3")
			same := strings.Contains(text, "percent") == strings.Contains(result, "%")
			if refused == (says && same) {
				t.Errorf("%s [= %s]: %v", text, result, r.Faults)
			}
		}
	}
}

// TestResultsCountWhereTheyMay: the number 110 is on no page.
func TestResultsCountWhereTheyMay(t *testing.T) {
	page := "The port grew from 1,940,000 to 2,134,000 containers. It is 8 years old and large. It was small before and fell then."
	r := evidence.Read(markdown.Read([]byte(`## Summary

The port grew to 110 percent [@s1][@s2].

The port grew to 110 percent [@s2].

## Evidence

The port was small before, at 110 percent. The port grew 1.10 times [@s1] [calculated: 2,134,000 / 1,940,000 = 1.10]. So the port is 110 percent as large [@s1] [calculated: 1.10 = 110 %]. The port fell to 3 [@s1] [calculated: 8 / 2 = 3]. The port is 110 percent [@s1].

The port is 110 percent large [@s1].
`)), facts())
	held := hold(t, &r, "en", map[string]string{"s1": page, "s2": "The port grew."})
	for i, want := range []claim.Standing{claim.Weak, claim.Missing, claim.Missing, claim.Weak, claim.Weak, claim.Found, claim.Weak, claim.Missing} {
		if got := held[i].Standing; got != want {
			t.Errorf("%q is %s, want %s: %v", r.Sentences[i].Text, got, want, held[i].Findings)
		}
	}
	var from []string
	for _, s := range r.Sentences {
		if s.Calculation != nil {
			for _, o := range s.Calculation.Operands {
				from = append(from, o.From)
			}
		}
	}
	if got := strings.Join(from, " "); got != "s1 s1 result s1 constant" {
		t.Error(got)
	}
}

// TestItalicsMakeATitle: what is set in italics may be the title of a work, which a page
// need not quote.
func TestItalicsMakeATitle(t *testing.T) {
	for draft, want := range map[string]claim.Standing{
		`The port was described in *"a long way home again"* [@s1].`: claim.Weak,
		`The port was described in "a long way home again" [@s1].`:   claim.Missing,
	} {
		r := evidence.Read(markdown.Read([]byte("## Evidence\n\n"+draft)), facts())
		if held := hold(t, &r, "en", map[string]string{"s1": "The port was described in a book."}); held[0].Standing != want {
			t.Errorf("%s is %s, want %s", draft, held[0].Standing, want)
		}
	}
}

// TestAnExcusedNumberIsTold: also where another sentence, which must be confirmed, is refused
// for its number.
func TestAnExcusedNumberIsTold(t *testing.T) {
	r := evidence.Read(markdown.Read([]byte("## Summary\n\nThe port has 73 cranes [@s1].\n\n## Evidence\n"+strings.Repeat("\nThe port grew [@s1].\n", 38)+"\nThe port has 74 cranes [@s1].\n")), facts(func(f *evidence.Facts) { f.SecondReader = true }))
	held := hold(t, &r, "en", map[string]string{"s1": "The port grew. It has cranes."})
	told := r.Weak(held)
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Message, "73") || len(told) != 1 || !strings.Contains(told[0].Message, "74") || !strings.Contains(told[0].ChangeNote, "second reader") {
		t.Errorf("refused %+v, told %+v", r.Faults, told)
	}
}

// TestMissingNumbersAreAskedWhereTheyAreFew: as many as gate E tolerates, and only where
// somebody reads them.
func TestMissingNumbersAreAskedWhereTheyAreFew(t *testing.T) {
	for _, test := range []struct {
		missing int
		reader  bool
		want    string
	}{
		{1, true, ""},
		{1, false, "NUMBER_NOT_FOUND:3"},
		{2, true, "NUMBER_NOT_FOUND:3 NUMBER_NOT_FOUND:5"},
	} {
		draft := "## Evidence\n" + strings.Repeat("\nThe port has 73 cranes [@s1].\n", test.missing) + strings.Repeat("\nThe port grew [@s1].\n", 9)
		r := evidence.Read(markdown.Read([]byte(draft)), facts(func(f *evidence.Facts) { f.SecondReader = test.reader }))
		held := hold(t, &r, "en", map[string]string{"s1": "The port grew. It has cranes."})
		if got := strings.Join(codes(r.Faults), " "); got != test.want || held[0].Standing != claim.Missing {
			t.Errorf("%d missing, reader %v: %s, want %s", test.missing, test.reader, got, test.want)
		}
	}
}
