package review_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

// FuzzReview puts arbitrary texts into every field: whatever is valid survives
// the file, for every reader.
func FuzzReview(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, hostile[(i+7)%len(hostile)], hostile[(i+31)%len(hostile)], i)
	}
	f.Fuzz(func(t *testing.T, a, b, c string, n int) {
		p := sample(verdicts[uint(n)%3])
		for i, field := range fields {
			field.set(&p, []string{a, b, c}[(uint(n)+uint(i))%3])
		}
		if _, _, err := review.Parse(codec.Of(p), false); err != nil {
			t.Skip("not a valid payload")
		}
		checkRoundTrip(t, p, nil)
	})
}

// FuzzRead reads arbitrary files: a complete reading is exactly what the file
// says, and no other file of the same content exists.
func FuzzRead(f *testing.F) {
	for _, verdict := range verdicts {
		f.Add(string(review.Format(sample(verdict), nil)))
		f.Add(string(review.Format(sample(verdict), []string{"a", "[x] approved"})))
	}
	f.Add(filledSkeleton)
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, file string) {
		shown := review.Show("REVIEW.md", []byte(file))
		got := review.Read([]byte(file))
		if !got.Complete {
			if got.Verdict == "" && len(got.Problems) == 0 {
				t.Fatal("no verdict and no problem")
			}
			return
		}
		if !shown.Agree {
			t.Fatalf("complete, but Agentd reads %s for %s", shown.AgentdVerdict, shown.Verdict)
		}
		written := review.FormatFindings(got.Payload, got.Findings, got.Warnings)
		if string(written) != strings.ReplaceAll(strings.TrimPrefix(file, "\ufeff"), "\r\n", "\n") {
			t.Fatalf("written again:\n%s\nfile:\n%s", written, file)
		}
		if diff := cmp.Diff(review.Clean(got.Payload), got.Payload); diff != "" {
			t.Fatalf("the payload that was read is not clean (-clean +read):\n%s", diff)
		}
	})
}
