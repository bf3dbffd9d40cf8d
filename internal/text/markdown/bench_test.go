package markdown_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// output is a wave output of that many words or a few more: sections of prose,
// lists and sources; one character in twenty is not ASCII, if asked for.
func output(words int, unicode bool) []byte {
	rnd := rand.New(rand.NewPCG(5, 0))
	var b bytes.Buffer
	word := func() {
		for range 2 + rnd.IntN(9) {
			switch {
			case !unicode || rnd.IntN(20) > 0:
				b.WriteByte(byte('a' + rnd.IntN(26)))
			case rnd.IntN(2) == 0:
				b.WriteString("é")
			default:
				b.WriteString("\u2019")
			}
		}
	}
	prose := func(n int) {
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			word()
		}
		b.WriteByte('\n')
		words -= n
	}
	for _, title := range []string{"Findings", "Evidence", "Gaps"} {
		fmt.Fprintf(&b, "## %s\n\n", title)
		for end := words * 2 / 3; words > end; {
			prose(30 + rnd.IntN(60))
			b.WriteByte('\n')
			for range 4 {
				b.WriteString("- ")
				prose(5 + rnd.IntN(15))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("## Sources\n\n")
	for words > 0 {
		b.WriteString("- https://example.org/")
		word()
		b.WriteByte(' ')
		prose(4)
	}
	return b.Bytes()
}

func benchmark(b *testing.B, doc []byte, on markdown.Events) {
	var s markdown.Scanner
	r := bytes.NewReader(doc)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		r.Reset(doc)
		must.Get(s.Scan(r, on))(b)
	}
}

// BenchmarkReview asks for what the review of a wave asks for.
func BenchmarkReview(b *testing.B) {
	sources := 0
	on := markdown.Events{
		Heading: func(h markdown.Heading) bool { return string(h.Text) == "Sources" },
		Line:    func(markdown.Line) { sources++ },
	}
	b.Run("ASCII", func(b *testing.B) { benchmark(b, output(850, false), on) })
	b.Run("one in twenty not ASCII", func(b *testing.B) { benchmark(b, output(850, true), on) })
	b.Run("large", func(b *testing.B) { benchmark(b, bytes.Repeat(output(850, false), 1000), on) })
}

func BenchmarkPassages(b *testing.B) {
	n := 0
	benchmark(b, output(850, false), markdown.Events{Passage: func(markdown.Passage) { n++ }})
}

// BenchmarkHostile has documents that are cheap to write and must not be costly to
// read.
func BenchmarkHostile(b *testing.B) {
	const size = 4 << 20
	for _, doc := range []struct{ name, text string }{
		{"marks", "#"},
		{"list marks in a line", "- "},
		{"almost a break", strings.Repeat("- ", 400000) + "x\n"},
		{"blank lines in deep lists", strings.Repeat("- ", 1000) + "x" + strings.Repeat("\n", size)},
		{"quotes", strings.Repeat(">", 2000) + "\n"},
		{"carriage returns", "\r"},
		{"open brackets", "[a]: <b 'c\n"},
		{"open tags", "<a b='c' d\n"},
		{"raw elements", "<pre></pr</pr"},
		{"lazy lines", strings.Repeat("> - ", 400) + "x\n" + strings.Repeat("y\n", size)},
	} {
		b.Run(doc.name, func(b *testing.B) {
			text := []byte(strings.Repeat(doc.text, size/len(doc.text)+1)[:size])
			benchmark(b, text, markdown.Events{})
		})
	}
}
