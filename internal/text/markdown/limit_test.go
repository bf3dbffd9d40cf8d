package markdown_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

func TestDeepContainers(t *testing.T) {
	for _, mark := range []string{"> ", ">", "- ", "1. ", "> - ", "-\t"} {
		for _, n := range []int{markdown.MaxDepth - 1, markdown.MaxDepth, markdown.MaxDepth + 1, 5 * markdown.MaxDepth} {
			doc := strings.Repeat(mark, n) + "# a\n" + strings.Repeat(mark, n) + "b\n  # c\n\n  # d\n# e\n"
			got := headings(t, strings.NewReader(doc))
			want := "6 1 e\n"
			if mark != "- " { // the others are not continued by two spaces
				want = "3 1 c\n5 1 d\n6 1 e\n"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d times %q (-want +got):\n%s", n, mark, diff)
			}
		}
	}
}

// TestLongLines has lines whose first MaxLine bytes decide: what follows must not
// make a heading out of something else.
func TestLongLines(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s, markdown.MaxLine/len(s)+100) }
	tests := []struct{ name, doc, want string }{
		{"text", long("x") + "# a\n# b\n", "2 1 b\n"},
		{"marks", long("#") + "\n# b\n", "2 1 b\n"},
		{"indentation", long(" ") + "# a\n# b\n", "2 1 b\n"},
		{"blank line does not end a tag's block", "<x>\n" + long(" ") + "\n# a\n\n# b\n", "5 1 b\n"},
		{"blank line in a paragraph", "a\n" + long("\t") + "\n# b\n", "3 1 b\n"},
		{"closing fence", "~~~\n" + long("~") + "\n# a\n~~~\n# b\n", "5 1 b\n"},
		{"opening fence", long("~") + "\n# a\n" + long("~") + "\n# b\n", ""},
		{"break without blanks", "<x>\n\na\n" + long("*") + "\n<x>\n# b\n\n# c\n", "8 1 c\n"},
		{"break that may be a list", long("- ") + "x\n  # a\n# b\n", "3 1 b\n"},
		{"underline", "a\n" + long("=") + "\n<x>\n# b\n\n# c\n", "6 1 c\n"},
		{"comment ends late", "<!--" + long("x") + "-->\n# a\n", "2 1 a\n"},
		{"comment does not end", "<!--" + long("x") + "--\n# a\n-->\n# b\n", "4 1 b\n"},
		{"raw element ends late", "<script>" + long("</scrip t") + "</ScRiPt>x\n# a\n", "2 1 a\n"},
		{"tag ends late", "<x y='" + long("z") + "'>\n# a\n\n# b\n", "4 1 b\n"},
		{"tag does not end", "<x " + long("y ") + "\n# a\n\n# b\n", "4 1 b\n"},
		{"definition ends late", "[a]: b '" + long("c") + "'\n===\n<x>\n# a\n", "4 1 a\n"},
		{"definition fails late", "[a]: b '" + long("c") + "' d\n===\n<x>\n# a\n", ""},
		{"line ends in CRLF", long("x") + "\r\n# a\r\n", "2 1 a\n"},
		{"line ends in CR", long("x") + "\r# a\r", "2 1 a\n"},
		{"no line end", long("x"), ""},
		{"quote", "> " + long("x") + "\n# a\n", "2 1 a\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, headings(t, strings.NewReader(test.doc))); diff != "" {
				t.Errorf("headings (-want +got):\n%s", diff)
			}
			if got, want := words(t, strings.NewReader(test.doc)), fields([]byte(test.doc)); got != want {
				t.Errorf("%d words, want %d", got, want)
			}
		})
	}
}

func TestHTMLEndsAcrossTheBorderOfALongLine(t *testing.T) {
	for _, end := range []string{"</textarea>", "</PRE>"} {
		for before := range len(end) + 1 {
			doc := "<pre>" + strings.Repeat("x", markdown.MaxLine-len("<pre>")-before) + end + "\n# a\n"
			for name, r := range map[string]io.Reader{
				"whole":        strings.NewReader(doc),
				"byte by byte": io.MultiReader(strings.NewReader(doc[:markdown.MaxLine-20]), iotest.OneByteReader(strings.NewReader(doc[markdown.MaxLine-20:]))),
			} {
				if got := headings(t, r); got != "2 1 a\n" {
					t.Errorf("%d bytes of %s before the border, read %s: headings %q", before, end, name, got)
				}
			}
		}
	}
}

func TestLongHeadings(t *testing.T) {
	title := func(doc string) (title string) {
		var s markdown.Scanner
		must.Get(s.Scan(strings.NewReader(doc), markdown.Events{Heading: func(h markdown.Heading) bool {
			title = string(h.Text)
			return false
		}}))(t)
		return title
	}
	whole := strings.Repeat("x", markdown.MaxLine-len("# "))
	if title("# "+whole) != whole || title("# "+whole+"\r\n") != whole {
		t.Error("a heading of MaxLine bytes is not seen whole")
	}
	if got := title("# " + whole + "x"); got != whole {
		t.Errorf("a longer heading has %d bytes, want %d", len(got), len(whole))
	}
	for _, tail := range []string{"x", "#", " "} {
		if title("# Sources"+strings.Repeat(" ", markdown.MaxLine)+tail) == "Sources" {
			t.Errorf("a heading that is cut before %q passes for a shorter one", tail)
		}
	}
}

func TestLongLinesComeInPieces(t *testing.T) {
	for _, size := range []int{markdown.MaxLine - 1, markdown.MaxLine, markdown.MaxLine + 1, 5*markdown.MaxLine + 7} {
		for _, end := range []string{"", "\n", "\r\n", "\r"} {
			want := strings.Repeat("0123456789", size/10+1)[:size]
			var got []byte
			pieces, last := 0, 0
			var s markdown.Scanner
			must.Get(s.Scan(strings.NewReader("# a\n"+want+end), markdown.Events{
				Heading: func(markdown.Heading) bool { return true },
				Line: func(l markdown.Line) {
					if l.Number != 2 || l.First != (pieces == 0) {
						t.Errorf("piece %d: line %d, first %v", pieces, l.Number, l.First)
					}
					if pieces == 0 && len(l.Text) != min(size, markdown.MaxLine) {
						t.Errorf("the first piece has %d bytes", len(l.Text))
					}
					pieces++
					if l.Last {
						last++
					}
					got = append(got, l.Text...)
				},
			}))(t)
			if string(got) != want || last != 1 || (pieces == 1) != (size <= markdown.MaxLine) {
				t.Errorf("%d bytes and %q: %d bytes in %d pieces, %d of them last", size, end, len(got), pieces, last)
			}
		}
	}
}

// endless repeats a text up to a number of bytes.
type endless struct {
	text []byte
	left int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && e.left > 0 {
		m := copy(p[n:min(len(p), n+e.left)], e.text[e.at:])
		e.at = (e.at + m) % len(e.text)
		e.left -= m
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestMemory limits a scan to 8 MiB of allocations in all, freed or not, which is
// stricter than what is asked for: less than 64 MiB at any time.
func TestMemory(t *testing.T) {
	tests := []struct {
		name string
		size int
		text string
	}{
		{"a long line", 100 << 20, "words and words "},
		{"marks", 20 << 20, "#"},
		{"quotes", 20 << 20, ">"},
		{"list marks", 20 << 20, "- "},
		{"deep lists", 20 << 20, strings.Repeat("- ", 2000) + "x\n\n"},
		{"no line feed", 20 << 20, "# a text of some words\r"},
		{"a paragraph", 20 << 20, "words\n"},
		{"a definition", 20 << 20, "[a]: b 'c\nd\n"},
		{"a list", 20 << 20, "- text\n"},
		{"a file of 1 GiB", 1 << 30, string(output(850, false))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.size > 100<<20 && !full.Asked() {
				t.Skip("1 GiB is for -full")
			}
			if !full.Asked() {
				test.size /= 4
			}
			text := bytes.Repeat([]byte(test.text), 4096/len(test.text)+1)
			on := markdown.Events{
				Heading: func(markdown.Heading) bool { return true },
				Line:    func(markdown.Line) {},
			}
			for _, on.Passage = range []func(markdown.Passage){nil, func(markdown.Passage) {}} {
				if on.Passage != nil && test.size > 100<<20 {
					continue
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var s markdown.Scanner
				must.Get(s.Scan(&endless{text: text, left: test.size}, on))(t)
				runtime.ReadMemStats(&after)
				if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
					t.Errorf("%d bytes were allocated for %d", used, test.size)
				}
			}
		})
	}
}

func TestScannerKeepsItsBuffers(t *testing.T) {
	doc := output(850, true)
	r := bytes.NewReader(doc)
	var s markdown.Scanner
	found := 0
	on := markdown.Events{
		Heading: func(markdown.Heading) bool { found++; return true },
		Line:    func(markdown.Line) {},
		Passage: func(markdown.Passage) {},
	}
	allocations := testing.AllocsPerRun(10, func() {
		r.Reset(doc)
		must.Get(s.Scan(r, on))(t)
	})
	if allocations > 0 || found == 0 {
		t.Errorf("%v allocations in a document with %d headings, want none", allocations, found)
	}
}
