package web

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestAnArchivedTextShowsWhatItHides: markup on an archived page is text, and characters
// that hide or reorder text are named.
func TestAnArchivedTextShowsWhatItHides(t *testing.T) {
	const hostile = "<script>pwned=1</script>\u202egnp.exe\u2066\u200b"
	var out strings.Builder
	view := archivedView{Title: hostile, URL: hostile, Sentence: hostile, Parts: []passagePart{{hostile + "\nsecond line", false}, {hostile, true}}}
	must.Do(t, archivedTemplate().Execute(&out, view))
	for _, bad := range []string{"<script", "\u202e", "\u2066", "\u200b"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(out.String(), "\nsecond line") || !strings.Contains(out.String(), `\u202e`) {
		t.Errorf("the page:\n%s", out.String())
	}
}
