package review_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/review"
)

func idOf(issue review.Issue) string { return review.Identify([]review.Issue{issue})[0].ID }

func TestIssueIDsAreStable(t *testing.T) {
	base := review.Issue{Title: "Race at line 12", Severity: review.High, Category: "Bug", File: "a/b.go", Line: ptr(12), Description: "d"}
	for _, test := range []struct {
		name string
		edit func(*review.Issue)
		same bool
	}{
		{"line moved", func(i *review.Issue) { i.Line = ptr(90) }, true},
		{"line gone", func(i *review.Issue) { i.Line = nil }, true},
		{"line in the title moved", func(i *review.Issue) { i.Title = "Race at line 90" }, true},
		{"line in the file", func(i *review.Issue) { i.File = "a/b.go:12:3" }, true},
		{"letter case and blanks", func(i *review.Issue) { i.Title, i.Category = "  RACE  at Line 12 ", "bug" }, true},
		{"spelling of the path", func(i *review.Issue) { i.File = `.\a\b.go` }, true},
		{"wording of the description", func(i *review.Issue) { i.Description, i.Recommendation = "other", "more" }, true},
		{"severity", func(i *review.Issue) { i.Severity = review.Low }, true},
		{"other title", func(i *review.Issue) { i.Title = "Leak at line 12" }, false},
		{"other file", func(i *review.Issue) { i.File = "a/c.go" }, false},
		{"other category", func(i *review.Issue) { i.Category = "Style" }, false},
	} {
		edited := base
		test.edit(&edited)
		if same := idOf(base) == idOf(edited); same != test.same {
			t.Errorf("%s: same id %v, want %v", test.name, same, test.same)
		}
	}
}

func TestEqualIssuesAreNumberedByContent(t *testing.T) {
	a := review.Issue{Title: "t", Category: "Bug", Description: "first", Line: ptr(1)}
	b := review.Issue{Title: "t", Category: "Bug", Description: "second", Line: ptr(2)}
	c := review.Issue{Title: "t", Category: "Bug", Description: "second", Line: ptr(3)}
	want := map[string]string{}
	for _, issue := range review.Identify([]review.Issue{a, b, c}) {
		want[issue.ID] = issue.Description
	}
	if len(want) != 3 {
		t.Fatalf("ids %v, want three", want)
	}
	got := map[string]string{}
	for _, issue := range review.Identify([]review.Issue{c, b, a}) {
		got[issue.ID] = issue.Description
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids after re-ordering (-before +after):\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	issue := func(title string) review.Issue {
		return review.Issue{Title: title, Severity: review.Low, Category: "Bug", Description: "d"}
	}
	d := review.Diff(
		[]review.Issue{issue("stays"), issue("goes"), issue("twice"), issue("twice")},
		[]review.Issue{issue("comes"), issue("twice"), issue("Stays")},
	)
	titles := func(issues []review.Finding) []string {
		out := []string{}
		for _, i := range issues {
			out = append(out, i.Title)
		}
		return out
	}
	got := [][]string{titles(d.New), titles(d.Still), titles(d.Gone)}
	want := [][]string{{"comes"}, {"twice", "Stays"}, {"goes", "twice"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("new, still there, gone (-want +got):\n%s", diff)
	}
	same := review.Diff(sample(review.NeedsFix).Issues, review.Clean(sample(review.NeedsFix)).Issues)
	if len(same.New)+len(same.Gone) != 0 || len(same.Still) != 2 {
		t.Errorf("a review and its cleaned self: %+v", same)
	}
	if slices.Contains([]bool{same.New == nil, same.Gone == nil}, true) {
		t.Error("empty lists are nil, want []")
	}
}
