package claim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/text/link"
)

// TestURLsThatRender: each row is named by how its author wants to get a URL past
// the rule.
func TestURLsThatRender(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // line and text
	}{
		{"as it is", "a\nhttps://x.org/a.", []string{"2 https://x.org/a"}},
		{"by a reference for the colon", "[a](https&#58;//evil)", []string{"1 https://evil"}},
		{"by a named reference", "[a](https&colon;&sol;&sol;evil)", []string{"1 https://evil"}},
		{"by a hexadecimal reference in text", "a\n\nhttps&#x3A;//evil", []string{"3 https://evil"}},
		{"by a backslash", "https\\://evil", []string{"1 https://evil"}},
		{"by a backslash before each slash", "https:\\/\\/evil", []string{"1 https://evil"}},
		{"by emphasis in the middle", "htt*ps*://evil", []string{"1 https://evil"}},
		{"by a tag in the middle", "https<b></b>://evil", []string{"1 https://evil"}},
		{"by a comment in the middle", "https:<!-- x -->//evil", []string{"1 https://evil"}},
		{"by code in the middle", "https`:`//evil", []string{"1 https://evil"}},
		{"by a link in the middle", "https[:](x)//evil", []string{"1 https://evil"}},
		{"by a character of no width", "https\u200b://evil", []string{"1 https://evil"}},
		{"by a soft hyphen reference", "https:&shy;//evil", []string{"1 https://evil"}},
		{"by a tag character", "https:\U000E0041//evil", []string{"1 https://evil"}},
		{"by an image without a scheme", "![](//evil)", []string{"1 //evil"}},
		{"by a link without a scheme", "[a](//evil/x)", []string{"1 //evil/x"}},
		{"by backslashes that browsers turn", "[a](<\\\\\\\\evil>)", []string{`1 \\evil`}},
		{"by one slash", "[a](https:/evil)", []string{"1 https:/evil"}},
		{"by no slash", "[a](https:evil)", []string{"1 https:evil"}},
		{"by a script", "[a](javascript:alert(1))", []string{"1 javascript:alert(1)"}},
		{"by a script with a tab that browsers drop", "[a](java&Tab;script:x)", []string{"1 java\tscript:x"}},
		{"by a script after a control that browsers drop", "[a](<&#1;javascript:x>)", []string{"1 javascript:x"}},
		{"by data", "![a](data:image/png;base64,AA)", []string{"1 data:image/png;base64,AA"}},
		{"by mail", "[a](mailto:a@b.c)", []string{"1 mailto:a@b.c"}},
		{"by an autolink of mail", "<a@b.c>", []string{"1 mailto:a@b.c"}},
		{"by an autolink of any scheme", "<tel:123>", []string{"1 tel:123"}},
		{"by a definition", "[a]\n\n[a]: https&#58;//evil", []string{"3 https://evil"}},
		{"by a definition over lines", "[a]\n\n[a]:\n<//evil>\n'x'", []string{"4 //evil"}},
		{"by a definition that nothing uses", "[a]: <//evil>", []string{"1 //evil"}},
		{"by an attribute", "a\n\n<a href='https&#58;//evil'>x</a>", []string{"3 https://evil"}},
		{"by a reference without its end in an attribute", "x <a href=https&#58//evil>x</a>", []string{"1 https://evil"}},
		{"by an attribute of a block", "<div>\n<img\nsrc=//evil>\n</div>", []string{"3 //evil"}},
		{"by a set of images", "<img srcset='a.png 1x, //evil 2x'>", []string{"1 a.png 1x, //evil 2x"}},
		{"by a style", "<p style='background:url(//evil)'>", []string{"1 background:url(//evil)"}},
		{"by a refresh", "<meta content='0;url=//evil'>", []string{"1 0;url=//evil"}},
		{"by a handler", "<b onclick='location=\"javascript:x\"'>", []string{`1 javascript:x`}},
		{"by the text of HTML", "<div>\nhttps&#58;//evil\n</div>", []string{"2 https://evil"}},
		{"in a heading", "# https&#58;//evil", []string{"1 https://evil"}},
		{"in a quote in an item", "- > x\n  > https&#58;//evil", []string{"2 https://evil"}},
		{"in a table", "|a|\n|-|\n|https&#58;//evil|", []string{"3 https://evil"}},
		{"twice on a page", "<https://x.org/a> [https://x.org/b](https://x.org/c)", []string{"1 https://x.org/a", "1 https://x.org/b", "1 https://x.org/c"}},

		{"not at all: a reference in code is shown as it is", "`https&#58;//x`", nil},
		{"not at all: a link inside the document", "[a](#b) [c](d/e.md) [f](/g?h=i) ![j](k.png)", nil},
		{"not at all: a line end is in between", "https:\n//evil https:<br>x", nil},
		{"not at all: prose", "Note: data: 3 // 4, a/b//c.", nil},
		{"not at all: harmless attributes", "<p class='a:b' title='Note: x' style='color:red'>", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, url := range claim.Inspect([]byte(test.text)).URLs {
				got = append(got, fmt.Sprintf("%d %s", url.Line, url.Text))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMentionsThatRender: each row is named by what its author wants.
func TestMentionsThatRender(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // line, id, and whether a reader sees it
	}{
		{"to cite", "A [@a].\n\n- B [@b] [@a]\n", []string{"1 a seen", "3 b seen", "3 a seen"}},
		{"to cite in a heading", "# A [@a]\n", []string{"1 a seen"}},
		{"to cite with an ordinary id", "A [@cid_0af_9].", []string{"1 cid_0af_9 seen"}},
		{"to cite as the text of a link", "[@a](b)", []string{"1 a seen"}},

		{"to cite the unknown by an escape", `[\@nope]`, []string{"1 nope seen"}},
		{"to cite the unknown by a reference", "[&#64;nope]", []string{"1 nope seen"}},
		{"to cite the unknown by a reference for the bracket", "&lbrack;@nope&rsqb;", []string{"1 nope seen"}},
		{"to cite the unknown by escaped brackets", `\[\@nope\]`, []string{"1 nope seen"}},
		{"to cite the unknown in bold", "[**@nope**]", []string{"1 nope seen"}},
		{"to cite the unknown by a mark in its id", "[@*no*pe]", []string{"1 *no*pe", "1 nope seen"}},
		{"to cite the unknown in code", "[`@nope`]", []string{"1 nope"}},
		{"to cite the unknown by a tag", "[<b>@nope</b>]", []string{"1 nope"}},
		{"to cite the unknown by a comment", "[<!-- -->@nope]", []string{"1 nope seen"}},
		{"to cite the unknown by a character of no width", "[\u200b@nope]", []string{"1 nope seen"}},
		{"to cite the unknown by one inside the id", "[@no\u2060pe]", []string{"1 no\u2060pe seen", "1 nope seen"}},
		{"to cite the unknown by a line end that is none", "[@no&#10;pe]", []string{"1 no&#10;pe seen", "1 no pe seen"}},
		{"to cite the unknown in the text of HTML", "<div>\n\\[&#64;nope]\n</div>", []string{"2 nope"}},
		{"to cite the unknown in an image", "![x &#91;@nope&#93;](y)", []string{"1 nope"}},

		{"to cite nothing: the line ends", "[@a\nb] [\\@a\nb]", nil},

		{"to support a claim by a comment", "A. <!-- [@a] -->", []string{"1 a"}},
		{"to support a claim by a comment on its own", "A.\n\n<!--\n[@a]\n-->\n", []string{"4 a"}},
		{"to support a claim by code", "A `[@a]`.", []string{"1 a"}},
		{"to support a claim by a fence", "- A\n  ```\n  [@a]\n  ```\n", []string{"3 a"}},
		{"to support a claim by a tag", "A <b title='[@a]'>.</b>", []string{"1 a"}},
		{"to support a claim by a hidden element", "A <span hidden>[@a]</span> [@b].", []string{"1 a", "1 b seen"}},
		{"to support a claim by an element that is never closed", "A <span hidden> [@a].\n\nB [@b].", []string{"1 a", "3 b"}},
		{"to support a claim by a hidden block", "<div hidden>\n\nA [@a].\n\n</div>\n\nB [@b].", []string{"3 a", "7 b seen"}},
		{"to support a claim by closing another element", "<div hidden>\n\nA <b></div> [@a].\n", []string{"3 a"}},
		{"to support a claim by a tag that swallows", "<div title='\n\nA [@a].\n\n'>\n", []string{"3 a"}},
		{"to support a claim by an odd comment", "x <!-- --!><div hidden> --> [@a]", []string{"1 a"}},
		{"to support a claim by a style sheet", "A [@a].\n\n<style>p{display:none}</style>\n", []string{"1 a"}},
		{"to support a claim by an image", "A ![[@a]](b)", []string{"1 a"}},
		{"to support a claim by a title", "A [b](c '[@a]')", []string{"1 a"}},
		{"to support a claim by a destination", "A [b](<[@a]>)", []string{"1 a"}},
		{"to support a claim by a definition", "A\n\n[@a]: b", []string{"3 a"}},
		{"to support a claim by the label of a link", "A [b][@a]\n\n[@a]: b", []string{"1 a", "3 a"}},
		{"to support a claim by the name of a language", "A\n```[@a]\n```", []string{"2 a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, m := range claim.Inspect([]byte(test.text)).Mentions {
				line := fmt.Sprintf("%d %s", m.Line, m.CID)
				if m.Visible {
					line += " seen"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPassages(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // line, item, text, ids
	}{
		{"paragraphs and items", "One [@a].\n\n- Two [@b] [@a] [@b]\n- Three\n", []string{"1 false One. [a]", "3 true Two [b a]"}},
		{"over lines", "One\ntwo\n[@a].\n", []string{"1 false One two. [a]"}},
		{"a code block belongs to its item", "- One [@a]\n  ```\n  x [@b]\n  ```\n", []string{"1 true One x [@b] [a]"}},
		{"HTML does not", "- One <b title='x'>bold</b> <!-- y --> [@a]\n  <div>z</div>\n", []string{"1 true One bold [a]"}},
		{"a comment over lines", "One <!-- x\ny --> two [@a]\n", []string{"1 false One  two [a]"}},
		{"markup stays", "**One** `two` [@a]\n", []string{"1 false **One** `two` [a]"}},
		{"a citation that only the page has", "One [&#64;a].\n", []string{"1 false One. [a]"}},
		{"headings and definitions are none", "# One [@a]\n\n[@b]: c\n", nil},
		{"hidden citations make none", "One `[@a]`\n\nTwo <!-- [@a] -->\n", nil},
		{"many ids", "x " + strings.Repeat("[@a][@b][@c][@d][@e][@f][@g][@h][@i][@j]", 3), []string{"1 false x [a b c d e f g h i j]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range claim.Inspect([]byte(test.text)).Passages {
				got = append(got, fmt.Sprintf("%d %v %s %v", p.Line, p.Item, p.Text, p.CIDs))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileTexts: a text costs no more than its length, otherwise this test would
// not end; and whatever it is, what stands behind it is found.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	size := 1 << 11
	if full.Asked() {
		size = 1 << 17
	}
	for _, piece := range []string{
		"[@", "[@a]", "[@a ", "\\[@a]", "[&#64;a]", "http://", "http:", "//", "//a", "//a.", "www.", "data:", "javascript:", "mailto:a", ":", "a.", "<a href='", "<a href=//x>", "<!--", "<!-- -->", "<!-- --!>", "<b>", "</b>",
		"<div>\n", "\u200b", "&#64;", "*a", "`", "[a](//x) ", "[a]: //x\n", "<x@y.z>", "<", "a.b", "+.-", "\n<!--",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for _, around := range []string{"", "<div>\n", "x "} {
			all := around + text + "\n\nIt ends [@last]. https://last.example/end\n"
			checkInspection(t, all)
			got := claim.Inspect([]byte(all))
			if n := len(got.Mentions); n == 0 || got.Mentions[n-1].CID != "last" {
				t.Errorf("%d citations are found in %q and so on, and not the last", n, around+piece)
			}
			if n := len(got.URLs); n == 0 || !strings.Contains(all[got.URLs[n-1].Start:], "last.example/end") {
				t.Errorf("%d URLs are found in %q and so on, and not the last", n, around+piece)
			}
		}
	}
}

// FuzzInspect: no text is too much; what is found stands where Inspect says, in
// order; and shortcuts change nothing.
func FuzzInspect(f *testing.F) {
	crumbs := []string{"[@a]", "[@b_c]", "[@", "]", "\\", "@", "[", "&#64;", "*", "_", "`", "<b>", "</b>", "<!--", "-->", "http://x", "https&#58;//y.z", "//a.b", "www.c", "\n", "\n\n", "- ", "> ", "[x]: y", "](z)", "\u200b", " ", "word", "<div>", "\t", "javascript:x"}
	rnd := rand.New(rand.NewPCG(14, 13))
	for range 200 {
		var b strings.Builder
		for range rnd.IntN(30) {
			b.WriteString(crumbs[rnd.IntN(len(crumbs))])
		}
		f.Add(b.String())
	}
	f.Fuzz(checkInspection)
}

// checkInspection checks what must be true of the inspection of any text.
func checkInspection(t *testing.T, text string) {
	t.Helper()
	got := claim.Inspect([]byte(text))
	if diff := cmp.Diff(claim.InspectWithoutShortcuts([]byte(text)), got); diff != "" {
		t.Fatalf("with shortcuts (-without +with):\n%s", diff)
	}
	at, line := 0, 1
	for _, m := range got.Mentions {
		if m.Start < at || m.End < m.Start || m.End > len(text) || m.Line < line {
			t.Fatalf("%+v comes after byte %d and line %d of %d bytes", m, at, line, len(text))
		}
		at, line = m.Start, m.Line
	}
	at, line = 0, 1
	for _, url := range got.URLs {
		if url.Start < at || url.End < url.Start || url.End > len(text) || url.Line < line {
			t.Fatalf("%+v comes after byte %d and line %d of %d bytes", url, at, line, len(text))
		}
		at, line = url.Start, url.Line
	}
	if written := countMentions(text); written > len(got.Mentions) {
		t.Fatalf("%d of %d citations were found", len(got.Mentions), written)
	}
	for _, p := range got.Passages {
		if len(p.CIDs) == 0 || strings.ContainsAny(p.Text, "\n") {
			t.Fatalf("the passage is %+v", p)
		}
	}
}

func countMentions(text string) (n int) {
	for at := 0; ; n++ {
		m, ok := link.NextMention([]byte(text), at)
		if !ok {
			return n
		}
		at = m.End
	}
}
