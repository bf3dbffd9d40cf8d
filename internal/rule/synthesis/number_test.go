package synthesis

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var exampleRow = regexp.MustCompile("^\\| (`{1,2})(.*?) ?`{1,2} \\| (.*) \\|$")

// TestDocumentedNumbers checks docs/numbers.md against what is found.
func TestDocumentedNumbers(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/numbers.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, line := range strings.Split(string(doc), "\n") {
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
	read([]byte(text)).eachLeaf(func(b *block) {
		for _, n := range b.leaf.numbers() {
			out = append(out, n.token)
		}
	})
	return out
}
