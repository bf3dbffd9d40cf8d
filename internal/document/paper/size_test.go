package paper_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestALargeReportIsAtMostThreeTimesItsText: what stands beside sentences has its limit; the
// sentences, their states and their numbers have none.
func TestALargeReportIsAtMostThreeTimesItsText(t *testing.T) {
	full.Story(t)
	page := strings.Repeat("The yard says that a tug needs 3.0 MW at the berth on a winter evening. ", 8)
	r := paper.Report{Question: "q", Program: "tidegate", Sources: []paper.Source{{CID: "a", Title: "A", URL: "https://a.example/", Status: "valid", Text: page}}}
	var text strings.Builder
	part := paper.Part{}
	for i := 0; text.Len() < 5<<20; i++ {
		s := paper.ShownSentence{Claim: evidence.Claim{ID: fmt.Sprintf("c%d", i+1), Form: evidence.Cited, CIDs: []string{"a"}, Standing: claim.Found,
			Text: fmt.Sprintf("Tug %d needs 3.0 MW at the berth, which is as much as two thousand houses of the town draw together on a winter evening.", i), Windows: []claim.Window{{CID: "a", End: len(page), Text: page}}}}
		s.Start = text.Len()
		text.WriteString(s.Text + " [@a]\n\n")
		s.End = text.Len() - 2
		part.Sentences = append(part.Sentences, s)
	}
	part.Text = []byte(text.String())
	r.Parts = []paper.Part{part}
	html := r.HTML()
	if len(html) > 3*text.Len() || strings.Count(string(html), `data-state="stands"`) < len(part.Sentences) {
		t.Errorf("%d bytes for a text of %d", len(html), text.Len())
	}
}
