package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// section is the lines of the sections with that title as "number place text".
func section(t *testing.T, doc, title string) []string {
	t.Helper()
	got := []string{}
	var s markdown.Scanner
	must.Get(s.Scan(strings.NewReader(doc), markdown.Events{
		Heading: func(h markdown.Heading) bool { return string(h.Text) == title },
		Line: func(l markdown.Line) {
			if !l.First || !l.Last {
				t.Errorf("line %d comes in pieces", l.Number)
			}
			got = append(got, fmt.Sprintf("%d %d %s", l.Number, l.In, l.Text))
		},
	}))(t)
	return got
}

func TestSectionLines(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"to the next heading of any level", "x\n## Gaps\n- a\n\n### Sub\n- b\n## Gaps\n- c", []string{"3 0 - a", "4 0 ", "8 0 - c"}},
		{"line ends are not text", "# Gaps\r\na\rb\r\n\r\nc\n", []string{"2 0 a", "3 0 b", "4 0 ", "5 0 c"}},
		{"fence", "# Gaps\n```\n- a\n```\n- b\n", []string{"2 1 ```", "3 1 - a", "4 1 ```", "5 0 - b"}},
		{"comment", "# Gaps\n<!-- a\n- b\n\n-->\n- c\n", []string{"2 2 <!-- a", "3 2 - b", "4 2 ", "5 2 -->", "6 0 - c"}},
		{"other HTML", "# Gaps\n<div>\n- a\n\n- b\n", []string{"2 3 <div>", "3 3 - a", "4 0 ", "5 0 - b"}},
		{"in a quote in an item", "# Gaps\n- x\n\n  > ~~~\n  > - a\n- b\n", []string{"2 0 - x", "3 0 ", "4 1   > ~~~", "5 1   > - a", "6 0 - b"}},
		{"an item's first line is text", "# Gaps\n- ```\n  - a\n  ```\n- <!-- b -->\n", []string{"2 0 - ```", "3 1   - a", "4 1   ```", "5 0 - <!-- b -->"}},
		{"a blank line ends a quote", "# Gaps\n> - a\n\n>    ```\n> - b\n", []string{"2 0 > - a", "3 0 ", "4 1 >    ```", "5 1 > - b"}},
		{"indented code is text", "# Gaps\n\n    - a\n", []string{"2 0 ", "3 0     - a"}},
		{"a heading in code ends nothing", "# Gaps\n```\n# a\n```\n- b\n", []string{"2 1 ```", "3 1 # a", "4 1 ```", "5 0 - b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, section(t, test.doc, "Gaps")); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPassages(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"paragraphs", "a\n b \n\n> c\n\nd\n===\n", []string{"1 false a\nb", "4 false c"}},
		{"items", "- a\n  b\n\n  c\n1) d\n-\n", []string{"1 true a\nb\nc", "5 true d"}},
		{"items in items", "- a\n  - b\n\n  c\n\nd\n", []string{"1 true a", "2 true b", "4 false c", "6 false d"}},
		{"lazy lines", "- a\nb\n> c\nd\n", []string{"1 true a\nb", "3 false c\nd"}},
		{"code and headings in items", "- # a\n  ```\n  b\n  ```\n\n      c\n- d\n  ---\n", []string{"1 true a\nb\nc", "7 true d"}},
		{"code and HTML elsewhere", "    a\n\n```\nb\n```\n<div>\nc\n", nil},
		{"comments", "- a\n  <!-- b -->\n  c\n\n<!-- d -->\n", []string{"1 true a\nc"}},
		{"definitions", "[a]: b\n'c'\nd\n\n[e]: f\n\n- [g]: h\n  i\n", []string{"3 false d", "7 true i"}},
		{"definition that fails at its title", "[a]: b\n'c\nd\n", []string{"2 false 'c\nd"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			var s markdown.Scanner
			must.Get(s.Scan(strings.NewReader(test.doc), markdown.Events{Passage: func(p markdown.Passage) {
				got = append(got, fmt.Sprintf("%d %v %s", p.Line, p.Item, p.Text))
			}}))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("passages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThematicBreak(t *testing.T) {
	for line, want := range map[string]bool{
		"---": true, "- - -": true, "\t*\t* *  ": true, "___": true, "      -----": true,
		"": false, "--": false, "- -": false, "--*": false, "--- x": false, "+++": false, "===": false, "---\f": false,
	} {
		if got := markdown.ThematicBreak([]byte(line)); got != want {
			t.Errorf("ThematicBreak(%q) = %v, want %v", line, got, want)
		}
	}
}
