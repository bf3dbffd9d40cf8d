package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// TestReviewsArePages: a review that belongs to no change is listed with its verdict and
// shown with its findings, as text.
func TestReviewsArePages(t *testing.T) {
	t.Parallel()
	s := site(t.TempDir())
	folder := filepath.Join(s.Home, "reviews", "20260302-guard")
	must.Do(t, os.MkdirAll(folder, 0o700))
	written := must.Get(review.FormatMarkdown(codec.Of(tidegate.Pairs("change_id", "guard", "verdict", "NEEDS_FIX", "summary", "The <b>guard</b> is gone.",
		"issues", []tidegate.Details{tidegate.Pairs("title", "Nobody checks the token", "severity", "High", "category", "Security", "file", "login.go", "line", 7, "description", "It was deleted.")})), false))(t)
	for name, text := range map[string]string{
		"review.json":   `{"schema_version":"review.v1","created_at":"2026-03-02T09:00:00Z","project":` + quoted(s.Project) + `,"name":"guard"}`,
		"reviewed.json": `{"verdict":"NEEDS_FIX"}`,
		"REVIEW.md":     written.Markdown,
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	b := visit(t, s, nil)
	_, list := b.get(t, "/reviews")
	inOrder(t, list, "<h1>Reviews</h1>", `<a href="/reviews/20260302-guard">20260302-guard</a>`)
	status, page := b.get(t, "/reviews/20260302-guard")
	if status != 200 {
		t.Fatalf("%d:\n%s", status, page)
	}
	inOrder(t, page, "<main", "Review ·", "The &lt;b&gt;guard&lt;/b&gt; is gone.", "Nobody checks the token", "login.go", "line 7")
	_, list = b.get(t, "/reviews?q=moon")
	inOrder(t, list, "Nothing has these words.", "</main")
	must.Do(t, os.WriteFile(filepath.Join(folder, "REVIEW.md"), []byte("# Verdict: NEEDS_FIX\n"), 0o600))
	_, page = b.get(t, "/reviews/20260302-guard")
	inOrder(t, page, "needs a fix", `<h1 id="h-review">20260302-guard</h1>`, "not the layout of tidegate")
	for _, path := range []string{"/reviews/none", "/reviews/..%2f..%2fharbour"} {
		if status, _ := b.get(t, path); status != 404 {
			t.Errorf("%s is answered with %d", path, status)
		}
	}
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}
