package tidegate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestWordsForHowSentencesStand: the README says what is checked in the words that reports
// use, and no text that people read promises more.
func TestWordsForHowSentencesStand(t *testing.T) {
	data := must.Get(os.ReadFile("README.md"))(t)
	_, checked, _ := strings.Cut(string(data), "## What is checked, and what is not")
	checked, _, _ = strings.Cut(checked, "\n## ")
	for _, words := range []string{"stands on the cited page", "confirmed by a second reader", "calculated", "inferred", "not confirmed"} {
		if !strings.Contains(checked, words) {
			t.Errorf("the README does not say %q", words)
		}
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "internal/face/web/pages/*.html", "internal/face/web/testdata/*.html", "cmd/tidegate/testdata/*.txt", "internal/document/paper/testdata/checked/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			text := must.Get(os.ReadFile(name))(t)
			for _, promise := range []string{"claims are on the pages they cite", "claims are on the page they cite", "claims are true", "verified claims"} {
				if strings.Contains(strings.ToLower(string(text)), promise) {
					t.Errorf("%s says %q", name, promise)
				}
			}
		}
	}
}
