package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// checkedFile is a file whose lines can be turned into false ones.
func checkedFile() review.File {
	return review.File{Name: "limit.go", After: joined("package limit", "", "const most = 12", "", "func over(n int) bool {", "	if n >= most {", "		return true", "	}", "	return n == 7 && most != 3", "}")}
}

func plannedChecks(t *testing.T, n int, seed string) [][]review.Check {
	t.Helper()
	f := checkedFile()
	var findings []review.Finding
	for i := range n {
		line := int64(i%10 + 1)
		findings = append(findings, review.Finding{ID: fmt.Sprintf("f%d", i), Issue: review.Issue{Title: "Real", Severity: review.Medium, File: f.Name, Line: &line, Description: "d"}})
	}
	return review.PlanChecks(findings, []review.File{f}, func(string) []byte { return f.After }, seed)
}

// TestControls: each part has planted findings that say what the code does not say, which
// ones and where depends on the seed, and every finding with a line is asked about once.
func TestControls(t *testing.T) {
	t.Parallel()
	text := string(checkedFile().After)
	orders := map[string]bool{}
	for _, seed := range []string{"a", "b", "c", "d", "e"} {
		parts := plannedChecks(t, 3, seed)
		if len(parts) != 1 || len(parts[0]) != 6 {
			t.Fatalf("%d parts: %+v", len(parts), parts)
		}
		order := ""
		for _, c := range parts[0] {
			order += fmt.Sprint(c.Control, *c.Finding.Line, " ")
			if !c.Control {
				continue
			}
			_, said, _ := strings.Cut(c.Finding.Description, "`")
			said, _, _ = strings.Cut(said, "`")
			if said == "" || strings.Contains(text, said) || !strings.Contains(c.Window, "package limit") {
				t.Errorf("the control says %q, which is so, or shows another window:\n%s", said, c.Window)
			}
		}
		orders[order] = true
	}
	if len(orders) < 2 {
		t.Errorf("every seed gives %v", orders)
	}
	all := 0
	for _, part := range plannedChecks(t, 60, "a") {
		if len(part) > 25 {
			t.Errorf("a part has %d", len(part))
		}
		for _, c := range part {
			if !c.Control {
				all++
			}
		}
	}
	if all != 60 {
		t.Errorf("%d of 60 findings are asked about", all)
	}
}

// TestReadersOfFindings: who confirms what is not so, says nothing about a finding, or
// quotes code that is not there is refused.
func TestReadersOfFindings(t *testing.T) {
	t.Parallel()
	checks := plannedChecks(t, 2, "seed")[0]
	answer := func(verdict func(c review.Check) (verdict, words string), n int) string {
		var list []string
		for i, c := range checks[:n] {
			v, words := verdict(c)
			list = append(list, fmt.Sprintf(`{"finding":%d,"verdict":%q,"words":%q,"because":"so"}`, i+1, v, words))
		}
		return `{"verdicts":[` + strings.Join(list, ",") + `]}`
	}
	honest := func(c review.Check) (string, string) {
		if c.Control {
			return "refuted", ""
		}
		return "confirmed", "const  most"
	}
	for _, tt := range []struct {
		name, answer, fault string
	}{
		{"honest", answer(honest, len(checks)), ""},
		{"unsure", answer(func(review.Check) (string, string) { return "unclear", "" }, len(checks)), ""},
		{"credulous", answer(func(review.Check) (string, string) { return "confirmed", "package limit" }, len(checks)), "CONTROL_FAILED"},
		{"hasty", answer(honest, len(checks)-1), "VERDICT_MISSING"},
		{"twice", strings.Replace(answer(honest, len(checks)), `"finding":2`, `"finding":1`, 1), "VERDICT_MISSING"},
		{"another word", strings.Replace(answer(honest, len(checks)), "confirmed", "likely", 1), "VERDICT_MISSING"},
		{"inventive", answer(func(c review.Check) (string, string) { v, _ := honest(c); return v, "no such code" }, len(checks)), "WORDS_NOT_FOUND"},
		{"nothing", `{}`, "VERDICT_MISSING"},
	} {
		doc := must.Get(codec.Parse([]byte(tt.answer)))(t)
		checked, faults := review.JudgeChecks(checks, doc)
		switch {
		case tt.fault == "" && (len(faults) > 0 || len(checked) != 2):
			t.Errorf("%s: %+v, %+v", tt.name, checked, faults)
		case tt.fault != "" && (len(faults) == 0 || string(faults[0].Code) != tt.fault || checked != nil):
			t.Errorf("%s: %+v, want %s", tt.name, faults, tt.fault)
		}
		for _, f := range faults {
			if tt.fault == "CONTROL_FAILED" && strings.ContainsAny(f.Message+f.Change, "0123456789") {
				t.Errorf("the fault tells the control: %+v", f)
			}
		}
	}
	text, err := review.ChecksPrompt(checks)
	if err != nil || strings.Contains(strings.ToLower(text), "control") || strings.Count(text, "\nfinding ") != len(checks) {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestToday: an earlier finding is shown where its lines stand now.
func TestToday(t *testing.T) {
	t.Parallel()
	at := func(n int64) *int64 { return &n }
	f := review.Finding{ID: "abc", Issue: review.Issue{File: "a.go", Line: at(3)},
		Quote: "\treturn"}
	text := "package a\n" + strings.Repeat("\n", 40) + "func f() {\n\treturn\n}\n"
	if got := review.Today(f, []byte(text)); !strings.HasPrefix(got, "issue abc, line 43: a.go\n") ||
		!strings.Contains(got, "    43  | \treturn\n") {
		t.Error(got)
	}
	if got := review.Today(f, []byte("package a\n")); !strings.HasPrefix(got,
		"issue abc, line 1, where its quoted lines do not stand any more: a.go\n") {
		t.Error(got)
	}
}
