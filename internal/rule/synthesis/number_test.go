package synthesis

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

var exampleRow = regexp.MustCompile("^\\| (`{1,2})(.*?) ?`{1,2} \\| (.*) \\|$")

// TestDocumentedNumbers checks the numbers of docs/rules.md against what is found.
func TestDocumentedNumbers(t *testing.T) {
	doc := must.Get(os.ReadFile("../../../docs/rules.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n## Numbers\n")
	section, _, _ = strings.Cut(section, "\n### What must be on the page\n")
	examples := 0
	for _, line := range strings.Split(section, "\n") {
		row := exampleRow.FindStringSubmatch(line)
		if row == nil {
			if strings.HasPrefix(line, "| `") {
				t.Errorf("not an example: %s", line)
			}
			continue
		}
		examples++
		text := row[2]
		if len(row[1]) == 2 { // the code span holds one itself
			text = strings.TrimSuffix(text, " ")
		}
		want := strings.Split(row[3], " · ")
		if row[3] == "–" {
			want = nil
		}
		if diff := cmp.Diff(want, tokens(text)); diff != "" {
			t.Errorf("%s (-documented +found):\n%s", text, diff)
		}
	}
	if examples < 30 {
		t.Errorf("only %d examples were read", examples)
	}
}

// tokens are the numbers of a text.
func tokens(text string) []string {
	var out []string
	draft.Read(markdown.Read([]byte(text))).EachLeaf(func(b *draft.Block) {
		for _, n := range numbersIn(b.Leaf) {
			out = append(out, n.token)
		}
	})
	return out
}
