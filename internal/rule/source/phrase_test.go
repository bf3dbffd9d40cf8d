package source_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestOnePassFindsTheSamePhrase looks for phrases that overlap, begin alike and
// have several bytes to a character, in texts made of their parts.
func TestOnePassFindsTheSamePhrase(t *testing.T) {
	t.Parallel()
	const lines = "page not found\nnot found\nfoun\nnot here\nnothing here\nseite nicht gefunden\nпідписка\n訂閱\n订阅\naaa\naab\nnot"
	parts := []string{"page ", "not ", "found", "foun", "no", "thing ", "here", "seite nicht ", "gefunden", "під", "писка", "訂", "閱", "订", "阅", "a", "aa", "b", "\n", ""}
	random := rand.New(rand.NewPCG(1, 2))
	found := map[string]int{}
	for i := 0; i < 20_000; i += full.Stride(20_000, 5_000) {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		got, want := source.FirstIn(lines, text.String())
		if got != want {
			t.Fatalf("%q: found %q in one pass, want %q", text.String(), got, want)
		}
		found[got]++
	}
	for phrase := range strings.SplitSeq(lines, "\n") {
		if found[phrase] == 0 {
			t.Errorf("no text has %q as its first phrase", phrase)
		}
	}
}
