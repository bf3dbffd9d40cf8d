package markdown_test

import (
	"math/rand/v2"
	"strings"
)

// marks begin lines: indentation and the marks of containers.
var marks = []string{
	"", "", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t", "> ", ">", ">\t", "   >", "> > ", "- > ", "> 1. ",
	"- ", "-", "-\t", " - ", "- - ", "-     ", "* ", "+ ", "+   ", "1. ", "1.", "2. ", "1) ", "01) ", "10. ", "123456789. ", "1234567890. ",
}

// contents start, continue, end or resemble every kind of block.
var contents = []string{
	"# h", "# h", "## h ##", "### h#", "#", "##\t", "#h", "####### h", `\# h`, "# #",
	"text", "text", "text ", "- text", "* **bold**", "- **b", "+ ***", `back\`, "\u00a0", "\u00e9t\u00e9", "\x00", "\u2028# h", "\f", "\f# h", "# \f", "#\fh",
	"===", "=", "== ", "= =", "---", "--", "-", "- ", "***", "* * *", "_ _\t_", "- - -", "**", "___ x", "---\f", "+", "1.", "1. ",
	"```", "```", "````", "``` go", "``` a`", "`` x", "```\f", "~~~", "~~~~ x`", "~~~ ~", "   ```", "  ~~~~~",
	"<!-- c", "-->", "<!-- c -->", "<!-->", "<!- c", "<?php", "?>", "<?>", "<!DOCTYPE", "<!>", ">", "<![CDATA[", "]]>",
	"<pre>", "</pre>", "<PRE x", "<script>", "x</SCRIPT>y", "<style", "</style>", "<textarea>", "</textarea>", "<prex>",
	"<div>", "</div>", "<div/>", "<DIV x", "<div", "<divx>", "<h1>", "<h7>",
	"<a>", "</a>", "<a >", "</a >", "<a/>", "<a href='x' b=c d>", "<a b= 'c'  >", "<a b='c'd>", "<a b=>", "<a> x", "<b", "<a-1 _x:y.z>", "< a>", "</a b>", "<1>", "<a b='>", "<x y",
	"[a]: b", "[a]: b", "[a]: <b c>", "[a]:<b>", "[a]:", "b", "<b>", "[a]: b 'c'", "[a]: b 'c", "d'", "'t'", `"t" x`, "(t)", "(t", "t)", "[a]: b (c(d)", `[a]: b\c)`,
	"[a]: b(c)", "[a]: b(c", `[a]: b\(c`, "[a]: <b>(c)", "[a] : b", "[a", "a]: b", "[]: b", "[ ]: b", `[\]]: b`, "[[]: b", "[a]: b c", "[a]: <b", "[a]: b ", "[a]: )", "[a]: <>", "[a]: <\f>",
	"", "", "", "", "", "", "", "", "", "", " ", "    ", "\t", "    code", "\tcode",
}

// oddities are contents of the same kind that some referee is known to read wrong.
var oddities = []string{
	"<pre/>", "</ a>", "<!x>", "<![cdata[", "<search>", "<source>", "<meta>", "<div\f>", "<div\t", "<div\tx>", "<a>\t", "<a\fb>", "<a b=\fc>", "</a\t>", "<div\u00a0>",
	"[a]:\tb", "[a]: b\t", "[a]: b\t't'", "[a]: b\x01c", "[a]: b\vc", "[a]: b 't'\t", "[a]: \f", "[\f]: b", "[\u00a0]: b", "- \f", "1. \v",
}

// Most documents have one kind of line end, and few of them the lone CR.
var lineEnds = []string{"\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r"}

// document makes a document of up to lines lines, each of marks and a content.
func document(rnd *rand.Rand, lines int) string {
	var b strings.Builder
	pick := func(from []string) string { return from[rnd.IntN(len(from))] }
	if rnd.IntN(20) == 0 {
		b.WriteString("\ufeff")
	}
	end := pick(lineEnds)
	var kept string // marks of the line before, so that containers go on
	for range 1 + rnd.IntN(lines) {
		switch rnd.IntN(4) {
		case 0:
			kept = ""
			for range rnd.IntN(4) {
				kept += pick(marks)
			}
		case 1:
			kept = strings.Map(func(r rune) rune {
				if r == '>' || r == '\t' {
					return r
				}
				return ' '
			}, kept)
		case 2:
			kept = ""
		}
		b.WriteString(kept)
		if rnd.IntN(60) == 0 {
			b.WriteString(pick(oddities))
		} else {
			b.WriteString(pick(contents))
		}
		if rnd.IntN(20) == 0 {
			end = pick(lineEnds)
		}
		b.WriteString(end)
	}
	doc := b.String()
	if rnd.IntN(4) == 0 {
		doc = strings.TrimRight(doc, "\r\n")
	}
	return doc
}

// crumbs are smaller than contents; nobody has thought of all that they add up to.
var crumbs = []string{
	" ", " ", " ", "\n", "\n", "\n", "\n\n", "\r\n", "  ", "    ", "\t", ">", "> ", "- ", "-", "+", "*", "1.", "2) ", "#", "# ", "## ",
	"```", "~~~", "`", "~", "<", "</", ">", "<a", "<div", "<!--", "-->", "<?", "?>", "<!X", "<![CDATA[", "]]>", "<pre>", "</pre>",
	"[", "]", "]:", "[a]: ", "[a]: b\n", ":", "'", "\"", "(", ")", "=", "==", "---", "_", "\\", "a", "b", "x", "&", "/", "0", "10",
}

func soup(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(60) {
		b.WriteString(crumbs[rnd.IntN(len(crumbs))])
	}
	return b.String()
}

// containers are a mark that opens one, and what continues it.
var containers = [][2]string{
	{"> ", "> "}, {">", ">"}, {"- ", "  "}, {"*\t", "\t"}, {"+    ", "     "}, {"1. ", "   "}, {"2) ", "   "}, {"   10. ", "       "},
}

// blockLines are blocks of every kind, closed and not, with a heading inside
// where there can be one.
var blockLines = [][]string{
	{"text"}, {"text", "# h", "text"}, {"# h"}, {"text", "==="}, {"text", "---", "text"}, {"***"}, {"- - -", "# h"}, {"    # code", "    code"}, {"\t# code"},
	{"```", "# h", "```", "# h"}, {"~~~ x", "# h", "~~~~"}, {"````", "```", "# h"}, {"~~~", "# h"},
	{"<pre>", "", "# h", "</pre>", "# h"}, {"<!-- x", "", "# h", "-->", "# h"}, {"<?x", "# h", "?>"}, {"<!X", "# h", ">"}, {"<![CDATA[", "# h", "]]>"},
	{"<div>", "# h", "", "# h"}, {"<x>", "# h", "", "# h"}, {"text", "<x>", "# h"}, {"<script>", "# h"}, {"<!--", "# h"}, {"</x>", "# h"},
	{"[a]: b", "==="}, {"[a]: b", "---", "# h"}, {"[a]: b", "'t'", "===", "<x>"}, {"[a]:", "b", "text", "==="},
	{"", "# h"}, {"", "", "# h"}, {"-", "", "# h"}, {"- x", "", "# h"},
}

var afterBlock = []string{"# h", "   # h", "  # h", "    # h", "text\n# h", "<x>\n# h", "===\n# h", "```\n# h", "\n# h", "\n  # h", "\n\n   # h", "\n\t# h", "> # h", "- # h", "2. x\n\n   # h"}

// crossings puts every block into every container, and into every container in
// every container, lets its lines continue them or not, and goes on with
// everything that may end it.
func crossings() []string {
	chains := [][][2]string{{}}
	for _, outer := range containers {
		chains = append(chains, [][2]string{outer})
		for _, inner := range containers {
			chains = append(chains, [][2]string{outer, inner})
		}
	}
	var docs []string
	for _, chain := range chains {
		opening, going := "", ""
		for _, c := range chain {
			opening += c[0]
			going += c[1]
		}
		for _, block := range blockLines {
			for lazy := range 2 {
				if lazy == 1 && (len(chain) == 0 || len(block) == 1) {
					continue
				}
				inside := opening + strings.Join(block, "\n"+going[:len(going)*(1-lazy)]) + "\n"
				for _, after := range afterBlock {
					docs = append(docs, inside+after+"\n")
				}
			}
		}
	}
	return docs
}
