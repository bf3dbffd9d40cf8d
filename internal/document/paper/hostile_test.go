package paper_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// attacks are texts that try to become something other than text.
var attacks = []string{
	`<script>alert(1)</script>`,
	`"><script>alert(1)</script>`,
	`</style><script>alert(1)</script>`,
	`</title><script>alert(1)</script>`,
	`--><script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	`<svg onload=alert(1)><animate onbegin=alert(1)></svg>`,
	`<iframe src="https://evil.example"></iframe>`,
	`<meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<link rel=stylesheet href=https://evil.example/x.css>`,
	`<style>body{background:url(https://evil.example)}</style>`,
	`<base href="https://evil.example/">`,
	`<form action="https://evil.example"><input name=x></form>`,
	`<details open ontoggle=alert(1)>`,
	`' onmouseover='alert(1)`,
	`" style="position:fixed;inset:0" x="`,
	`{{.Question}} {{template "source" .}} {{` + "`x`" + `}}`,
	"a\u202eb\u202cc \u2066d\u2069 \u200be\u2060f \U000e0041 \u00adg \ue000h\U000f0000 \U0001d159i",
	"a\x00b\x01c\x1b[31md\x7fe\u0085f\u2028g\u2029h",
	"not UTF-8: \xff\xfe\xc3",
	"&lt;b&gt; &amp; &#x3c;script&#x3e;",
	"]]> ]] > <![CDATA[x]]> <?xml x?> <!DOCTYPE x>",
	longLine,
	strings.Repeat("\U0001f469\u200d\U0001f680", 50),
	"العربية 123 עברית",
}

// longLine is a word of 200 kilobytes.
var longLine = strings.Repeat("long", 50_000)

// attackDrafts are the same in Markdown, and what only Markdown can do.
func attackDrafts() []string {
	drafts := []string{
		"[click](javascript:alert(1)) [x](JaVaScRiPt:alert(1)) [y](java&#115;cript:alert(1)) [z](\tjavascript:alert(1))",
		"[d](data:text/html,<script>alert(1)</script>) [v](vbscript:x) [f](file:///etc/passwd) [r](//evil.example) [m](mailto:a@b.example)",
		"![pixel](https://evil.example/p.png) ![x](data:image/svg+xml,<svg/onload=alert(1)>) [![a](b)](javascript:alert(1))",
		"[a]: javascript:alert(1)\n[a] [b][a]",
		"<https://ok.example/?q=\"><script> <javascript:alert(1)> <a@b.example>",
		"[ok](https://ok.example/a?b=c&d=\"e\") [no](https://bad.example/\\\"onmouseover=alert) [sp](<https://bad.example/a b>)",
		"`<script>alert(1)</script>` ``[@a]``",
		"```html\n<script>alert(1)</script>\n```\n\n    <script>alert(1)</script>\n",
		"# <script>alert(1)</script>\n\n<h1>x</h1>\n\n* [x](javascript:x)\n  > <b>\n\n| <i>a | b |\n|:-:|--:|\n| `|` | <script> |\n",
		"<div onclick=alert(1)>\n[@a] 20\n</div>\n\n<!-- <script>alert(1)</script> -->\n",
		"**<b>*x**</b>* [@a]**[@a]** _[@a_]_ [[@a]](https://ok.example)",
		"a" + strings.Repeat("[@a]", 300) + " b " + strings.Repeat("[@a] ", 300) + strings.Repeat("**x [@a]**[@b]", 50),
		"20 [@a] <span hidden>[@a]</span> missing 33 here and \"quoted words that are not there\" [@a].",
	}
	return append(drafts, attacks...)
}

// hostile is a report in which every text is an attack.
func hostile() paper.Report {
	all := strings.Join(slices.DeleteFunc(slices.Clone(attacks), func(s string) bool { return len(s) > 10_000 }), " ")
	r := paper.Report{
		Question: all, RunID: all, CreatedAt: all, Program: all, Partial: all, Unsourced: true, Notes: attacks,
		Sources: []paper.Source{
			{CID: "a", Title: all, Publisher: all, Date: all, URL: `https://ok.example/"><script>`, Status: all, Reason: all, FetchedAt: all, Author: all,
				Text: strings.Repeat(all+" 20 ", 3)},
			{CID: "b", URL: "javascript:alert(1)\u202e", ReplacedBy: "javascript:alert(2)", Status: "invalid"},
			{CID: "c", File: all, URL: "https://files.invalid/x"},
			{CID: "d", SameAs: "nobody", Title: "twin of nobody"},
		},
		Gates:     []paper.GateLine{{ID: all, Name: all, Status: all, Accepted: all, Notes: all}},
		Contracts: []paper.Contract{{ID: all, Title: all, Sections: attacks[:5], Words: -1, MaxWords: 1 << 40}},
		Agents:    []paper.Agent{{Role: all, Driver: all, Model: all, Version: all}},
		LeftOut:   []paper.Gap{{ID: all, Priority: all, Text: all}},
	}
	for i, draft := range attackDrafts() {
		text, at := []byte(draft+"\n\nSee [@a], [@b], [@c] and [@d].\n"), strings.Index(r.Sources[0].Text, " 20 ")+1
		r.Parts = append(r.Parts, paper.Part{Title: fmt.Sprintf("Attack %d", i), Text: text, Sentences: []paper.ShownSentence{{End: len(text), Reader: all,
			Links: []string{"javascript:alert(1)"}, Stand: evidence.Stand{Words: all, Why: all, Doubted: true},
			Claim: evidence.Claim{ID: "c1", CIDs: []string{"a"}, Standing: claim.Missing, Text: all,
				Findings: []claim.Finding{{Rule: "quotations", Level: claim.Fault, Text: "quoted words that are not there"}, {Rule: "numbers", Level: claim.Fault, Text: "33"}, {Rule: all, Level: claim.Fault, Text: all}},
				Windows:  []claim.Window{{CID: "a", Start: at, End: at + 2, Text: all, Title: all, Heading: all}, {CID: "a", Start: -5, End: 1 << 40, Text: "9"}}}}}})
	}
	return r
}

var (
	ownTag   = regexp.MustCompile(`^<(/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	linkAttr = regexp.MustCompile(` (href|src|action|style|on[a-z]+)="([^"]*)"`)
)

var ownElements = strings.Fields("html head meta link title style body a header p strong h1 h2 h3 h4 h5 h6 dl div dt dd b span nav ul li ol main article section " +
	"mark table thead tbody tr th td footer q code pre em sup br hr blockquote time bdi details summary fieldset legend label input small ins del")

var emptyElements = strings.Fields("meta link br hr input")

// checkPage demands that an HTML report has only its own elements, properly
// closed, and addresses of the web.
func checkPage(t *testing.T, page string) {
	t.Helper()
	page = strings.Replace(page, "<!DOCTYPE html>\n", "", 1)
	if start, end := strings.Index(page, "<style>"), strings.Index(page, "</style>"); start > 0 && end > start {
		page = page[:start+len("<style>")] + page[end:] // ours, and not HTML
	}
	var open []string
	for _, rest := range strings.Split(page, "<")[1:] {
		text := "<" + rest
		tag := ownTag.FindStringSubmatch(text)
		if tag == nil || !slices.Contains(ownElements, tag[2]) {
			t.Fatalf("not a tag of ours: %.200q", text)
		}
		for _, attr := range linkAttr.FindAllStringSubmatch(tag[3], -1) {
			if attr[1] != "href" || !(strings.HasPrefix(attr[2], "https://") || strings.HasPrefix(attr[2], "http://") || strings.HasPrefix(attr[2], "#") || attr[2] == "data:,") {
				t.Fatalf("attribute %.200q in %.200q", attr[0], text)
			}
		}
		switch {
		case slices.Contains(emptyElements, tag[2]):
		case tag[1] == "":
			open = append(open, tag[2])
		case len(open) == 0 || open[len(open)-1] != tag[2]:
			t.Fatalf("</%s> closes %v", tag[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	if i := strings.IndexAny(page, "\x00\x01\x1b\x7f\u0085\u202e\u2066\u2028\u200b\U000e0041\ue000\U000f0000\U0001d159"); i >= 0 {
		t.Errorf("a character that hides or reorders: %.80q", page[max(i-30, 0):])
	}
}

func TestHostileTextIsText(t *testing.T) {
	page := string(hostile().HTML())
	checkPage(t, page)
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "U+202E", "javascript:alert(1)", "U+0000"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not shown", want)
		}
	}
	for _, bad := range []string{`href="javascript`, `href="data:t`, `href="//`, `href="mailto`, `href="file`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestHostileTextIsTextOnATerminal(t *testing.T) {
	for _, r := range hostile().Text(80, false) {
		if r < ' ' && r != '\n' || r == 0x7f {
			t.Fatalf("a terminal would obey %U", r)
		}
	}
	text := string(paper.Report{Question: "q", Parts: []paper.Part{{Text: []byte("::error::x\n\n    ::code\n")}}}.Text(0, false))
	if strings.Contains("\n"+strings.ReplaceAll(text, " ", ""), "\n::") {
		t.Errorf("a log would obey:\n%s", text)
	}
}

func TestHostileTextIsTextInMarkdown(t *testing.T) {
	text := hostile().Markdown()
	if live := paper.LiveMarkup(text); live != nil {
		t.Errorf("%.500q", live)
	}
	if i := strings.IndexAny(string(text), "\x00\x01\x1b\x7f\u0085\u202e\u2066\u2028\u200b\U000e0041\ue000\U000f0000\U0001d159"); i >= 0 {
		t.Errorf("a character that hides or reorders: %.80q", text[max(i-30, 0):])
	}
}

func TestHarbourIsWellFormed(t *testing.T) { checkPage(t, string(harbour(t).HTML())) }
