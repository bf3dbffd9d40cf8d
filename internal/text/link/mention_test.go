package link_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/text/link"
)

// findMentions lists what stands between the brackets of the citations of a text.
func findMentions(text string) []string {
	var found []string
	for at := 0; ; {
		m, ok := link.NextMention([]byte(text), at)
		if !ok {
			return found
		}
		found = append(found, string(m.CID([]byte(text))))
		at = m.End
	}
}

func TestCitations(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"one", "Grew [@cid_a].", []string{"cid_a"}},
		{"several", "[@a][@b] x [@a]", []string{"a", "b", "a"}},
		{"any characters", "[@a b,;:é \\\"@[*]", []string{"a b,;:é \\\"@[*"}},
		{"empty", "[@]", []string{""}},
		{"blank", "[@ \t]", []string{" \t"}},
		{"a mark inside", "[@a [@b]", []string{"a [@b"}},
		{"in code", "`[@a]`\n```\n[@b]\n```\n", []string{"a", "b"}},
		{"in a comment", "<!-- [@a] -->", []string{"a"}},
		{"as the text of a link", "[@a](x)", []string{"a"}},
		{"in brackets", "[[@a]]", []string{"a"}},
		{"bytes that are not UTF-8", "[@\xff]", []string{"\xff"}},
		{"broken by LF", "[@a\nb]", nil},
		{"broken by CR", "[@a\rb] [@c]", []string{"c"}},
		{"not broken by other separators", "[@a\u2028b]", []string{"a\u2028b"}},
		{"not closed", "x [@a", nil},
		{"not closed on its line", "[@a [@b\n[@c]", []string{"c"}},
		{"blank before the mark", "[ @a]", nil},
		{"no mark", "[a] @a (@a)", nil},
		{"mark at the end", "[@", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, findMentions(test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var mention = regexp.MustCompile(`\[@([^\]\r\n]*)\]`)

// FuzzCitations: citations are found as the rule, written as a regular
// expression, finds them.
func FuzzCitations(f *testing.F) {
	for _, seed := range []string{"[@a] [@", "[@[@b]\r\n[@]", "\xff[@\xfe]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want []string
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			want = append(want, match[1])
		}
		if diff := cmp.Diff(want, findMentions(text)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
