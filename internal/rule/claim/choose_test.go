package claim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
)

// TestChooser: each question gets the windows that fit it, from anywhere in any page,
// within its room and in the order of the pages.
func TestChooser(t *testing.T) {
	page := func(cid, special string) *claim.Page {
		var b strings.Builder
		for i := range 400 {
			if i == 321 {
				b.WriteString(special + "\n")
			}
			fmt.Fprintf(&b, "On day %d the keeper of the lamp wrote that the sea was grey and that nothing else had happened before supper.\n", i)
		}
		return &claim.Page{CID: cid, Text: b.String()}
	}
	c := claim.NewChooser([]string{"How strong is the tug?", "What does the crane of 1987 weigh?", "Quoi?"}, 2000)
	c.Look(page("a", "The tug pulls 68 tonnes at the bollard."))
	c.Look(&claim.Page{CID: "empty"})
	c.Look(page("b", "The crane weighs 400 tonnes since 1987."))
	c.Look(page("c", "A strong tug came by."))
	for i, want := range [][]string{{"c A strong tug", "a The tug pulls 68"}, {"b The crane weighs 400"}, nil} {
		size := 0
		for k, w := range c.Chosen(i) {
			size += len(w.Text)
			if k < len(want) {
				if cid, text, _ := strings.Cut(want[k], " "); w.CID != cid || !strings.Contains(w.Text, text) {
					t.Errorf("question %d, window %d: %s %q", i, k, w.CID, w.Text)
				}
			}
		}
		if size > 2000 || len(c.Chosen(i)) < len(want) || want == nil && size > 0 {
			t.Errorf("question %d: %d windows of %d bytes", i, len(c.Chosen(i)), size)
		}
	}
}

// TestChooserOverPages: what a word weighs follows from all pages, so that a page about the
// subject of a question comes before those that have other words of it, and a heading counts.
func TestChooserOverPages(t *testing.T) {
	chooser := claim.NewChooser([]string{"How well does it work with compatible storage?"}, 3000)
	for i := range 4 {
		filler := strings.Repeat("Each keeper of a lamp can work well for years and will work again.\n", 90)
		chooser.Look(&claim.Page{CID: fmt.Sprint("other", i), Text: filler + "It is fine at work.\n" + strings.Repeat("The sea was grey.\n", 30)})
	}
	chooser.Look(&claim.Page{CID: "subject", Text: "Compatible storage\n" + strings.Repeat("Compatible storage is asked for by its address.\n", 30), Headings: []string{"Compatible storage"}, Places: []int{0}})
	if best := chooser.Chosen(0); len(best) == 0 || best[0].CID != "subject" {
		t.Errorf("the first window is not of the page about the subject: %+v", best)
	}
}
