package review_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

const queue = "package queue\n\nfunc Push(x int) {\n\tif full() {\n\t\treturn\n\t}\n\titems = append(items, x)\n}\n"

func aboutQueue() review.Reviewed {
	return review.Reviewed{
		Text: func(_ context.Context, file string) ([]byte, bool, error) {
			text, ok := map[string]string{"queue.go": queue, "other.go": "package other\n"}[file]
			return []byte(text), ok, nil
		},
		Shown: func(file string, _ int64) bool { return file == "queue.go" },
	}
}

// judged is the answer with some issues, given as JSON, and the codes of its faults.
func judged(t *testing.T, about review.Reviewed, issues, closed string) (*review.Answer, []review.Remark, string) {
	t.Helper()
	doc, err := codec.Parse([]byte(`{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[` + issues + `],"closed":[` + closed + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, faults, err := review.ParseAnswer(doc, about.Earlier)
	if err != nil {
		t.Fatal(err)
	}
	more, _, err := review.Judge(t.Context(), &a, about)
	if err != nil {
		t.Fatal(err)
	}
	faults = append(faults, more...)
	var codes []string
	for _, f := range faults {
		codes = append(codes, string(f.Code))
		if f.Change == "" || f.Path == "" {
			t.Errorf("%+v does not say what to change, or where", f)
		}
	}
	return &a, faults, strings.Join(codes, " ")
}

func issueAt(severity, file string, line int, more string) string {
	return fmt.Sprintf(`{"title":"at %d","severity":%q,"category":"Bug","file":%q,"line":%d,"description":"d"%s}`, line, severity, file, line, more)
}

// TestQuotesAreHeldAgainstTheCode is about quotations and suggestions.
func TestQuotesAreHeldAgainstTheCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		line       int
		more       string
		codes      string
		want       int64 // the line
	}{
		{"at its line", "queue.go", 4, `,"quote":"if full() {"`, "", 4},
		{"white space folded", "queue.go", 4, `,"quote":"  if   full()  {\n return\n"`, "", 4},
		{"near its line", "queue.go", 4, `,"quote":"items = append(items, x)"`, "", 7},
		{"nearest", "queue.go", 7, `,"quote":"}"`, "", 6},
		{"too far", "queue.go", 8, `,"quote":"if full() {"`, "QUOTE_NOT_FOUND", 8},
		{"not there", "queue.go", 4, `,"quote":"if empty() {"`, "QUOTE_NOT_FOUND", 4},
		{"part of a line", "queue.go", 4, `,"quote":"full()"`, "QUOTE_NOT_FOUND", 4},
		{"runs over the end", "queue.go", 8, `,"quote":"}\n}"`, "QUOTE_NOT_FOUND", 8},
		{"of another file", "other.go", 1, `,"quote":"package queue"`, "QUOTE_NOT_FOUND", 1},
		{"none", "queue.go", 4, ``, "", 4},
		{"null", "queue.go", 4, `,"quote":null,"suggestion":null,"reply":null`, "", 4},
		{"a suggestion", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() || x < 0 {"`, "", 4},
		{"a suggestion that changes the indent", "queue.go", 4, `,"quote":"if full() {","suggestion":"if full() {"`, "", 4},
		{"a suggestion that changes nothing", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() {"`, "UNCHANGED", 4},
		{"a suggestion for nothing", "queue.go", 4, `,"suggestion":"x"`, "UNCHANGED", 4},
		{"a suggestion for what is not there", "queue.go", 4, `,"quote":"nope","suggestion":"x"`, "QUOTE_NOT_FOUND", 4},
		{"in a file that is gone", "gone.go", 1, `,"quote":"x","suggestion":"y"`, "NOT_FOUND", 1},
		{"outside the file", "queue.go", 99, `,"quote":"if full() {"`, "LINE_NOT_FOUND", 99},
	} {
		a, _, codes := judged(t, aboutQueue(), issueAt("Low", tt.file, tt.line, tt.more), "")
		if codes != tt.codes || *a.Issues[0].Line != tt.want || *a.Findings[0].Line != tt.want {
			t.Errorf("%s: %q at line %d, want %q at %d", tt.name, codes, *a.Issues[0].Line, tt.codes, tt.want)
		}
		for _, w := range a.Warnings {
			if strings.Contains(w, "quote") || strings.Contains(w, "suggestion") || strings.Contains(w, "reply") {
				t.Errorf("%s: a key of the answer is questioned: %s", tt.name, w)
			}
		}
	}
}

// TestWhatDoesNotHoldIsSetAside: the findings that hold stay.
func TestWhatDoesNotHoldIsSetAside(t *testing.T) {
	t.Parallel()
	good, wrong := issueAt("Medium", "queue.go", 3, `,"quote":"func Push(x int) {"`), `,"quote":"nope"`
	for _, tt := range []struct {
		name, issues string
		kept         int
		dropped      []review.Dropped
		person       string
		rest         int
	}{
		{"nothing", good, 1, nil, "", 0},
		{"a low one", good + "," + issueAt("Low", "queue.go", 4, wrong), 1, []review.Dropped{{Title: "at 4", File: "queue.go", Line: at(4), Why: `"nope" does not stand at line 4 of queue.go or near it`}}, "", 0},
		{"a high one", issueAt("High", "gone.go", 1, "") + "," + good, 1, []review.Dropped{{Title: "at 1", File: "gone.go", Line: at(1), Why: `there is no file "gone.go" in the reviewed tree`}}, `the finding "at 1" is High and does not hold`, 0},
		{"all", issueAt("Low", "queue.go", 99, ""), 0, []review.Dropped{{Title: "at 99", File: "queue.go", Line: at(99), Why: "line 99 is outside queue.go, which has 8 lines"}}, "none of the findings holds", 0},
		{"a suggestion", issueAt("Low", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() {"`), 1, nil, "", 0},
	} {
		a, faults, _ := judged(t, aboutQueue(), tt.issues, "")
		rest := a.SetAside(faults)
		if len(rest) != tt.rest || len(a.Issues) != tt.kept || len(a.Findings) != tt.kept || !strings.Contains(a.NeedsPerson, tt.person) || (tt.person == "") != (a.NeedsPerson == "") {
			t.Errorf("%s: %d issues, %q, %+v", tt.name, len(a.Issues), a.NeedsPerson, rest)
		}
		if diff := cmp.Diff(tt.dropped, a.Dropped); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestClosedIsChecked: an issue in a file that was neither shown nor changed cannot be
// closed, and stays where the reviewer insists.
func TestClosedIsChecked(t *testing.T) {
	t.Parallel()
	about := aboutQueue()
	about.Earlier = review.Identify([]review.Issue{
		{Title: "shown", Severity: review.Low, Category: "Bug", File: "queue.go", Description: "d"},
		{Title: "elsewhere", Severity: review.Low, Category: "Bug", File: "other.go", Description: "d"},
		{Title: "nowhere", Severity: review.Low, Category: "Bug", Description: "d"},
	})
	closed := fmt.Sprintf("%q,%q,%q", about.Earlier[0].ID, about.Earlier[1].ID, about.Earlier[2].ID)
	for name, changed := range map[string]func(string) bool{"not known": nil, "changed": func(string) bool { return true }} {
		about.Changed = changed
		if _, faults, _ := judged(t, about, "", closed); len(faults) > 0 {
			t.Errorf("%s: %+v", name, faults)
		}
	}
	about.Changed = func(string) bool { return false }
	a, faults, _ := judged(t, about, "", closed)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, "other.go was neither shown nor changed") {
		t.Fatalf("got %+v", faults)
	}
	if rest := a.SetAside(faults); len(rest) > 0 || len(a.Closed) != 2 || len(a.Findings) != 1 || a.Findings[0].ID != about.Earlier[1].ID {
		t.Errorf("closed are %v, findings %+v, faults %+v", a.Closed, a.Findings, rest)
	}
}

// TestFindingsOfAPanelAreJoined: what two reviewers say about the same lines is one
// finding, what one says about two is two.
func TestFindingsOfAPanelAreJoined(t *testing.T) {
	t.Parallel()
	opinion := func(by, issues string) review.Opinion {
		a, _, codes := judged(t, aboutQueue(), issues, "")
		if codes != "" {
			t.Fatal(codes)
		}
		return a.Opinion(by)
	}
	one := opinion("one", issueAt("Low", "queue.go", 4, `,"quote":"if full() {\nreturn"`)+","+issueAt("Low", "queue.go", 7, ""))
	two := opinion("two", issueAt("High", "queue.go", 5, `,"quote":"return","suggestion":"panic(1)"`)+","+issueAt("Medium", "other.go", 1, ""))
	p, findings := review.Join(one, two)
	var got []string
	for i, f := range findings {
		got = append(got, fmt.Sprintf("%s %s:%d %v", f.Severity, f.File, *f.Line, f.FoundBy))
		if diff := cmp.Diff(f.Issue, p.Issues[i]); diff != "" {
			t.Errorf("issue %d is another one:\n%s", i, diff)
		}
	}
	want := []string{"High queue.go:5 [one two]", "Medium other.go:1 [two]", "Low queue.go:7 [one]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if findings[0].Suggestion != "panic(1)" || !strings.Contains(findings[0].Description, "Another reviewer: at 5: d") {
		t.Errorf("the joined finding is %+v", findings[0])
	}
	if _, alone := review.Join(one); alone[0].FoundBy != nil || len(alone) != 2 {
		t.Errorf("one reviewer alone: %+v", alone)
	}
}
