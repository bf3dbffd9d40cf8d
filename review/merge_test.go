package review_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/review"
)

func at(line int64) *int64 { return &line }

func count(n int64) *int64 { return &n }

func TestMerge(t *testing.T) {
	t.Parallel()
	one := review.Payload{
		ChangeID: "c", Verdict: review.Approved, Summary: "Good.",
		TestResults: &review.TestResults{Passed: count(3), Failed: count(0)},
		Issues: []review.Issue{
			{Title: "Leak on line 4", Severity: review.Low, Category: "Bug", File: "a.go", Line: at(4), Description: "it leaks"},
			{Title: "Unused", Severity: review.Low, Category: "Style", File: "a.go", Line: at(9), Description: "unused"},
		},
	}
	two := review.Payload{
		ChangeID: "other", Verdict: review.NeedsFix, Summary: "Bad.",
		TestResults: &review.TestResults{Passed: count(2), Failed: count(1)},
		Issues: []review.Issue{
			{Title: "leak  on line 4", Severity: review.High, Category: "bug", File: "./a.go", Line: at(4), Description: "it leaks a file", Recommendation: "close it"},
			{Title: "Unused", Severity: review.Low, Category: "Style", File: "a.go", Line: at(10), Description: "unused"},
		},
	}
	want := review.Payload{
		ChangeID: "c", Verdict: review.NeedsFix, Summary: "Good.\n\nBad.", TestResults: two.TestResults,
		Issues: []review.Issue{
			{Title: "Leak on line 4", Severity: review.High, Category: "Bug", File: "a.go", Line: at(4), Description: "it leaks a file", Recommendation: "close it"},
			{Title: "Unused", Severity: review.Low, Category: "Style", File: "a.go", Line: at(9), Description: "unused"},
			{Title: "Unused", Severity: review.Low, Category: "Style", File: "a.go", Line: at(10), Description: "unused"},
		},
	}
	if diff := cmp.Diff(want, review.Merge(one, two)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

// TestMergeLosesNothing merges reviews of random issues: each is in the result
// once, no less grave, the verdict is no better than any of theirs, and merging
// again changes nothing.
func TestMergeLosesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for range 200 {
		var reviews []review.Payload
		for range 1 + random.IntN(4) {
			p := review.Payload{ChangeID: "c", Verdict: review.Verdict(pick(review.Verdicts...)), Summary: pick("a", "b")}
			for range random.IntN(6) {
				p.Issues = append(p.Issues, review.Issue{
					Title: pick("x", "X", "y"), Severity: review.Severity(pick(review.Severities...)), Category: pick("Bug", "bug"),
					File: pick("", "a", "./a"), Line: at(random.Int64N(2)), Description: pick("d", "de"),
				})
			}
			reviews = append(reviews, p)
		}
		merged := review.Merge(reviews...)
		for _, p := range reviews {
			if d := review.Merge(merged, p); !cmp.Equal(d, merged) {
				t.Fatalf("a review that was merged changes the result: %s", cmp.Diff(merged, d))
			}
			if p.Verdict != review.Approved && merged.Verdict == review.Approved {
				t.Fatalf("%s became %s", p.Verdict, merged.Verdict)
			}
			if p.Counts().High > 0 && merged.Counts().High == 0 {
				t.Fatal("a High issue is lost")
			}
		}
	}
}
