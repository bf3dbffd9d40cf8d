package review_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

const queue = "package queue\n\nfunc Push(x int) {\n\tif full() {\n\t\treturn\n\t}\n\titems = append(items, x)\n}\n"

func aboutQueue() review.Reviewed {
	return review.Reviewed{
		Text: func(_ context.Context, file string) ([]byte, bool, error) {
			text, ok := map[string]string{"queue.go": queue, "other.go": "package other\n", "returns.py": "x\n# a comment\rrun()\n"}[file]
			return []byte(text), ok, nil
		},
		Shown: func(file string, _ int64) bool { return file == "queue.go" },
	}
}

// judged is the answer with some issues, given as JSON, and the codes of its faults.
func judged(t *testing.T, about review.Reviewed, issues, closed string) (*review.Answer, []review.Remark, string) {
	t.Helper()
	doc := must.Get(codec.Parse([]byte(`{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[` + issues + `],"closed":[` + closed + `]}`)))(t)
	a, faults := must.Both(review.ParseAnswer(doc, about.Earlier))(t)
	more, _ := must.Both(review.Judge(t.Context(), &a, about))(t)
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
		{"before a carriage return", "returns.py", 2, `,"quote":"# a commentU+000D"`, "", 2},
		{"behind a carriage return", "returns.py", 2, `,"quote":"run()"`, "", 2},
		{"with a carriage return", "returns.py", 2, `,"quote":"# a commentU+000Drun()"`, "", 2},
		{"none", "queue.go", 4, ``, "", 4},
		{"null", "queue.go", 4, `,"quote":null,"suggestion":null,"reply":null`, "", 4},
		{"a suggestion", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() || x < 0 {"`, "", 4},
		{"a suggestion that changes the indent", "queue.go", 4, `,"quote":"if full() {","suggestion":"if full() {"`, "", 4},
		{"a suggestion that changes nothing", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() {"`, "", 4},
		{"a suggestion for nothing", "queue.go", 4, `,"suggestion":"x"`, "", 4},
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
		dropped      string
		person       string
		rest         int
	}{
		{"nothing", good, 1, "", "", 0},
		{"a low one", good + "," + issueAt("Low", "queue.go", 4, wrong), 1,
			`at 4: "nope" does not stand at line 4 of queue.go or near it`, "", 0},
		{"a high one", issueAt("High", "gone.go", 1, "") + "," + good, 1,
			`at 1: there is no file "gone.go" in the reviewed tree`, `the finding "at 1" is High and does not hold`, 0},
		{"all", issueAt("Low", "queue.go", 99, ""), 0, "at 99: line 99 is outside queue.go, which has 8 lines",
			"none of its findings holds", 0},
		{"a suggestion", issueAt("Low", "queue.go", 4, `,"quote":"if full() {","suggestion":"\tif full() {"`), 1, "", "", 0},
	} {
		a, faults, _ := judged(t, aboutQueue(), tt.issues, "")
		rest := a.SetAside(faults)
		person, ids := review.Policy{}.ForPerson(nil, a.Dropped, nil)
		if len(rest) != tt.rest || len(a.Issues) != tt.kept || len(a.Findings) != tt.kept || !strings.Contains(person,
			tt.person) || (tt.person == "") != (person == "") {
			t.Errorf("%s: %d issues, %q, %+v", tt.name, len(a.Issues), person, rest)
		}
		dropped := ""
		for _, d := range a.Dropped {
			dropped += d.Title + ": " + d.Why
		}
		if dropped != tt.dropped {
			t.Errorf("%s: %q is set aside, want %q", tt.name, dropped, tt.dropped)
		}
		var said review.Dismissals
		for _, id := range ids {
			d, ok := review.Dismissible(id, nil, a.Dropped, nil)
			if !ok {
				t.Errorf("%s: nothing has the id %s", tt.name, id)
			}
			said = append(said, d)
		}
		if still, _ := (review.Policy{Dismissed: said}).ForPerson(nil, a.Dropped, nil); still != "" {
			t.Errorf("%s: dismissed, and still for a person: %s", tt.name, still)
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
	style := opinion("style", strings.ReplaceAll(issueAt("Low", "queue.go", 4, ""), "Bug", "Style"))
	moved := opinion("moved", strings.ReplaceAll(issueAt("Medium", "queue.go", 7, ""), `"line":7`, `"line":8`))
	p, findings := review.Join(one, two, style, moved)
	var got []string
	for i, f := range findings {
		got = append(got, fmt.Sprintf("%s %s:%d %v", f.Severity, f.File, *f.Line, f.FoundBy))
		if diff := cmp.Diff(f.Issue, p.Issues[i]); diff != "" {
			t.Errorf("issue %d is another one:\n%s", i, diff)
		}
	}
	// The same lines in another category are another finding; the same id is the same one.
	want := []string{"High queue.go:5 [one two]", "Medium queue.go:7 [one moved]", "Medium other.go:1 [two]",
		"Low queue.go:4 [style]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if findings[0].Suggestion != "\t\tpanic(1)" || !strings.Contains(findings[0].Description,
		"two, at queue.go:5: at 5: d") {
		t.Errorf("the joined finding is %+v", findings[0])
	}
	if _, alone := review.Join(one); alone[0].FoundBy != nil || len(alone) != 2 {
		t.Errorf("one reviewer alone: %+v", alone)
	}
}

// TestClosedIsWhatNobodyHasOpen: where reviewers of a panel disagree an issue is open.
func TestClosedIsWhatNobodyHasOpen(t *testing.T) {
	t.Parallel()
	open := review.Identify([]review.Issue{{Title: "still there", Severity: review.Low, Category: "Bug",
		Description: "d"}})
	if got := review.Closed([]string{"b", open[0].ID, "a", "b"}, open); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("closed are %v", got)
	}
}

// TestDismissalsHoldForTheirLines: whatever the title, up to the severity that was
// dismissed.
func TestDismissalsHoldForTheirLines(t *testing.T) {
	t.Parallel()
	finding := func(title, category, quote string, severity review.Severity) review.Finding {
		f := review.Identify([]review.Issue{{Title: title, Severity: severity, Category: category, File: "queue.go",
			Description: "d"}})[0]
		f.Quote = quote
		return f
	}
	was := finding("full", "Bug", "if full() {\n\treturn", review.Medium)
	d, ok := review.Dismissible(was.ID, []review.Finding{was}, nil, nil)
	if !ok {
		t.Fatal("a finding cannot be dismissed")
	}
	plain, _ := review.Dismissible(was.ID, []review.Finding{finding("full", "Bug", "", review.Medium)}, nil, nil)
	for _, tt := range []struct {
		name          string
		dismissed     review.Dismissal
		found         review.Finding
		holds, graver bool
	}{
		{"the same", d, was, true, false},
		{"under another title, indented otherwise", d, finding("empty", "Bug", "\tif full() {\n\t\treturn", review.Low),
			true, false},
		{"graver", d, finding("full", "Bug", was.Quote, review.High), false, true},
		{"in another category", d, finding("full", "Security", was.Quote, review.Low), false, false},
		{"other lines under the same title", d, finding("full", "Bug", "return", review.Medium), false, false},
		{"without lines, by its id", plain, was, true, false},
		{"without lines, another id", plain, finding("empty", "Bug", was.Quote, review.Low), false, false},
	} {
		holds, graver := review.Dismissals{tt.dismissed}.Of(tt.found)
		if (holds != nil) != tt.holds || (graver != nil) != tt.graver {
			t.Errorf("%s: holds %v, goes beyond %v", tt.name, holds, graver)
		}
	}
}

// TestSuggestionsApply: a suggestion has the indentation of the lines that it replaces,
// and goes where it changes nothing or breaks the file.
func TestSuggestionsApply(t *testing.T) {
	t.Parallel()
	const python = "def f(x):\n  if x:\n    return 1\n  return 0\n"
	about := aboutQueue()
	about.Text = func(_ context.Context, file string) ([]byte, bool, error) {
		text, ok := map[string]string{"queue.go": queue, "f.py": python}[file]
		return []byte(text), ok, nil
	}
	about.Shown = func(string, int64) bool { return true }
	about.Parses = func(_ string, text []byte) error {
		if strings.Contains(string(text), "BROKEN") {
			return errors.New("BROKEN")
		}
		return nil
	}
	for _, tt := range []struct {
		name, file              string
		line                    int
		quote, suggestion, want string
		said                    string
	}{
		{"as it stands there", "queue.go", 4, "\tif full() {", "\tif !full() {", "\tif !full() {", ""},
		{"without its indentation", "queue.go", 4, "\tif full() {\n\t\treturn", "if !full() {\n\tpanic(x)",
			"\tif !full() {\n\t\tpanic(x)", ""},
		{"in blanks where the file has tabs", "queue.go", 4, "\tif full() {\n\t\treturn\n\t}",
			"    if full() {\n        panic(x)\n    }",
			"\tif full() {\n\t\tpanic(x)\n\t}", ""},
		{"in tabs where the file has blanks", "f.py", 2, "  if x:\n    return 1", "if not x:\n\treturn 2",
			"  if not x:\n    return 2", ""},
		{"less deep at its end", "queue.go", 5, "\t\treturn\n\t}", "    panic(x)\n}", "\t\tpanic(x)\n\t}", ""},
		{"the same in other blanks", "queue.go", 4, "\tif full() {", "if full() {", "", "it is what stands there already"},
		{"what breaks the file", "queue.go", 4, "\tif full() {", "\tBROKEN", "", "does not parse: BROKEN"},
		{"for no quotation", "queue.go", 4, "", "x", "", "no quotation"},
	} {
		text, _, _ := about.Text(t.Context(), tt.file)
		doc := must.Get(codec.Parse(fmt.Appendf(nil, `{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[%s]}`,
			issueAt("Low", tt.file, tt.line, fmt.Sprintf(`,"quote":%q,"suggestion":%q,"confidence":"Likely"`, tt.quote,
				tt.suggestion)))))(t)
		a, _ := must.Both(review.ParseAnswer(doc, nil))(t)
		faults, warnings := must.Both(review.Judge(t.Context(), &a, about))(t)
		f := a.Findings[0]
		if len(faults) > 0 || f.Suggestion != tt.want || (tt.said == "") != (len(warnings) == 0) || len(warnings) > 0 &&
			!strings.Contains(warnings[0].Message, tt.said) {
			t.Errorf("%s: %q, %+v, %+v", tt.name, f.Suggestion, faults, warnings)
		}
		if f.Confidence != "likely" || len(a.Warnings) > 0 {
			t.Errorf("%s: confidence is %q, warnings %v", tt.name, f.Confidence, a.Warnings)
		}
		if tt.want == "" {
			continue
		}
		applied, why := f.Apply(text)
		if want := strings.Replace(string(text), tt.quote, tt.want, 1); why != "" || string(applied) != want {
			t.Errorf("%s: applied is %q (%s), want %q", tt.name, applied, why, want)
		}
		ends, why := f.Apply([]byte(strings.ReplaceAll(string(text), "\n", "\r\n")))
		if strings.ReplaceAll(string(ends), "\r\n", "\n") != string(applied) || strings.Count(string(ends),
			"\n") != strings.Count(string(ends), "\r\n") {
			t.Errorf("%s: with other line ends %q (%s)", tt.name, ends, why)
		}
		if _, why := f.Apply([]byte("package other\n")); !strings.Contains(why, "do not stand there any more") {
			t.Errorf("%s: where the lines are gone: %q", tt.name, why)
		}
		f.Line = nil
		if _, why := f.Apply([]byte(f.Quote + "\n" + f.Quote + "\n")); !strings.Contains(why, "several places") {
			t.Errorf("%s: where the lines stand twice: %q", tt.name, why)
		}
	}
}
