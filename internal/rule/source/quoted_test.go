package source_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/source"
)

// TestQuotationsAreThoseOfASearch compares the quotations that are found at quotation
// marks with those of the same expression searched for everywhere.
func TestQuotationsAreThoseOfASearch(t *testing.T) {
	t.Parallel()
	search := regexp.MustCompile(`["“]([^"“”\n]{3,400})["”]\s*\(?<?(https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)`)
	pieces := []string{`"some words" (https://example.org/q)`, `"`, `"`, "“", "”", "words", " that are said", "\n", " ", "(", ")", "<", ">", "https://example.org/a", "http://b.example/x_(y)", ".", "\x80", "é", strings.Repeat("long ", 90)}
	dice := rand.New(rand.NewPCG(1, 2))
	all := 0
	for range 5_000 {
		var b strings.Builder
		for range 1 + dice.IntN(14) {
			b.WriteString(pieces[dice.IntN(len(pieces))])
		}
		text := b.String()
		var want [][2]string
		for _, m := range search.FindAllStringSubmatch(text, -1) {
			want = append(want, [2]string{m[1], m[2]})
		}
		var got [][2]string
		for words, url := range source.Quoted([]byte(text)) {
			got = append(got, [2]string{string(words), string(url)})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		all += len(want)
	}
	if all < 1000 {
		t.Errorf("only %d quotations were tried", all)
	}
}
