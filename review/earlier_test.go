package review_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
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
			doc, err := codec.Parse([]byte(`{"change_id":"c","verdict":"NEEDS_FIX","summary":"s","issues":[` + tt.issues + `],"closed":[` + tt.closed + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			answer, faults, err := review.ParseAnswer(doc, earlier)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != len(tt.want) {
				t.Fatalf("got %v, want %q", faults, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(faults[i].Message, want) || faults[i].Change == "" {
					t.Errorf("fault %d is %+v, want %q", i, faults[i], want)
				}
			}
			for i, want := range tt.ids {
				if got := review.Identify(answer.Issues)[i].ID; got != want {
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
