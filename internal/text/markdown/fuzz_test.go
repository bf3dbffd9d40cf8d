package markdown_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzHeadings checks for any bytes what must be true of all documents: the facts
// do not depend on how the bytes are read, words are fields, lines are numbered as
// they stand, and goldmark finds the same headings unless it stands alone.
func FuzzHeadings(f *testing.F) {
	rnd := rand.New(rand.NewPCG(6, 0))
	for range 200 {
		f.Add([]byte(document(rnd, 12)))
	}
	for _, doc := range crossings() {
		if rnd.IntN(500) == 0 {
			f.Add([]byte(doc))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		want := ours(t, string(doc))
		if diff := cmp.Diff(want, facts(t, iotest.OneByteReader(bytes.NewReader(doc)), true)); diff != "" {
			t.Errorf("whole and byte by byte differ (-whole +bytes):\n%s", diff)
		}
		if diff := cmp.Diff(want, facts(t, &unevenReader{doc, rand.New(rand.NewPCG(7, 0))}, true)); diff != "" {
			t.Errorf("whole and in pieces differ (-whole +pieces):\n%s", diff)
		}
		if got, want := words(t, bytes.NewReader(doc)), fields(doc); got != want {
			t.Errorf("%d words, want %d", got, want)
		}
		if len(doc) > 4096 || !utf8.Valid(doc) || listed(goldmarkDifferences, string(doc)) {
			return
		}
		referee, got := fmt.Sprint(linesAndLevels(goldmarkVerdict(string(doc)))), fmt.Sprint(linesAndLevels(want))
		if got != referee && !outvoted(t, string(doc), got) {
			t.Errorf("goldmark and cmark: %s\nours:               %s", referee, got)
		}
	})
}

// outvoted reports whether cmark finds what we found in a document that goldmark
// reads differently. Goldmark is asked first because it needs no process of its
// own. Where cmark is absent, or wrong itself, the case is left open.
func outvoted(t *testing.T, doc, got string) bool {
	if _, err := exec.LookPath("cmark"); err != nil || listed(cmarkDifferences, doc) {
		return true
	}
	return fmt.Sprint(linesAndLevels(cmarkVerdict(t, doc))) == got
}
