package markdown_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// rendering is what stands in the leaf blocks of a document, according to the
// referee or to us.
type rendering struct {
	Blocks       [][][2]string `json:"blocks"` // pieces: kind and text
	Destinations []string      `json:"destinations"`
}

// ourRendering lists definitions among the destinations only when a link uses
// them, which [markdown.Document] does not say; they are kept apart.
func ourRendering(doc string) (r rendering, definitions []string) {
	d := markdown.Parse([]byte(doc))
	for _, b := range d.Blocks {
		var line [][2]string
		for _, in := range d.Inlines(b) {
			kind := ""
			switch {
			case b.Kind == markdown.DefinitionBlock:
				definitions = append(definitions, string(in.Text))
				continue
			case b.Kind == markdown.CodeBlock:
				kind = "code block"
			case b.Kind == markdown.HTMLBlock:
				kind = "html block"
			case in.Kind == markdown.LinkInline:
				r.Destinations = append(r.Destinations, string(in.Text))
				continue
			case in.Kind == markdown.CodeInline:
				kind = "code"
			case in.Kind == markdown.HTMLInline:
				kind = "html"
			default:
				kind = "text"
			}
			if in.InLink {
				kind += "l"
			}
			if in.InImage {
				kind += "i"
			}
			line = append(line, [2]string{kind, string(in.Text)})
		}
		if b.Kind != markdown.DefinitionBlock {
			r.Blocks = append(r.Blocks, line)
		}
	}
	return r, definitions
}

// shown joins pieces of one kind and takes away the white space that a page does
// not show.
func (r rendering) shown() []string {
	out := []string{}
	for _, block := range r.Blocks {
		var merged [][2]string
		for _, piece := range block {
			if n := len(merged); n > 0 && merged[n-1][0] == piece[0] && !strings.HasPrefix(piece[0], "html") {
				merged[n-1][1] += piece[1]
			} else {
				merged = append(merged, piece)
			}
		}
		var b strings.Builder
		for _, piece := range merged {
			text := strings.Join(strings.Fields(strings.ReplaceAll(piece[1], "\x00", "\ufffd")), " ")
			if text != "" {
				fmt.Fprintf(&b, "%s(%s)", piece[0], text)
			}
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return out
}

// leads are the destinations without regard to percent signs, which the referee
// adds.
func leads(destinations []string) []string {
	out := []string{}
	for _, d := range destinations {
		for range 2 {
			if plain, err := url.PathUnescape(d); err == nil {
				d = plain
			}
		}
		out = append(out, strings.ReplaceAll(d, "\x00", "\ufffd"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inlineCrumbs add up to everything that can stand inside a paragraph.
var inlineCrumbs = []string{
	"a", "b", "c", " ", " ", " ", "\n", "*", "*", "**", "***", "_", "_", "__", "`", "`", "``", "```x", "[", "[", "]", "]", "![", "](", "](", ")", "(", "[a]", "[]", "](b)", "](<b c>)", "](b 'c')", "](b \"c\")", "(b (c))",
	"\\", "\\*", "\\`", "\\[", "\\]", "\\\\", "\\\n", "&amp;", "&#58;", "&#x40;", "&copy", "&bogus;", "&notit;", "&semi;", "&", "&#0;", "&nbsp;", "<", ">", "<a>", "</a>", "<a b='c'>", "<a\nb=c>", "<!-- c -->", "<!-->", "<!--", "-->", "<?x?>", "<!X y>", "<![CDATA[x]]>",
	"<https://x.y>", "<a:b>", "<ab:c d>", "<a@b.c>", "<a@b->", "http://x", "é", "\u00a0", "“", "!", "#", "~", "'", "\"", ".", ",", "1", "$", "[b]: c\n", "[a]: d\n",
}

func inlineSoup(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(40) {
		b.WriteString(inlineCrumbs[rnd.IntN(len(inlineCrumbs))])
	}
	if rnd.IntN(3) == 0 {
		b.WriteString("\n\n[a]: /one\n[b]: <two three> 'x'\n[ C\n c ]: four\n")
	}
	return b.String()
}

// inlineDifferences are the shapes inside blocks that commonmark.js reads
// differently from the specification.
var inlineDifferences = []difference{{
	name:     "other white space at the end of a paragraph",
	sentence: "The paragraph’s raw content is formed by concatenating the raw content of the lines and removing initial and final spaces or tabs.",
	example:  "a\\\n\u00a0",
	applies:  regexp.MustCompile(`\\\n\s*\x{a0}`),
}, {
	name:     "blank brackets after a shortcut",
	sentence: "A shortcut reference link consists of a link label that matches a link reference definition elsewhere in the document and is not followed by [] or a link label. / Between these brackets there must be at least one character that is not a space, tab, or line ending.",
	example:  "[a][ ]\n\n[a]: b\n",
	applies:  regexp.MustCompile(`\]\[\s+\]`),
}}

// TestInlinesAgreeWithCommonmarkJS compares what is inside blocks, for the
// examples of the specification and random paragraphs: the referee agrees, except as
// listed. It is started once.
func TestInlinesAgreeWithCommonmarkJS(t *testing.T) {
	docs := corpus(t, 14, 211, documents()/4)
	rnd := rand.New(rand.NewPCG(14, 0))
	for range documents() {
		docs = append(docs, inlineSoup(rnd))
	}
	n := len(docs)
	for _, d := range inlineDifferences {
		docs = append(docs, d.example)
	}
	renderings := commonmarkJSRenderings(t, docs)
	for i, d := range inlineDifferences {
		if got, _ := ourRendering(d.example); !d.applies.MatchString(d.example) || cmp.Equal(renderings[n+i].shown(), got.shown()) {
			t.Errorf("%s: %q is not a difference, or is not recognised", d.name, d.example)
		}
	}
	compared, differ := 0, 0
	for i, referee := range renderings[:n] {
		if listed(commonmarkJSDifferences, docs[i]) || listed(inlineDifferences, docs[i]) {
			continue
		}
		compared++
		got, definitions := ourRendering(docs[i])
		want, have := leads(referee.Destinations), leads(append(slices.Clone(got.Destinations), definitions...))
		missing := slices.ContainsFunc(want, func(d string) bool { return !slices.Contains(have, d) })
		extra := slices.ContainsFunc(leads(got.Destinations), func(d string) bool { return !slices.Contains(want, d) })
		if diff := cmp.Diff(referee.shown(), got.shown()); diff != "" || missing || extra {
			if differ++; differ <= 5 {
				t.Errorf("%q (-referee +ours):\n%s\ndestinations %q, ours %q and %q", docs[i], diff, want, got.Destinations, definitions)
			}
		}
	}
	t.Logf("%d of %d documents compared, %d differ", compared, n, differ)
	if compared < n/2 {
		t.Errorf("%d of %d documents were compared, want half at least", compared, n)
	}
}

func commonmarkJSRenderings(t *testing.T, docs []string) []rendering {
	t.Helper()
	dir := npmPackage(t)
	script := must.Get(os.ReadFile("testdata/inlines.mjs"))(t)
	path := filepath.Join(dir, "inlines.mjs")
	must.Do(t, os.WriteFile(path, script, 0o600))
	var in []string
	for _, doc := range docs {
		in = append(in, strings.TrimPrefix(doc, "\ufeff"))
	}
	data := must.Get(json.Marshal(in))(t)
	cmd := exec.Command("node", path)
	cmd.Stdin = bytes.NewReader(data)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.Output())(t)
	var renderings []rendering
	must.Do(t, json.Unmarshal(out, &renderings))
	if len(renderings) != len(docs) {
		t.Fatalf("%d renderings for %d documents", len(renderings), len(docs))
	}
	return renderings
}

func TestInlines(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string // kind, place in the text, what it says
	}{
		{"text and marks", "# a *b* c\n", []string{"text 2-4 a ", "text 5-6 b", "text 7-9  c"}},
		{"escapes and references", "\\*x&#58;&amp;\n", []string{"text 0-2 *", "text 2-3 x", "text 3-8 :", "text 8-13 &"}},
		{"code is not decoded", "`a\\*&amp;`\n", []string{"code 1-9 a\\*&amp;"}},
		{"in a quote in an item", "- > a\n  > `b\n  > c`\n", []string{"text 4-5 a", "break 5-6 \n", "code 11-18 b c"}},
		{"links", "[a](b\\_c 'd') ![e](<f g>)\n", []string{"text 1-2 a link", "dest 2-13 b_c", "text 13-14  ", "text 16-17 e image", "dest 17-25 f g"}},
		{"autolinks", "<ab:c> <d@e.f>\n", []string{"dest 0-6 ab:c", "text 1-5 ab:c link", "text 6-7  ", "dest 7-14 mailto:d@e.f", "text 8-13 d@e.f link"}},
		{"references lead where their definition says", "[a][b]\n\n[b]: c&#58;d 'x'\n", []string{"text 1-2 a link", "dest 13-20 c:d"}},
		{"HTML", "a <b c='d'> <!-- e -->\n\n<div>\nf\n", []string{"text 0-2 a ", "html 2-11 <b c='d'>", "text 11-12  ", "html 12-22 <!-- e -->", "html 24-31 <div>\nf"}},
		{"code blocks", "```x\na\n b\n```\n", []string{"code 5-6 a", "break 6-8 \n", "code 8-9 b"}},
		{"a heading is not a definition", "> # [a]: b 'c'\n", []string{"text 4-5 [", "text 5-14 a]: b 'c'"}},
		{"an underlined definition is one", "> [a]: b\n> c\n> ---\n", []string{"dest 7-8 b", "text 11-12 c"}},
		{"a byte-order mark and CRLF", "\ufeffa\r\nb", []string{"text 3-4 a", "break 4-5 \n", "text 6-7 b"}},
	}
	names := map[markdown.InlineKind]string{markdown.TextInline: "text", markdown.CodeInline: "code", markdown.HTMLInline: "html", markdown.LinkInline: "dest", markdown.BreakInline: "break"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			d := markdown.Parse([]byte(test.doc))
			for _, b := range d.Blocks {
				for _, in := range d.Inlines(b) {
					line := fmt.Sprintf("%s %d-%d %s", names[in.Kind], in.Start, in.End, in.Text)
					if in.InLink {
						line += " link"
					}
					if in.InImage {
						line += " image"
					}
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileInlines: what is inside a block costs no more than its length, otherwise
// this test would not end; and what must be true of all documents is.
func TestHostileInlines(t *testing.T) {
	size := 1 << 14
	if full.Asked() {
		size = 1 << 17
	}
	for _, piece := range []string{
		"[", "![", "]", "[]", "[[]", "](", "[a](", "[a](b", "[a](<b", "[a](b 'c", "[a](b (", "[a]()", "[x][", "[a][b]", "[[a](b)", "![[a](b)", "[a]: b\n", "[a]: b '\n", "[\\",
		"*", "*a", "*a ", " a*", "**a_", "a**b", "*a **a ", "_a__b*", "***a**", "`", "`a``", "``a`", "<", "<a", "<a ", "<a b=", "<a b='", "<a b=c ", "<!--", "<!--a", "<?", "<!X", "<![CDATA[", "</", "<a:", "<a@",
		"&", "&a", "&#", "\\", "!", "\n", "*\n", "> ", "- a\n", "a\n> ", "\r", "x",
	} {
		doc := strings.Repeat(piece, size/len(piece))
		for _, around := range [][2]string{{"", ""}, {"x", ")]>'\"*_`-->"}} {
			checkInlines(t, []byte(around[0]+doc+around[1]))
		}
	}
}

// FuzzInlines checks for any bytes what must be true of all documents: pieces
// stand where they say, in order, and text that was not decoded is what stands
// there.
func FuzzInlines(f *testing.F) {
	rnd := rand.New(rand.NewPCG(15, 0))
	for range 100 {
		f.Add([]byte(inlineSoup(rnd)))
		f.Add([]byte(document(rnd, 12)))
	}
	f.Add([]byte("- # [a]: b\t't'\n  [a]  b(c)\n"))
	f.Fuzz(checkInlines)
}

// checkInlines checks what must be true of the pieces of any document.
func checkInlines(t *testing.T, doc []byte) {
	t.Helper()
	d := markdown.Parse(doc)
	blockEnd, line := 0, 0
	for _, b := range d.Blocks {
		if b.Line < line {
			t.Fatalf("a block of line %d comes after one of line %d", b.Line, line)
		}
		line = b.Line
		end, last := blockEnd, blockEnd
		for _, in := range d.Inlines(b) {
			if in.Start < blockEnd || in.End < in.Start || in.End > len(doc) {
				t.Fatalf("a piece from %d to %d, in %d bytes after %d", in.Start, in.End, len(doc), blockEnd)
			}
			if in.Kind == markdown.TextInline {
				if in.Start < end {
					t.Fatalf("text at %d after %d", in.Start, end)
				}
				if len(in.Text) == in.End-in.Start && !bytes.Equal(in.Text, doc[in.Start:in.End]) {
					t.Fatalf("%q stands where %q is said to", doc[in.Start:in.End], in.Text)
				}
			}
			if in.Kind == markdown.TextInline {
				end = in.End
			}
			last = max(last, in.End)
		}
		blockEnd = last
	}
	if diff := cmp.Diff(passagesOf(t, doc), passagesOfBlocks(d)); diff != "" {
		t.Errorf("passages (-scanned +parsed):\n%s", diff)
	}
}

// passagesOf are the first lines of the passages of a document, as a Scanner
// finds them.
func passagesOf(t *testing.T, doc []byte) []string {
	var out []string
	var s markdown.Scanner
	must.Get(s.Scan(bytes.NewReader(doc), markdown.Events{Passage: func(p markdown.Passage) {
		out = append(out, fmt.Sprintf("%v %s", p.Item, p.Text))
	}}))(t)
	return out
}

// passagesOfBlocks gives the same from blocks.
func passagesOfBlocks(d *markdown.Document) []string {
	var out []string
	passage, item, text := 0, false, []string{}
	flush := func() {
		if passage > 0 && len(text) > 0 {
			out = append(out, fmt.Sprintf("%v %s", item, strings.Join(text, "\n")))
		}
		text = nil
	}
	for _, b := range d.Blocks {
		if b.Passage == 0 || b.Kind == markdown.DefinitionBlock {
			continue
		}
		if b.Passage != passage {
			flush()
			passage, item = b.Passage, b.Item
		}
		d.Lines(b, func(_, _ int, line []byte) {
			comment := b.Kind == markdown.HTMLBlock && bytes.HasPrefix(d.Inlines(b)[0].Text, []byte("<!--"))
			if line := bytes.TrimSpace(line); len(line) > 0 && !comment {
				text = append(text, string(line))
			}
		})
	}
	flush()
	return out
}
