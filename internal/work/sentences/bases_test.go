package sentences

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// TestControlsAreMadeFromOutputs reads what an output says with its source, however it
// names it, and leaves out what it lists.
func TestControlsAreMadeFromOutputs(t *testing.T) {
	port, bare := source.CID("https://example.org/port"), source.CID("https://example.org/bare")
	checked := &checkedSentences{language: "en", pages: &citedPages{sources: []evidence.Source{{CID: port}, {CID: bare}},
		read: map[string]*claim.Page{port: {CID: port, Text: "A page."}, bare: nil}}}
	const output = `## Findings

Tugs of Karholm ran on batteries in 1999 (https://example.org/port). The fleet of Velstad followed [in a report](https://example.org/port).
Cranes at Munburg came later <https://example.org/port>.

This one has a page without a text (https://example.org/bare). Nobody says where this comes from.

## Gaps

- (P1) What a tug of Karholm costs by the year https://example.org/port

## Sources

- Port statistics of the coast and its harbours https://example.org/port
`
	var got []string
	for _, b := range checked.basesOf(citingURLs(output)) {
		got = append(got, b.Text)
	}
	want := []string{"Tugs of Karholm ran on batteries in 1999.", "The fleet of Velstad followed in a report.", "Cranes at Munburg came later."}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
