package foreign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// shown is what was read of a report, a sentence to a line: its line, form and text, and
// the last part of each URL.
func shown(t *testing.T, name, text string) string {
	t.Helper()
	d := must.Get(foreign.Read(name, []byte(text)))(t)
	var out strings.Builder
	for _, s := range d.Sentences {
		fmt.Fprintf(&out, "%d %s %s", s.Line, s.Form, s.Text)
		for _, url := range s.URLs {
			out.WriteString(" <" + url[strings.LastIndex(strings.TrimRight(url, "/"), "/")+1:] + ">")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

const refs = "\n\n## Sources\n\n[1] A: https://x.example/a\n[2] B: https://x.example/b\n[3] C: https://x.example/c\n"

var waited = func() (out string) {
	for i := range 8 {
		out += fmt.Sprintf("%d uncited It was a long time that we all waited for what came then, and nobody knew.\n", 7+2*i)
	}
	return out
}()

func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a mark behind the full stop belongs to the sentence before it", "r.md", "One is. [1] Two is.[2][3] Three is." + refs,
			"1 cited One is. <a>\n1 cited Two is. <b> <c>\n1 uncited Three is.\n"},
		{"the next citation of the paragraph covers three sentences", "r.md", "A a. B b. C c. D d. E e [1].\n\nF f." + refs,
			"1 uncited A a.\n1 carried B b. <a>\n1 carried C c. <a>\n1 carried D d. <a>\n1 cited E e. <a>\n3 uncited F f.\n"},
		{"lines that only lead on", "r.md", "What is next? These are:\n\n- one [1]\n- two" + refs,
			"1 structural What is next?\n1 structural These are:\n3 cited one <a>\n4 uncited two\n"},
		{"a row of a table", "r.md", "| What [1] | How many |\n|---|---|\n| cars | 120 |\n| ships | 3 [2] |\n" + refs,
			"3 cited cars | 120 <a>\n4 cited ships | 3 <b>\n"},
		{"marks of their own paragraph", "r.md", "One is.\n\nSources: [1], [2]" + refs, "1 cited One is. <a> <b>\n"},
		{"chemistry and mathematics", "r.md", "CO² at 10³ m² and x² and E=mc². Yes¹. No.<sup>2</sup> Of km<sup>2</sup>." + refs,
			"1 carried CO² at 10³ m² and x² and E=mc². <a>\n1 cited Yes. <a>\n1 cited No. <b>\n1 uncited Of km2.\n"},
		{"a power behind a raised minus", "r.html", "<html><p>A band at 3300 cm⁻¹ is wide.¹</p><h2>Sources</h2><ol><li><a href='https://x.example/a'>A</a></li></ol></html>",
			"1 cited A band at 3300 cm⁻¹ is wide. <a>\n"},
		{"years and code in brackets are text", "r.md", "In [2024] and `a[1]` it was [1]." + refs, "1 cited In [2024] and a[1] it was. <a>\n"},
		{"a decimal is no mark", "r.txt", "It grew by 3.1 percent.2 Then it fell.\n\nReferences\n\n1. A, https://x.example/a\n2. B, https://x.example/b\n",
			"1 cited It grew by 3.1 percent. <b>\n1 uncited Then it fell.\n"},
		{"a link behind the sentence", "r.md", "One is. [Reuters](https://x.example/r)\n\nTwo is — [AP](https://x.example/p)\n", "1 cited One is. <r>\n3 cited Two is — <p>\n"},
		{"a host as a chip", "r.md", "One is [x.example +2](https://x.example/r). Two [is here](https://y.example/s) now.", "1 cited One is. <r>\n1 cited Two is here now. <s>\n"},
		{"definitions", "r.md", "One [1] is. Two [text][2] is.\n\n[1]: https://x.example/a \"A\"\n[2]: https://x.example/b\n", "1 cited One is. <a>\n1 cited Two text is. <b>\n"},
		{"a DOI", "r.md", "One is (doi:10.1234/abc.5).", "1 cited One is. <abc.5>\n"},
		{"a year behind an author", "r.md", "Müller et al. (2021) say so. Others differ (Weiß, 2020; Vogel 2019a).\n\n## Literatur\n\nMüller, A. (2021). T. https://x.example/m\n\nWeiß, B. (2020). U. https://x.example/w\n\nVogel, C. (2019a). V. https://x.example/v\n",
			"1 cited Müller et al. say so. <m>\n1 cited Others differ. <w> <v>\n"},
		{"an author in a text that is not cited so", "r.md", "He came (Paris, 2021) and went [1]." + refs, "1 cited He came (Paris, 2021) and went. <a>\n"},
		{"several ids for one entry", "r.md", "One [50]. Two [52]. Three [73].\n\n### References\n[50] [52] [73] https://x.example/a\n", "1 cited One. <a>\n1 cited Two. <a>\n1 cited Three. <a>\n"},
		{"a numbered list without a title", "r.md", "One [1]. Two [2].\n\n---\n\n1. A https://x.example/a\n2. B https://x.example/b\n", "1 cited One. <a>\n1 cited Two. <b>\n"},
		{"a list that is not the sources", "r.md", "1. One is ([A](https://x.example/a)).\n2. Two is ([B](https://x.example/b)). It was so in many other places, and for a long time before that, as everybody who was there and who remembers it says today in each of the letters that they wrote.\n",
			"1 cited One is. <a>\n2 cited Two is. <b>\n2 uncited It was so in many other places, and for a long time before that, as everybody who was there and who remembers it says today in each of the letters that they wrote.\n"},
		{"Chinese text with marks in all places", "r.md", "增长很快[1]。成本下降。【2】专家认为如此［3］。\n\n**参考文献：**\n\n[1] 甲 https://x.example/a\n[2] 乙：https://x.example/b\n[3] 丙，https://x.example/c。\n",
			"1 cited 增长很快。 <a>\n1 cited 成本下降。 <b>\n1 cited 专家认为如此。 <c>\n"},
		{"charges are no marks", "r.md", "Of PO₄³⁻ and CrO₄²⁻ and Ca²⁺ it is so¹." + refs, "1 cited Of PO₄³⁻ and CrO₄²⁻ and Ca²⁺ it is so. <a>\n"},
		{"a year is text where citations are numbers", "r.md", "The plan of Alpha (2025) holds [1]. It did (Beta et al., 2024) [2]." +
			"\n\n## Sources\n\n1. [Alpha, 2025, A](https://x.example/a)\n2. [Beta, 2024, B](https://x.example/b)\n",
			"1 cited The plan of Alpha (2025) holds. <a>\n1 cited It did (Beta et al., 2024). <b>\n"},
		{"rows that begin with a year or a rank are no list", "r.md", "| Year | What |\n|-|-|\n| 2019 | it fell [A](https://x.example/a) |\n| 2020 | it rose [B](https://x.example/b) |\n\n" +
			"| # | Who | Where |\n|-|-|-|\n| 1 | one | [A](https://x.example/a) |\n",
			"3 cited 2019 | it fell A <a>\n4 cited 2020 | it rose B <b>\n8 cited 1 | one | <a>\n"},
		{"underscores of an address are no emphasis", "r.md", "One [1].\n\n## Sources\n\n[1] A: https://x.example/b/a_-_2024_-_c\n", "1 cited One. <a_-_2024_-_c>\n"},
		{"blanks that end a link", "r.html", "<p>One <a href='https://x.example/a'>is </a></p>", "1 cited One is <a>\n"},
		{"an address that escapes end", "r.md", "One https://x.example/a_b*c\\_d\\_e*&amp;&amp;&amp;f_g and _so_ on.", "1 cited One and so on. <a_b*c_d_e*&amp;&amp;&amp;f_g>\n"},
		{"an address with words in another script", "r.md", "One [1]. Two https://y.example/b。\n\n参考文献：\n[1] https://x.example/wiki/中產階級 - 中产阶级\n",
			"1 cited One. <中產階級>\n1 cited Two。 <b>\n"},
		{"a section with a word for sources that lists none", "r.md", "## What sources say\n\n- One is so[[1]](https://x.example/a)\n- Two is so[[2]](https://x.example/b)\n\n## End\n\nThree.",
			"3 cited One is so <a>\n4 cited Two is so <b>\n8 uncited Three.\n"},
		{"what follows a list without a heading", "r.txt", "One is [1].\n\nSources\n\n[1] A https://x.example/a\n\n" + strings.Repeat("It was a long time that we all waited for what came then, and nobody knew.\n\n", 8),
			"1 cited One is. <a>\n" + waited},
		{"our own marks", "r.md", "One is. \\[inferred from 1, 2] Two is 4. \\[3] \\[calculated: 2 + 2 = 4]" + refs, "1 cited One is. <a> <b>\n1 cited Two is 4. <c>\n"},
		{"a text that was broken for a width", "r.txt", "The ferry was built in a yard of the north and has\nbatteries of one megawatt hour on board, it is said [1].\nIt sails.\n\nSources\n[1] A\nhttps://x.example/a\n",
			"1 cited The ferry was built in a yard of the north and has batteries of one megawatt hour on board, it is said. <a>\n3 uncited It sails.\n"},
		{"a page in a page", "r.html", "<!doctype html><body><header>H</header><article><p>One is.<sup><a href='#fn1'>1</a></sup></p><div hidden>Two [1].</div><ol><li id=fn1>x</li></ol><h2>Notes</h2><ol><li>A <a href=https://x.example/a>a</a> <a href='#r'>↩</a></li></ol></article><aside>Z</aside>",
			"1 cited One is. <a>\n1 uncited x\n"},
		{"a row that begins with a header cell", "r.html", "<table><tr><th>What</th><th>How many <a href='https://x.example/a'>[1]</a></th></tr><tr><th>cars</th><td>120</td></tr></table>",
			"1 cited cars | 120 <a>\n"},
		{"a piece of HTML that nobody closed hides nothing", "r.md", "<div hidden>\n\nOne is <b hidden>here</b> [1].\n\n<!-- Two is.\n\nThree is [2]. -->" + refs, "3 cited One is here. <a>\n"},
		{"code inside a page", "r.html", "<p>Of <code>a[1]</code> it was [1].</p><h2>Sources</h2><p>[1] https://x.example/a</p>", "1 cited Of a[1] it was. <a>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shown(t, c.file, c.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestEntries reads the ways in which lists of sources are written.
func TestEntries(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"[24] Title: https://x.example/a", "24|Title|a"},
		{"[8] https://x.example/a - title", "8|title|a"},
		{"[50] [52] [73] https://x.example/a", "50,52,73||a"},
		{"37. Title, accessed on May 3, 2025, [https://x.example/a](https://x.example/a)", "37|Title|a"},
		{"[1] https://x.example/a [2] https://x.example/b", "1||a\n2||b"},
		{"[1] Title\nhttps://x.example/a", "1|Title|a"},
		{"- [1] *Title*. <https://x.example/a>", "1|Title|a"},
		{"| n | t | u |\n|-|-|-|\n| 1 | Title | https://x.example/a |", "1|Title|a"},
		{"[^3]: Title, https://x.example/a", "3|Title|a"},
		{"【4】标题，https://x.example/a。", "4|标题|a"},
		{"- [Title](https://x.example/a)", "|Title|a"},
		{"¹ Title https://x.example/a", "1|Title|a"},
	} {
		d := must.Get(foreign.Read("r.md", []byte("Yes [here](https://y.example/).\n\n# References\n\n"+c.list+"\n")))(t)
		var got []string
		for _, e := range d.Entries {
			var ends []string
			for _, url := range e.URLs {
				ends = append(ends, strings.TrimPrefix(url, "https://x.example/"))
			}
			got = append(got, strings.Join(e.IDs, ",")+"|"+e.Title+"|"+strings.Join(ends, ","))
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.list, text, c.want)
		}
	}
}

// TestListNotMatched has lists that nobody understands: that is said, and in no report it passes.
func TestListNotMatched(t *testing.T) {
	lines := "- (a) One: https://x.example/a\n- (b) Two: https://x.example/b\n- (c) Three: https://x.example/c\n"
	d := must.Get(foreign.Read("r.md", []byte("One is [1]. Two is [2]. Three is [3].\n\n## Wo es steht\n\n"+lines+"\n## Ende\n\nVier.")))(t)
	if want := "3 citations have no entry; 3 lines with links under Wo es steht look like a list of sources that was not understood"; d.NotMatched != want {
		t.Errorf("got %q, want %q", d.NotMatched, want)
	}
	r := must.Get(foreign.Judge(t.Context(), "r.md", nil, d, foreign.Options{NoFetch: true}, source.Evidence{}))(t)
	if r.Pass || r.Findings[0].Code != "LIST_NOT_MATCHED" || r.Findings[0].Text != d.NotMatched {
		t.Errorf("pass %v, findings %v", r.Pass, r.Findings)
	}
	if d := must.Get(foreign.Read("r.md", []byte("One is [1]. Two is [2]."+refs)))(t); d.NotMatched != "" {
		t.Errorf("a list that was read: %q", d.NotMatched)
	}
}

// TestATitleIsNoListOfSources has a report whose title is a word for sources in some language.
func TestATitleIsNoListOfSources(t *testing.T) {
	d := must.Get(foreign.Read("r.md", []byte("# Note\n\nThe bore reaches 2 m [1].\n\n## References\n\n[1] https://y.example/a\n")))(t)
	if len(d.Sentences) != 1 || len(d.Entries) != 1 {
		t.Errorf("%d sentences, %d entries", len(d.Sentences), len(d.Entries))
	}
}

// TestUnreadable says of a report that cannot be audited why.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"r.md", "", "no sentence"},
		{"r.md", "Nothing is cited.", "no style of citation is recognised in it: it was read as markdown, with 1 sentences"},
		{"r.md", "Nothing [citation needed].", "remarks that a citation is needed"},
		{"r.md", "a\x00b", "not text"},
		{"r.docx", "PK\x03\x04 word/document.xml", "docx"},
		{"r.pdf", "%PDF-1.4 nothing", "no sentence"},
	} {
		_, err := foreign.Read(c.name, []byte(c.text))
		if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := foreign.Read("r.md", make([]byte, foreign.MaxReport+1)); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("a report without end: %v", err)
	}
}

// TestMarksTimesEntries reads reports in which every mark could be compared with every entry:
// time grows with their size, and not with its square.
func TestMarksTimesEntries(t *testing.T) {
	many := 2_000
	if full.Asked() {
		many = 50_000
	}
	for name, c := range map[string]struct{ mark, entry string }{
		"one id":  {"One is [1]. ", "[1] T https://x.example/%d\n"},
		"authors": {"It is so (Author, 2020). ", "Other, B. (2020). T. https://x.example/%d\n\n"},
	} {
		var report strings.Builder
		report.WriteString(strings.Repeat(c.mark, many) + "\n\n# Sources\n\n")
		for i := range many {
			fmt.Fprintf(&report, c.entry, i)
		}
		d := must.Get(foreign.Read("r.md", []byte(report.String())))(t)
		if len(d.Citations) != many || len(d.Entries) != many || len(d.Citations[many-1].URLs) > 20 {
			t.Errorf("%s: %d citations, %d entries", name, len(d.Citations), len(d.Entries))
		}
	}
}

// TestHostileReports reads what was written against the reader: a piece again and again,
// with -full in 50 MB, else in less.
func TestHostileReports(t *testing.T) {
	full.Story(t)
	size := 1 << 14
	if full.Asked() {
		size = 50 << 20
	}
	for name, piece := range map[string]string{
		"brackets": "[", "closing": "]", "round": "(", "marks": "[1]", "links": "[a](https://x.example/b) ", "urls": "https://x.example/a ", "raised": "a¹ ", "footnotes": "[^a]",
		"empty links": "[](https://x.example/a)", "lists": "[1] https://x.example/a\n", "one line": "[1] https://x.example/a ", "authors": "(Author, 2020) ", "dois": "10.1234/a ",
		"cjk": "【1】。", "bullets": "- ", "quotes": "> ", "titles": "# Sources\n", "bars": "|a|b|\n|-|-|\n", "code": "`a` ", "tags": "<sup>1</sup>", "stops": "a.1 ",
	} {
		for _, file := range []string{"r.md", "r.txt", "r.html"} {
			text := strings.Repeat(piece, size/len(piece)) + "\n\nOne [1].\n\n# Sources\n\n[1] https://x.example/a\n"
			if _, err := foreign.Read(file, []byte(text)); err != nil && tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
				t.Errorf("%s as %s: %v", name, file, err)
			}
		}
	}
}

// TestAPDFWithoutTextSaysWhatHelps: nothing can be read from a broken file, and its ending is not
// to blame.
func TestAPDFWithoutTextSaysWhatHelps(t *testing.T) {
	_, err := foreign.Read("broken.pdf", []byte("%PDF-1.7\nnothing follows"))
	e := tidegate.AsError(err)
	help, _ := e.Details.Get("help")
	if e.Code != tidegate.SchemaValidationFailed || !strings.Contains(e.Message, "it is broken, or its pages are pictures") || !strings.Contains(fmt.Sprint(help), "save it as text") {
		t.Errorf("%v, %v", err, help)
	}
}
