package review_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/review"
)

// TestPolicyDecides is about what keeps a review from passing, whatever its verdict.
func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	finding := func(id string, severity review.Severity, by ...string) review.Finding {
		return review.Finding{ID: id, Issue: review.Issue{Title: id, Severity: severity}, FoundBy: by}
	}
	failed := int64(2)
	for _, tt := range []struct {
		name     string
		policy   review.Policy
		verdict  review.Verdict
		tests    *review.TestResults
		findings []review.Finding
		want     string
	}{
		{"low ones pass by default", review.Policy{FailOn: "medium"}, review.NeedsFix, nil, []review.Finding{finding("a", review.Low)}, ""},
		{"medium ones do not", review.Policy{FailOn: "medium"}, review.Approved, nil, []review.Finding{finding("a", review.Medium), finding("b", review.High)}, "2 findings of severity Medium or above"},
		{"high only", review.Policy{FailOn: "high"}, review.NeedsFix, nil, []review.Finding{finding("a", review.Medium)}, ""},
		{"low too", review.Policy{FailOn: "low"}, review.Approved, nil, []review.Finding{finding("a", review.Low)}, "1 finding"},
		{"never", review.Policy{FailOn: review.Never}, review.MajorIssues, &review.TestResults{Failed: &failed}, []review.Finding{finding("a", review.High)}, ""},
		{"major issues", review.Policy{FailOn: "high"}, review.MajorIssues, nil, nil, "MAJOR_ISSUES"},
		{"a failed test", review.Policy{FailOn: "high"}, review.NeedsFix, &review.TestResults{Failed: &failed}, nil, "2 tests failed"},
		{"a failed test and a finding", review.Policy{FailOn: "high"}, review.NeedsFix, &review.TestResults{Failed: &failed},
			[]review.Finding{finding("a", review.High)}, "2 tests failed, and 1 finding of severity High or above"},
		{"dismissed", review.Policy{FailOn: "low", Dismissed: review.Dismissals{{ID: "a", Reason: "known to the team"}}},
			review.NeedsFix, nil, []review.Finding{finding("a", review.High)}, ""},
		{"a verdict that a person ended", review.Policy{FailOn: "low", Dismissed: review.Dismissals{{ID: "a",
			Reason: "known to the team"}}}, review.MajorIssues, nil, []review.Finding{finding("a", review.High)}, ""},
		{"a verdict that rests on another finding", review.Policy{FailOn: "high", Dismissed: review.Dismissals{{ID: "a",
			Reason: "known"}}, Checked: []review.Checked{{ID: "b", Verdict: review.Refuted, Because: "no"}}}, review.MajorIssues, nil, []review.Finding{finding("a",
			review.High), finding("b", review.High)}, "MAJOR_ISSUES"},
		{"found before", review.Policy{FailOn: "low", Known: map[string]bool{"a": true}}, review.NeedsFix, nil, []review.Finding{finding("a", review.High), finding("b", review.Low)}, "1 finding"},
		{"found by one of two", review.Policy{FailOn: "low", Agree: 2}, review.NeedsFix, nil, []review.Finding{finding("a", review.High, "one")}, ""},
		{"found by both", review.Policy{FailOn: "low", Agree: 2}, review.NeedsFix, nil, []review.Finding{finding("a", review.High, "one", "two")}, "1 finding"},
	} {
		got := tt.policy.Fails(review.Payload{Verdict: tt.verdict, TestResults: tt.tests}, tt.findings)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDeletionsNeedAPerson: files that the task does not name, and more than a tenth of all
// files whatever it names.
func TestDeletionsNeedAPerson(t *testing.T) {
	for _, tt := range []struct {
		unnamed         []string
		deleted, before int
		want            string
	}{
		{nil, 0, 0, ""},
		{nil, 10, 100, ""},
		{nil, 11, 100, "it deletes 11 of 100 files"},
		{[]string{"a.go"}, 1, 100, "it deletes a.go, which the task does not name"},
		{[]string{"a", "b", "c", "d", "e", "f", "g"}, 7, 100, "it deletes a, b, c, d, e and 2 more, which the task does not name"},
		{[]string{"a.go"}, 2, 3, "it deletes a.go, which the task does not name; it deletes 2 of 3 files"},
	} {
		var got []string
		for _, u := range review.FilesGone(tt.unnamed, tt.deleted, tt.before) {
			got = append(got, u.Message)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%q of %d deletions in %d files: %q", tt.unnamed, tt.deleted, tt.before, got)
		}
		if why, ids := (review.Policy{}).ForPerson(nil, nil, review.FilesGone(tt.unnamed, tt.deleted, tt.before)); (why != "") != (tt.want != "") || len(ids) != len(got) {
			t.Errorf("%q: a person decides %v because %q", tt.want, ids, why)
		}
	}
}
