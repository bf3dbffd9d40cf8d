package review_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/review"
)

func ptr(n int64) *int64 { return &n }

// sample has every field, so that each can be given a hostile text.
func sample(v review.Verdict) review.Payload {
	return review.Payload{
		ChangeID:    "add-cache",
		Verdict:     v,
		Summary:     "Adds a cache in front of the store.",
		TestResults: &review.TestResults{Passed: ptr(9), Failed: ptr(1), Total: ptr(10)},
		Issues: []review.Issue{
			{Title: "Cache is never emptied", Severity: review.Medium, Category: "Performance",
				File: "cache/cache.go", Line: ptr(41), Description: "Entries stay for ever.", Recommendation: "Bound it."},
			{Title: "Race on the map", Severity: review.High, Category: "Bug",
				File: "cache/cache.go", Line: ptr(12), Description: "Get and Set share a map.\nNo lock is held.",
				Recommendation: "Take the lock.\n\nThen test with -race."},
		},
	}
}

var verdicts = []review.Verdict{review.Approved, review.NeedsFix, review.MajorIssues}

// fields are the free-text fields of a payload.
var fields = []struct {
	name string
	set  func(*review.Payload, string)
}{
	{"summary", func(p *review.Payload, s string) { p.Summary = s }},
	{"title", func(p *review.Payload, s string) { p.Issues[0].Title = s }},
	{"category", func(p *review.Payload, s string) { p.Issues[0].Category = s }},
	{"file", func(p *review.Payload, s string) { p.Issues[0].File = s }},
	{"file without line", func(p *review.Payload, s string) { p.Issues[0].File, p.Issues[0].Line = s, nil }},
	{"description", func(p *review.Payload, s string) { p.Issues[0].Description = s }},
	{"recommendation", func(p *review.Payload, s string) { p.Issues[1].Recommendation = s }},
}

// blank holds for texts that only an optional field may have.
func blank(s string) bool {
	p := review.Payload{Issues: []review.Issue{{Title: s}}}
	return review.Clean(p).Issues[0].Title == ""
}

func optional(field string) bool {
	return strings.HasPrefix(field, "file") || field == "recommendation"
}

// checkRoundTrip compares what stands in the file with the cleaned payload.
func checkRoundTrip(t *testing.T, p review.Payload, warnings []string) {
	t.Helper()
	// What was decided about an issue, and what ties it to the code, has the same texts.
	findings := review.Identify(review.Clean(p).Issues)
	for i := range findings {
		f := &findings[i]
		if decision := []string{"", review.DecidedDismissed, review.DecidedRefuted}[(i+len(p.Summary))%3]; decision != "" {
			f.Quote, f.Suggestion, f.Decision, f.Reason = f.Description, f.Recommendation, decision, f.Title
			f.FoundBy = []string{f.Title, f.Category}
		}
		f.Confidence = append([]string{""}, review.Confidences...)[(i+len(p.ChangeID))%4]
		f.Checked = []string{"", review.Confirmed, review.Refuted, review.Unclear}[(i+len(p.Summary))%4]
	}
	data := review.FormatFindings(p, findings, warnings)
	got := review.Read(data)
	want := review.Reading{Verdict: p.Verdict, Complete: true, Payload: review.Clean(p), Findings: findings,
		Warnings: warnings}
	if len(findings) == 0 {
		want.Findings = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("read of what was written (-want +got):\n%s\nfile:\n%s", diff, data)
	}
	if diff := cmp.Diff(review.Clean(p), review.Clean(review.Clean(p))); diff != "" {
		t.Fatalf("cleaning twice differs (-once +twice):\n%s", diff)
	}
	if agentd, err := review.AgentdVerdict(data); err != nil || agentd != p.Verdict {
		t.Fatalf("Agentd reads %v (error %v), want %v\nfile:\n%s", agentd, err, p.Verdict, data)
	}
}

func TestRandomPayloadsSurviveTheFile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 6000 / full.Stride(6, 1) {
		checkRoundTrip(t, randomPayload(r), nil)
	}
}

func randomPayload(r *rand.Rand) review.Payload {
	p := review.Payload{ChangeID: "c" + strings.Repeat("-x", r.IntN(3)), Verdict: verdicts[r.IntN(3)], Summary: required(r)}
	if r.IntN(2) == 0 {
		p.TestResults = &review.TestResults{Passed: randomInt(r), Failed: randomInt(r), Total: randomInt(r)}
	}
	for range r.IntN(4) {
		p.Issues = append(p.Issues, review.Issue{
			Title:          required(r),
			Severity:       review.Severity(review.Severities[r.IntN(3)]),
			Category:       required(r),
			File:           randomText(r),
			Line:           randomInt(r),
			Description:    required(r),
			Recommendation: randomText(r),
		})
	}
	return p
}

func randomInt(r *rand.Rand) *int64 {
	switch r.IntN(3) {
	case 0:
		return nil
	case 1:
		return ptr(int64(r.Uint64()))
	}
	return ptr(int64(r.IntN(7) - 2))
}

func required(r *rand.Rand) string {
	for {
		if s := randomText(r); !blank(s) {
			return s
		}
	}
}

// randomText is made of the pieces that mean something to a reader of the file,
// so that a few of them often meet.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

var pieces = []string{
	"[", "x", "X", "]", "[x]", "[X]", " ", " approved", " APPROVED", " needs_changes", "#", "##", "# ", "verdict", "Verdict", "## verdict",
	"\\", "\\\\", "\n", "\n\n", "\r", "\r\n", "\t", "  ", "    ", "<", "a", "/", "!", "?", "<!--", "-->", "<b>", "](", "(", ")", "]:", ":", ":12", ":-3",
	"-", "- ", "*", "+ ", "1", ".", "1. ", "2) ", "`", "```", "~~~", ">", "> ", "  > ", "---", "===", "___", "|", "&lt;", "\x00", "\x1b[31m", "\u202e",
	"\u2066", "\u200b", "\ufeff", "\u0085", "\u2028", "\u00a0", "é", "🙂", "\xff", "- **File**: ", "### Issue: ", "## Issues", "- **Line**: none", "none", "Bug", "bug",
}
