package review_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	earlier := review.Identify([]review.Issue{
		{Title: "Leaks a file", Severity: review.High, Category: "Bug", File: "a.go", Description: "d"},
		{Title: "Slow", Severity: review.Low, Category: "Performance", File: "b.go", Description: "d"},
	})
	leak, slow := earlier[0].ID, earlier[1].ID
	issue := func(fields string) string {
		return `{` + fields + `"title":"The handle is never closed","severity":"High","category":"Style","description":"d"}`
	}
	for _, tt := range []struct {
		name, issues, closed string
		want                 []string // parts of the faults, in order
		ids                  []string // of the issues
		gone                 bool     // the High issue is not High any more
	}{
		{name: "confirmed and closed", issues: issue(`"id":"` + leak + `",`), closed: `"` + slow + `"`, ids: []string{leak}},
		{name: "repeated without its id", issues: `{"title":"leaks a FILE","severity":"Low","category":"bug","file":"a.go","description":"x"}`, closed: `"` + slow + `"`, ids: []string{leak}, gone: true},
		{name: "repeated with its id and without", issues: `{"id":"` + slow + `","title":"t","severity":"Low","category":"Bug","line":3,"description":"x"},` +
			`{"title":"Slow","severity":"Low","category":"Performance","file":"b.go","line":3,"description":"y"},` +
			`{"title":"Slow","severity":"Low","category":"Performance","file":"b.go","line":4,"description":"z"}`,
			closed: `"` + leak + `"`, ids: []string{slow, slow, slow + "-2"}, gone: true},
		{name: "less grave in another file", issues: `{"id":"` + leak + `","title":"t","severity":"Low","category":"bug","file":"b.go","description":"x"}`, closed: `"` + slow + `"`, gone: true},
		{name: "both closed", closed: `"` + slow + `","` + leak + `"`, gone: true},
		{name: "one forgotten", issues: issue(`"id":"` + leak + `",`), want: []string{"does not mention the earlier issue " + slow}},
		{name: "all forgotten", want: []string{leak, slow}},
		{name: "unknown id", issues: issue(`"id":"nope",`), closed: `"` + slow + `","` + leak + `"`, want: []string{`has the id "nope"`}},
		{name: "twice", issues: issue(`"id":"`+leak+`",`) + "," + issue(`"id":"`+leak+`",`), closed: `"` + slow + `"`, want: []string{"stands twice"}},
		{name: "closed and there", issues: issue(`"id":"` + leak + `",`), closed: `"` + slow + `","` + leak + `"`, want: []string{"stands twice", "closed and still among the issues"}},
		{name: "closed is not a list of texts", closed: `7,"` + slow + `","` + leak + `"`, want: []string{`has the id ""`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := must.Get(codec.Parse([]byte(`{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[` + tt.issues + `],"closed":[` + tt.closed + `]}`)))(t)
			answer, faults := must.Both(review.ParseAnswer(doc, earlier))(t)
			if len(faults) != len(tt.want) {
				t.Fatalf("got %v, want %q", faults, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(faults[i].Message, want) || faults[i].Change == "" {
					t.Errorf("fault %d is %+v, want %q", i, faults[i], want)
				}
			}
			for i, want := range tt.ids {
				if got := answer.Findings[i].ID; got != want {
					t.Errorf("issue %d has the id %s, want %s", i, got, want)
				}
			}
			said := slices.ContainsFunc(answer.Warnings, func(w string) bool { return strings.Contains(w, `had the issue "Leaks a file" as High`) })
			if len(tt.want) == 0 && said != tt.gone {
				t.Errorf("warnings %q, want one about the High issue: %v", answer.Warnings, tt.gone)
			}
			for _, warning := range answer.Warnings {
				if strings.Contains(warning, "closed") || strings.Contains(warning, "id ") {
					t.Errorf("a key of the answer is questioned: %s", warning)
				}
			}
		})
	}
}

// TestIDsStayWhenASiblingGoes: of two issues of the same name one is closed, and the
// other keeps the id that it had.
func TestIDsStayWhenASiblingGoes(t *testing.T) {
	t.Parallel()
	earlier := review.Identify([]review.Issue{
		{Title: "No check", Severity: review.Low, Category: "Bug", File: "a.go", Description: "of the size"},
		{Title: "No check", Severity: review.Low, Category: "Bug", File: "a.go", Description: "of the owner"},
	})
	for i, stays := range earlier {
		gone := earlier[1-i]
		doc := must.Get(codec.Parse([]byte(`{"change_id":"c","verdict":"needs_fix","summary":"s","issues":[
			{"id":"` + stays.ID + `","title":"x","severity":"LOW","category":"Bug","description":"d"},
			{"title":"No check","severity":"high","category":"Bug","file":"a.go","description":"of the date"}],"closed":["` + gone.ID + `"]}`)))(t)
		answer, faults, err := review.ParseAnswer(doc, earlier)
		if err != nil || len(faults) > 0 {
			t.Fatalf("%v, %+v", err, faults)
		}
		if got := answer.Findings; got[0].ID != stays.ID || got[1].ID == stays.ID || got[1].ID == gone.ID {
			t.Errorf("ids are %s and %s; %s stays and %s is gone", got[0].ID, got[1].ID, stays.ID, gone.ID)
		}
		if answer.Verdict != review.NeedsFix || answer.Issues[0].Severity != review.Low || answer.Issues[1].Severity != review.High {
			t.Errorf("verdict and severities are not those of the vocabulary: %+v", answer.Payload)
		}
	}
}
