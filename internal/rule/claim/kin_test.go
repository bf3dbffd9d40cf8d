package claim_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
)

// TestWindowsOfOtherLanguages: of sentences that translators wrote, most have the sentence
// that they translate in the first window of its page, and nearly all in one of those shown.
func TestWindowsOfOtherLanguages(t *testing.T) {
	folder := filepath.Join("testdata", "languages")
	pairs, first, shown := 0, 0, 0
	for line := range strings.Lines(must.Read(t, filepath.Join(folder, "pairs.tsv"))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 4 {
			continue
		}
		p := &claim.Page{CID: "a", Text: page.Read([]byte(must.Read(t, filepath.Join(folder, fields[1]))), page.MarkdownType).Text}
		want := page.TidySpace(page.Read([]byte(fields[3]), page.MarkdownType).Text)
		found := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: fields[2], Language: fields[0], CIDs: []string{"a"}}}, func(string) (*claim.Page, error) { return p, nil }, claim.Titles{}))(t)
		at := slices.IndexFunc(found[0].Windows, func(w claim.Window) bool { return strings.Contains(page.TidySpace(w.Text), want) })
		pairs++
		if at >= 0 {
			shown++
		}
		if at == 0 {
			first++
		}
	}
	t.Logf("of %d sentences %d stand in the first window and %d in one that is shown", pairs, first, shown)
	if pairs < 30 || 3*first < 2*pairs || 10*shown < 9*pairs {
		t.Errorf("of %d sentences %d stand in the first window and %d in one that is shown", pairs, first, shown)
	}
}
