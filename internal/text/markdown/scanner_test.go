package markdown_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// headings are the top-level headings of doc as "line level text", one a line.
func headings(t testing.TB, r io.Reader) string {
	t.Helper()
	var b strings.Builder
	var s markdown.Scanner
	must.Get(s.Scan(r, markdown.Events{Heading: func(h markdown.Heading) bool {
		fmt.Fprintf(&b, "%d %d %s\n", h.Line, h.Level, h.Text)
		return false
	}}))(t)
	return b.String()
}

func TestHeadings(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"levels", "# a\n## b\n###### c\n####### d\n", "1 1 a\n2 2 b\n3 6 c\n"},
		{"closing marks", "## a ##\n## a##\n## a ## b\n# #\n## \\#\n### ###  \n", "1 2 a\n2 2 a##\n3 2 a ## b\n4 1 \n5 2 \\#\n6 3 \n"},
		{"indentation", "   # a\n    # b\n\n\t# c\n", "1 1 a\n"},
		{"no blank after the marks", "#a\n#\n#\u00a0a\n#\ta\n", "2 1 \n4 1 a\n"},
		{"unicode blanks are trimmed", "# \u00a0a\u3000\n", "1 1 a\n"},
		{"fences", "```\n# a\n~~~\n````\n# b\n~~~ `\n# c\n~~~~  \n# d\n``` `\n# e\n", "5 1 b\n9 1 d\n11 1 e\n"},
		{"unclosed fence", "```\n# a\n\n# b", ""},
		{"fence in an item ends with it", "- ```\n# a\n", "2 1 a\n"},
		{"containers", "- # a\n> # b\n1. # c\n\n   # d\n# e\n", "6 1 e\n"},
		{"lazy line", "> a\n    # b\n# c\n", "3 1 c\n"},
		{"comment", "<!--\n# a\n\n-->\n# b\n<!-- --> # c\n# d\n", "5 1 b\n7 1 d\n"},
		{"block tag ends at a blank line", "<div>\n# a\n\n# b\n", "4 1 b\n"},
		{"any tag does not interrupt a paragraph", "x\n<a>\n# a\n\n<a>\n# b\n", "3 1 a\n"},
		{"closing raw tag is any tag", "</pre>\n# a\n", ""},
		{"raw tag with a slash is text", "<pre/>\n# a\n", "2 1 a\n"},
		{"setext headings do not count", "a\n===\n# b\n", "3 1 b\n"},
		{"definition has nothing to underline", "[a]: b\n===\n<a>\n# c\n", "4 1 c\n"},
		{"text after a definition is underlined", "[a]: b\nc\n===\n<a>\n# d\n", ""},
		{"longest label", "[" + strings.Repeat("é", 999) + "]: b\n===\n<a>\n# c\n", "4 1 c\n"},
		{"label too long for a definition", "[" + strings.Repeat("é", 1000) + "]: b\n===\n<a>\n# c\n", ""},
		{"item of a definition goes on after blank lines", "- [a]: b\n\n\n  # c\n", ""},
		{"empty item ends at a blank line", "-\n\n  # a\n", "3 1 a\n"},
		{"ten digits are not a number", "1234567890. # a\n\n            # b\n# c\n", "4 1 c\n"},
		{"only 1 interrupts a paragraph", "a\n2. b\n\n   # c\n\nd\n1. e\n\n   # f\n", "4 1 c\n"},
		{"line ends", "# a\r# b\r\n# c\n\r# d", "1 1 a\n2 1 b\n3 1 c\n5 1 d\n"},
		{"byte-order mark", "\ufeff# a\n\ufeff# b\n", "1 1 a\n"},
		{"NUL is text", "# \x00a\n\x00# b\n", "1 1 \x00a\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, headings(t, strings.NewReader(test.doc))); diff != "" {
				t.Errorf("headings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, headings(t, iotest.OneByteReader(strings.NewReader(test.doc)))); diff != "" {
				t.Errorf("headings, read byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanReturnsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	long := strings.Repeat("x", 2*markdown.MaxLine)
	for _, text := range []string{"", "a", "# a\n", long} {
		var s markdown.Scanner
		_, err := s.Scan(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), markdown.Events{})
		if err != broken {
			t.Errorf("after %d bytes: error %v, want %v", len(text), err, broken)
		}
		n, err := s.Scan(strings.NewReader("a b"), markdown.Events{})
		if n != 2 || err != nil {
			t.Errorf("the next scan has %d words and error %v, want 2 and none", n, err)
		}
	}
	var s markdown.Scanner
	if _, err := s.Scan(stuckReader{}, markdown.Events{}); err != io.ErrNoProgress {
		t.Errorf("a reader that gives nothing: error %v, want %v", err, io.ErrNoProgress)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func ExampleScanner_Scan() {
	output := `# Findings
Tides are predictable.

` + "```" + `
## Sources
` + "```" + `

## Sources
- https://example.org/tides
`
	var s markdown.Scanner
	words, err := s.Scan(strings.NewReader(output), markdown.Events{
		Heading: func(h markdown.Heading) bool {
			fmt.Printf("line %d: %s\n", h.Line, h.Text)
			return string(h.Text) == "Sources"
		},
		Line: func(l markdown.Line) { fmt.Printf("line %d: %s\n", l.Number, l.Text) },
	})
	fmt.Println(words, "words,", err)
	// Output:
	// line 1: Findings
	// line 8: Sources
	// line 9: - https://example.org/tides
	// 13 words, <nil>
}
