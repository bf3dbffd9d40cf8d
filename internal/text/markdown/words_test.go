package markdown_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

func words(t testing.TB, r io.Reader) int {
	t.Helper()
	var s markdown.Scanner
	n := must.Get(s.Scan(r, markdown.Events{}))(t)
	return n
}

// fields is the number of words by the standard library.
func fields(doc []byte) int {
	return len(bytes.FieldsFunc(bytes.TrimPrefix(doc, []byte("\ufeff")), unicode.IsSpace))
}

func TestWords(t *testing.T) {
	tests := []struct {
		name, doc string
		want      int
	}{
		{"nothing", "", 0},
		{"only white space", " \t\r\n\v\f\u0085\u00a0\u3000", 0},
		{"markup counts", "## Sources\n\n- https://a.example x\n", 5},
		{"byte-order mark alone", "\ufeff", 0},
		{"byte-order mark later", "\ufeff \ufeff", 1},
		{"invalid bytes are text", "a \xff b\xc2 \xe2\x80", 4},
		{"zero width space is text", "a\u200bb", 1},
		{"NUL is text", "\x00 \x00", 2},
		{"beginning of a space at the end", "a \xc2", 2},
		{"broken spaces", "\xe2\xc2\xa0\xe2\x80\xe3\x80\x80\xe1\x9a", 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := words(t, strings.NewReader(test.doc)); got != test.want {
				t.Errorf("%q has %d words, want %d", test.doc, got, test.want)
			}
			if got := fields([]byte(test.doc)); got != test.want {
				t.Errorf("bytes.FieldsFunc finds %d words in %q, want %d", got, test.doc, test.want)
			}
		})
	}
}

func TestEveryCharacterIsWhiteSpaceOrNot(t *testing.T) {
	var s markdown.Scanner
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0xFFFF {
			r += 0x100 // there is no white space up there, but every plane is visited
		}
		want := 1
		if unicode.IsSpace(r) {
			want = 2
		}
		got := must.Get(s.Scan(strings.NewReader("a"+string(r)+"b"), markdown.Events{}))(t)
		if got != want {
			t.Errorf("%U: %d words, want %d", r, got, want)
		}
	}
}

// wordParts meet the borders of the counter's eight bytes in every way.
var wordParts = []string{"a", "bc", "defghijkl", " ", "  ", "\n", "\t", "\u00a0", "\u0085", "\u3000", "\u2003", "\u2028", "\u205f", "\u1680", "é", "\u2014", "\u201d", "漢", "\U0001F600", "\x80", "\xc2", "\xe2", "\xe2\x80", "\xe3\x80", "\xe1\x9a", "\xff", "\ufeff"}

func TestWordsAreFields(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 0))
	for range 20000 / full.Stride(5, 1) {
		var b bytes.Buffer
		for range rnd.IntN(40) {
			b.WriteString(wordParts[rnd.IntN(len(wordParts))])
		}
		doc, want := b.Bytes(), fields(b.Bytes())
		if got := words(t, bytes.NewReader(doc)); got != want {
			t.Fatalf("%q has %d words, want %d", doc, got, want)
		}
		if got := words(t, iotest.OneByteReader(bytes.NewReader(doc))); got != want {
			t.Fatalf("%q, read byte by byte, has %d words, want %d", doc, got, want)
		}
		if got := words(t, &unevenReader{doc, rnd}); got != want {
			t.Fatalf("%q, read in pieces, has %d words, want %d", doc, got, want)
		}
	}
}

// unevenReader gives pieces of random sizes, some of them empty.
type unevenReader struct {
	rest []byte
	rnd  *rand.Rand
}

func (r *unevenReader) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), r.rnd.IntN(12))], r.rest)
	r.rest = r.rest[n:]
	if len(r.rest) == 0 {
		return n, io.EOF
	}
	return n, nil
}
