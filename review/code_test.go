package review_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/review"
)

// TestCodeOfAFinding: a finding is held against the whole function around its line, the same
// function as it was, and what changed in its file; one without a line is not asked about.
func TestCodeOfAFinding(t *testing.T) {
	t.Parallel()
	at := func(n int64) *int64 { return &n }
	file := review.File{Name: "limit.go",
		Before: joined("package limit", "", "func over(n int) bool {", "	if n > most {", "		return true", "	}", strings.Repeat("	n--\n", 30)+"	return n == 7", "}", "", "func other() {", "}"),
		After:  joined("package limit", "", "func over(n int) bool {", "	if n >= most {", "		return true", "	}", strings.Repeat("	n--\n", 30)+"	return n == 7", "}", "", "func other() {", "}")}
	findings := []review.Finding{
		{ID: "a", Issue: review.Issue{File: "limit.go", Line: at(37), Description: "It is\nnot so."}},
		{ID: "b", Issue: review.Issue{File: "limit.go", Line: at(41), Description: "It is so."}},
		{ID: "c", Issue: review.Issue{File: "limit.go", Description: "No line."}},
		{ID: "d", Issue: review.Issue{File: "gone.go", Line: at(1), Description: "Gone."}},
	}
	c := review.ClaimsOf(findings, func(name string) review.File {
		if name == "limit.go" {
			return file
		}
		return review.File{Name: name}
	})
	if len(c.Sentences) != 3 || c.Sentences[0].Text != "It is not so." || c.Sentences[0].Form != evidence.Finding || len(c.Sentences[2].Windows) != 0 {
		t.Fatalf("%+v", c.Sentences)
	}
	for i, want := range [][]string{
		{"around line 37 after the change\n     3  | func over(n int) bool {\n     4  | \tif n >= most {\n", "around line 37 before the change\n     3  | func over(n int) bool {\n        | \tif n > most {\n", "the lines that changed\n"},
		{"around line 41 after the change\n    40  | func other() {\n    41  | }\n", "the lines that changed\n     1  | package limit\n     2  | \n     3  | func over(n int) bool {\n       -| \tif n > most {\n     4 +| \tif n >= most {\n"},
	} {
		for k, w := range c.Sentences[i].Windows {
			if k >= len(want) || !strings.Contains(w.Title+"\n"+w.Text, want[k]) {
				t.Errorf("finding %d, piece %d:\n%s\n%s", i, k, w.Title, w.Text)
			}
		}
		if len(c.Sentences[i].Windows) != len(want) {
			t.Errorf("finding %d has %d pieces", i, len(c.Sentences[i].Windows))
		}
	}
	if text := c.Sentences[0].Windows[0].Text; strings.Contains(text, "other") || !strings.HasSuffix(text, "    37  | \treturn n == 7\n    38  | }\n") {
		t.Errorf("%s", text)
	}
	c.Sentences[0].Verdict = &evidence.Verdict{Verdict: evidence.Unsupported, Because: "no"}
	c.Sentences[1].Verdict = &evidence.Verdict{Verdict: evidence.Partly}
	checked := review.CheckedIn(c, "nobody read it")
	if len(checked) != 3 || checked[2] != (review.Checked{ID: "d", Verdict: review.Unclear, Because: "nobody read it"}) || checked[0] != (review.Checked{ID: "a", Verdict: review.Refuted, Because: "no"}) || checked[1].Verdict != review.Unclear {
		t.Errorf("%+v", checked)
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
