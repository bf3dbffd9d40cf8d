package page_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
	"golang.org/x/net/html/charset"
)

func textOf(body, contentType string) string {
	return page.Read([]byte(body), contentType).Text
}

func TestTextOfHTML(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"blocks":             {"<h1>A</h1><p>one\n  two<p>three<div>four</div>five", "A\none two\nthree\nfour\nfive"},
		"inline":             {"<p>a<b>b</b> <i>c</i>d <span>e</span></p>", "ab cd e"},
		"breaks":             {"a<br>b<br/>c<hr>d", "a\nb\nc\nd"},
		"entities":           {"<p>Fish &amp; chips &mdash; 5&nbsp;&euro; &#8364;&lt;b&gt;</p>", "Fish & chips — 5 € €<b>"},
		"scripts and styles": {"<p>a<script>if (1 < 2) { x('<p>no') }</script><style>p { }</style>b</p>", "ab"},
		"an unclosed script": {"<p>a</p><script>x", "a"},
		"navigation":         {"<nav><a>Home</a><ul><li>About</ul></nav><p>a</p><div role=navigation>Menu</div><p>b", "a\nb"},
		"nested navigation":  {"<nav><nav>x</nav>y</nav>a", "a"},
		"unclosed menu":      {"<header><nav>Home</header><p>a</p>", "a"},
		"menu without end":   {"<p>a</p><nav>Home<p>b</p>", "a\nHome\nb"},
		"only a menu":        {"<nav><a>One</a><br><a>Two</a></nav>", "One\nTwo"},
		"lists":              {"<ul><li>a<li>b<ul><li>c</ul></ul>d", "a\nb\nc\nd"},
		"tables":             {"<table><caption>T</caption><tr><th>Year<th>Rate<tr><td>2020</td><td>5.1 %</td></tr></table>", "T\nYear\tRate\nYear: 2020\tRate: 5.1 %"},
		"a row of headers":   {"<table><tr><th>Port<th>2019<th>2020<tr><th>Ham<td>5<td>6<tr><td>Bre<td><td>8</table>9", "Port\t2019\t2020\nHam\t2019: 5\t2020: 6\nPort: Bre\t2020: 8\n9"},
		"a wide cell":        {"<table><thead><tr><th>A<th colspan=2>B<th>C</thead><tr><td>1<td>2<td>3<td>4</table>", "A\tB\tC\nA: 1\tB: 2\t3\tC: 4"},
		"a tall cell":        {"<table><tr><th>A<th>B<tr><td rowspan=2>1<td>2<tr><td>3<tr><td>4<td>5</table>", "A\tB\nA: 1\tB: 2\nB: 3\nA: 4\tB: 5"},
		"a table in a table": {"<table><tr><th>A<th>B<tr><td>1<td><table><tr><th>C<th>D<tr><td>2<td>3</table>4</table>", "A\tB\nA: 1\tB: C\tD\nC: 2\tD: 3\n4"},
		"a table of layout":  {"<table><tr><td>A<td>B<tr><td>1<td>2</table>", "A\tB\n1\t2"},
		"preformatted":       {"<pre>a\n  b\n\nc</pre>", "a\nb\nc"},
		"head":               {"<head><title>T</title><meta name=a content=b><link></head><body>a", "a"},
		"head never closed":  {"<head><title>T</title><p>a<body>b", "a\nb"},
		"text in the head":   {"<head><title>T</title>a", "a"},
		"no markup at all":   {"just text", "just text"},
		"notes":              {"<p>grew<sup class=reference><a href=#n>[12]</a></sup> by 5&nbsp;%<sup><a href=#n>3</a></sup>.</p>", "grew by 5 %."},
		"exponents":          {"<p>10<sup>6</sup> m<sup>2</sup>, 21<sup>st</sup></p>", "10⁶ m², 21st"},
		"svg and math":       {"<svg><title>icon</title><text>42</text></svg><math><mi>x</mi><annotation>tex</annotation></math>", "42\nx"},
		"forms":              {"<form><label>Name</label><input value=x><select><option>DE<option>FR</select><textarea>t</textarea><button>Go</button></form>", "Name\nGo"},
		"templates":          {"a<template><p>b</template>c<noscript>d</noscript>", "ac"},
		"frames":             {"<iframe src=x><p>no</iframe>a<noframes>no</noframes>", "a"},
		"comments":           {"a<!-- b > c -->d<![CDATA[e]]>f", "adf"},
		"soft hyphens":       {"<p>infor&shy;mation</p>", "infor\u00admation"},
		"zero bytes":         {"<p>a\x00b\x01c\x7fd</p>", "abcd"},
		"not UTF-8":          {"<meta charset=utf-8><p>ü\xff\xfe</p>", "ü\ufffd\ufffd"},
		"unknown elements":   {"<x-card><x-title>a</x-title>b</x-card>", "a\nb"},
		"wrong nesting":      {"<b><p>a</b>b</p></div></nav></b>c", "ab\nc"},
	} {
		if got := textOf(c.body, "text/html; charset=utf-8"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestTextThatNoReaderSees puts N where a browser does not show it, and V where it
// does.
func TestTextThatNoReaderSees(t *testing.T) {
	for _, body := range []string{
		"<p hidden>N</p>V", "<p hidden>N<p>V", "<div hidden>N<p>N</div>V", "<span hidden>N</span>V", "<td hidden>N</td>V",
		"<table><tr><td hidden>N<td>V</table>", "<table><tr hidden><td>N<tr><td>V</table>", "<table><tbody hidden><tr><td>N<tbody><tr><td>V</table>",
		"<ul><li hidden>N<li>V</ul>", "<ul><li hidden>N<ul><li>N</ul>N<li>V</ul>", "<ul><li hidden>N</ul>V", "<dl><dt hidden>N<dd>V</dl>", "<p hidden>N<b>N<div>V</div></b>",
		"<div hidden=until-found>V</div>", "<div hidden style='display: block'>V</div>", "<p popover>N</p>V", "<body hidden>V", "<details><summary>V</summary>V</details>",
		"<p style=display:none>N</p>V", "<p style='DISPLAY : None !important; display:block'>N</p>V", "<p style='display:none;display:block'>V</p>", "<p style='di\\73 play:none'>N</p>V",
		"<p style='display:none;display:bogus'>N</p>V", "<p style='display:none;display:'>N</p>V", "<p style='display:none;display:block foo'>N</p>V", "<p style='display:none;display:inline flex'>V</p>",
		"<p style='opacity:0;opacity:x'>N</p>V", "<p style='visibility:hidden;visibility:x'>N</p>V", "<p style='font-size:0;font-size:x'>N</p>V", "<p style='font:0/0 a'>N</p>V",
		"<p style='font:bold 0 serif'>N</p>V", "<p style='font:bold 12px/1.5 serif'>V</p>", "<div hidden style='display:bogus'>N</div>V",
		"<p><del>N</del>V</p>", "<p><s>N</s>V</p>", "<p><strike>N</strike>V</p>", "<p><ins>V</ins></p>", "<s>N<p>N</s>V</p>", "<del><p>N</p></del>V",
		"<p aria-hidden=true>N</p>V", "<p aria-hidden=' TRUE '>N</p>V", "<p aria-hidden=false>V</p>", "<p aria-hidden>V</p>", "<p aria-hidden=true style='display:block'>N</p>V",
		"<p style='text-decoration:line-through'>N</p>V", "<p style='text-decoration:red line-through wavy'>N</p>V", "<p style='text-decoration-line:underline line-through'>N</p>V", "<p style='text-decoration:underline'>V</p>",
		"<p style='position:absolute;left:-9999px'>N</p>V", "<p style='position:fixed;top:-100vh'>N</p>V", "<p style='position:relative;right:-60em'>N</p>V", "<p style='left:-9999px'>V</p>",
		"<p style='position:absolute;left:-20px'>V</p>", "<p style='text-indent:-9999px'>N</p>V", "<p style='text-indent:-2em'>V</p>", "<p style='margin:0 0 0 -9999px'>N</p>V",
		"<p style='position:absolute;clip:rect(0,0,0,0)'>N</p>V", "<p style='clip:rect(0,0,0,0)'>V</p>",
		"<p style='clip-path:inset(50%)'>N</p>V", "<p style='clip-path: inset(100% 0 0 0)'>N</p>V", "<p style='clip-path:inset(0 50%)'>N</p>V", "<p style='clip-path:inset(0 0 50% 0)'>V</p>", "<p style='clip-path:inset(10px)'>V</p>",
		"<p style='clip-path:circle(0)'>N</p>V", "<p style='clip-path:circle(0 at 50% 50%)'>N</p>V", "<p style='clip-path:circle(40%)'>V</p>", "<p style='clip-path:polygon(0 0, 0 0, 0 0)'>N</p>V", "<p style='clip-path:polygon(0 0, 100% 0, 0 100%)'>V</p>",
		"<p style='transform:scale(0)'>N</p>V", "<p style='transform:rotate(3deg) scaleX(0)'>N</p>V", "<p style='scale:0'>N</p>V", "<p style='transform:scale(.8)'>V</p>", "<p style='transform:translate(-9999px)'>N</p>V",
		"<p style='transform:translateX(-9999px)'>N</p>V", "<p style='translate:-9999px 0'>N</p>V", "<p style='transform:translate3d(-1200px,0,0)'>V</p>", "<p style='transform:translate(-50%,-50%)'>V</p>", "<p style='transform:none'>V</p>",
		"<p style='height:0;overflow:hidden'>N</p>V", "<p style='width:1px;height:1px;overflow:hidden'>N</p>V", "<p style='max-height:0;overflow:hidden'>N</p>V", "<p style='height:0'>V</p>", "<p style='height:400px;overflow:hidden'>V</p>",
		"<p style='color:transparent'>N</p>V", "<p style='color:rgba(0,0,0,0)'>N</p>V", "<p style='color:#00000000'>N</p>V", "<p style='color:rgb(0 0 0 / 0)'>N</p>V", "<p style='color:#000000'>V</p>", "<p style='color:#000'>V</p>",
		"<p style='color:rgba(0,0,0,.9)'>V</p>", "<p style='color:transparent;-webkit-background-clip:text'>N</p>V", "<p style='background:linear-gradient(red,blue);color:transparent;-webkit-background-clip:text'>V</p>", "<p style='filter:opacity(0)'>N</p>V", "<p style='filter:blur(2px) opacity(60%)'>V</p>",
		"<x-y hidden>N</x-y>V", "<x-y hidden><x-y>N</x-y>N</x-y>V", "<x-y style='display:none'><b>N</x-y>V", "<x-y>V</x-y>V", "<x-y hidden><z-z>N</x-y>V",
		"<svg><text display='none'>N</text><text>V</text></svg>", "<svg><text visibility=hidden>N</text></svg>V", "<svg><g opacity=0><text>N</text></g></svg>V", "<p display=none>V</p>",
		"<p style='display/**/:/**/none'>N</p>V", "<p style='background:url(a;display:none)'>V</p>", "<p style=\"content:';display:none'\">V</p>",
		"<p style=visibility:hidden>N</p>V", "<p style=visibility:collapse>N</p>V", "<div style=visibility:hidden>N<b style=visibility:visible>V</b>N</div>V",
		"<p style=opacity:0>N</p>V", "<p style='opacity: 0.0'>N</p>V", "<p style=opacity:0%>N</p>V", "<p style=opacity:.5>V</p>", "<p style=content-visibility:hidden>N</p>V",
		"<p style=font-size:0>N</p>V", "<p style='font-size:0px'>N</p>V", "<p style='font-size:1px'>N</p>V", "<ul style=font-size:0>N<li style=font-size:16px>V</li><li style=font-size:2em>N</li></ul>V",
		"<noscript>N</noscript>V", "V<noscript>N", "<ruby>V<rp>N</rp><rt>V</rt><rp>N</rp></ruby>", "<ruby>V<rp>N<rt>V</ruby>", "<dialog>N</dialog>V", "<dialog open>V</dialog>",
		"<video>N</video>V", "<audio>N<p>N</audio>V", "<canvas>N</canvas>V", "<object>N</object>V", "<progress>N</progress>V", "<meter>N</meter>V", "<iframe>N</iframe>V", "<video/>N</video>V",
		"<svg><defs><text>N</text></defs><text>V</text><metadata>N</metadata><desc>N</desc><title>N</title><symbol>N</symbol></svg>V", "<svg><defs/><text>V</text></svg>",
		"<b><template></b>N</template>V", "<div><template></div>N</template>V", "<div><b hidden></div>N</b>V", "<div hidden><b><div></b>N</div>N</div>V",
		"<span hidden><div></span>N</div></span>V", "<div hidden><table></div>N</table></div>V", "<b hidden>N<div>N</b>V</div>",
		strings.Repeat("<b>", 600) + "<div hidden>N</div>", strings.Repeat("<b>", 511) + "<div hidden><div></div>N</div>V",
	} {
		if got := textOf("<!doctype html>"+body, "text/html"); strings.Contains(got, "N") || strings.Count(got, "V") != strings.Count(body, "V") {
			t.Errorf("%.200s: %q", body, got)
		}
	}
	if got := textOf("the<div hidden>N</div>rapist", "text/html"); got != "therapist" {
		t.Errorf("what is hidden parts a word: %q", got)
	}
}

// TestRaisedAndLoweredDigits: no digit joins a number that it is not part of.
func TestRaisedAndLoweredDigits(t *testing.T) {
	for body, want := range map[string]string{
		"10<sup>6</sup> fish": "10⁶ fish", "10<sup>6 small</sup> fish": "10⁶ small fish", "10<sup>6 fish": "10⁶ fish", "10<sub>6</sub> fish": "10₆ fish",
		"10<sup>-6</sup>": "10⁻⁶", "CO<sub>2</sub>, m<sup>2</sup>": "CO2, m²", "x<sup>2</sup>3": "x²3", "<sup>note 5</sup>10": "note 5^10", "10<sup> 6</sup>": "10 ⁶",
		"log<sub>10</sub>5": "log10^5", "21<sup>st</sup>, 10<sub>th</sub>5": "21st, 10th5",
	} {
		if got := textOf("<p>"+body, "text/html"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestTextOfOtherMedia(t *testing.T) {
	for name, c := range map[string]struct{ body, contentType, want string }{
		"plain text":                {"a\r\nb\rc", "text/plain", "a\nb\nc"},
		"markdown":                  {"# A\n\n- b", "text/markdown; charset=utf-8", "A\nb"},
		"json":                      {"{\"a\": \"b\"}", "application/json", "{\"a\": \"b\"}"},
		"json of a kind":            {"{\"a\": 1}", "application/activity+json", "{\"a\": 1}"},
		"csv":                       {"a,b\n1,2", "text/csv", "a\tb\na: 1\tb: 2"},
		"html without a type":       {" <!DOCTYPE html><p>a", "", "a"},
		"html called pdf":           {"<html><p>a", "application/pdf", "a"},
		"html called text":          {"<html><p>a", "text/plain", "a"},
		"a pdf in html":             {"<!-- %PDF-1.4 --><p>a", "text/html", "a"},
		"a pdf in html called pdf":  {"<p>a</p>%PDF-1.4 nonsense", "application/pdf", ""},
		"a pdf in a text":           {"see %PDF-1.4", "text/plain", "see %PDF-1.4"},
		"a pdf after junk":          {"junk\n%PDF-1.4 nonsense", "application/pdf", ""},
		"a pdf after blanks":        {"\xef\xbb\xbf \n%PDF-1.4 nonsense", "text/html", ""},
		"xhtml":                     {"<?xml version='1.0'?><html><p>a</p></html>", "application/xhtml+xml", "a"},
		"rss":                       {"<?xml version='1.0'?><rss><item><title>T</title><description><![CDATA[a]]></description></item></rss>", "application/rss+xml", "a"},
		"text without a type":       {"tides of the north", "", "tides of the north"},
		"text as octets":            {"tides", "application/octet-stream", "tides"},
		"an image":                  {"\x89PNG\r\n\x1a\n\x00", "image/png", ""},
		"octets":                    {"\x00\x01\xff", "application/octet-stream", ""},
		"nothing":                   {"", "text/html", ""},
		"blanks":                    {" \n\t", "text/html", ""},
		"a broken pdf":              {"%PDF-1.4 nonsense", "application/pdf", ""},
		"a broken content type":     {"a", "text/html; charset", "a"},
		"a text that ends too soon": {"tide\xc3", "", "tide\ufffd"},
	} {
		if got := textOf(c.body, c.contentType); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestCharsets(t *testing.T) {
	samples := map[string]string{
		"windows-1252": "Höhe über Null – 5 €", "iso-8859-15": "Höhe 5 €", "iso-8859-2": "Wysokość pływu", "windows-1251": "Прилив и отлив",
		"koi8-r": "Прилив и отлив", "shift_jis": "潮の満ち干は月による", "euc-jp": "潮の満ち干は月による", "iso-2022-jp": "潮の満ち干は月による",
		"gb18030": "潮汐由月球引起", "big5": "潮汐由月球引起", "euc-kr": "조수는 달 때문이다", "windows-1256": "المد والجزر", "utf-8": "Gezeiten über München",
		"utf-16le": "Gezeiten", "utf-16be": "潮汐",
	}
	for label, text := range samples {
		enc, _ := charset.Lookup(label)
		body, err := enc.NewEncoder().String("<p>" + text + "</p>")
		if err != nil {
			t.Fatal(label, err)
		}
		if got := textOf(body, "text/html; charset="+label); got != text {
			t.Errorf("%s by header: %q, want %q", label, got, text)
		}
		if mark := map[string]string{"utf-8": "\xef\xbb\xbf", "utf-16le": "\xff\xfe", "utf-16be": "\xfe\xff"}[label]; mark != "" {
			if got := textOf(mark+body, "text/html; charset=iso-8859-1"); got != text {
				t.Errorf("%s by its mark: %q, want %q", label, got, text)
			}
			continue
		}
		for _, head := range []string{"<meta charset=" + label + ">", `<META http-equiv="Content-Type" content="text/html; charset=` + label + `">`,
			"<?xml version='1.0' encoding='" + label + "'?>", strings.Repeat("<!-- far -->", 200) + `<meta charset="` + label + `">`} {
			if got := textOf(head+body, "text/html"); got != text {
				t.Errorf("%s by %.60s: %q, want %q", label, head, got, text)
			}
		}
	}
	for name, c := range map[string]struct{ body, contentType, want string }{
		"UTF-8 that calls itself Latin-1": {"<p>Höhe über Null</p>", "text/html; charset=iso-8859-1", "Höhe über Null"},
		"Latin-1 that calls itself UTF-8": {"<p>H\xf6he \xfcber Null</p>", "text/html; charset=utf-8", "Höhe über Null"},
		"UTF-8 that says nothing":         {"<p>" + strings.Repeat("x", 2000) + " Höhe</p>", "text/html", strings.Repeat("x", 2000) + " Höhe"},
		"Latin-1 that says nothing":       {"<p>H\xf6he</p>", "", "Höhe"},
		"an encoding that nobody knows":   {"<meta charset=klingon><p>Höhe</p>", "text/html; charset=none", "Höhe"},
		"text that is not HTML":           {"H\xf6he", "text/plain; charset=latin1", "Höhe"},
		"a declaration that cannot be":    {"<meta charset=utf-16><p>Tide</p>", "text/html", "Tide"},
	} {
		if got := textOf(c.body, c.contentType); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want page.Content
	}{
		"a blog": {`<html lang=en-GB><head><title>Tides - Harbour News</title><meta property="og:title" content="Tides &amp; ebbs">
			<meta property="og:site_name" content="Harbour News"><meta property="article:published_time" content="2021-03-04T10:00:00Z">
			<meta name=author content="A. Sailor"><link rel="canonical" href="/tides"></head><p>x`,
			page.Content{Title: "Tides & ebbs", Publisher: "Harbour News", Author: "A. Sailor", Published: "2021-03-04", Language: "en-GB", Canonical: "/tides"}},
		"a journal": {`<meta name="citation_title" content="On tides"><meta name="citation_author" content="Doe, J."><meta name="citation_author" content="Roe, R.">
			<meta name="citation_journal_title" content="J. Sea"><meta name="citation_publication_date" content="2019/5"><title>On tides | J. Sea</title>`,
			page.Content{Title: "On tides", Publisher: "J. Sea", Author: "Doe, J.; Roe, R.", Published: "2019-05"}},
		"linked data": {`<title>T</title><script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"WebSite","name":"S"},
			{"@type":"NewsArticle","headline":"High water","datePublished":"2020","author":[{"name":"A"},{"name":"B"}],"publisher":{"@type":"Organization","name":"P"}}]}</script>`,
			page.Content{Title: "High water", Publisher: "P", Author: "A; B", Published: "2020"}},
		"linked data that is broken": {`<title>T</title><script type="application/ld+json">{"headline": oops</script>`, page.Content{Title: "T"}},
		"only a heading":             {`<h1>High <em>water</em></h1><p>x`, page.Content{Title: "High water"}},
		"nothing":                    {`<p>x`, page.Content{}},
		"a time element":             {`<title>T</title><time datetime="2022-01-31 10:00">x</time>`, page.Content{Title: "T", Published: "2022-01-31"}},
		"dates that cannot be read":  {`<title>T</title><meta name=date content="soon"><meta name="dc.date" content="20210304">`, page.Content{Title: "T"}},
	} {
		got := page.Read([]byte(c.body), "text/html")
		got.Text = ""
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(page.Content{}, "Media", "Signals", "Words", "Prose", "Headings", "Levels", "Places")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// hostilePages are made to cost more than their bytes.
func hostilePages(size int) map[string][]byte {
	repeat := func(part string) []byte { return bytes.Repeat([]byte(part), size/len(part)) }
	return map[string][]byte{
		"deep":         repeat("<div><b><nav>"),
		"lists":        repeat("<ul><li>"),
		"ends":         append(repeat("<div><section>x"), repeat("</article>")...),
		"closed menus": append(repeat("<nav>a"), repeat("</nav>")...),
		"attributes":   append(append([]byte("<p "), repeat("a=b ")...), '>'),
		"an attribute": append(append([]byte("<p class='"), repeat("paywall ")...), '\'', '>'),
		"headings":     repeat("<h1>a"),
		"titles":       repeat("<title>a</title>"),
		"metas":        repeat("<meta name=author content=a>"),
		"sups":         repeat("<sup>1</sup>"),
		"entities":     repeat("&amp;&#x41;&unknown;"),
		"angles":       repeat("<"),
		"comments":     repeat("<!--"),
		"cells":        repeat("<td>"),
		"json":         append(append([]byte(`<script type="application/ld+json">`), repeat("[")...), "</script>"...),
		"words":        repeat("word "),
	}
}

// TestReadingCostsInProportion reads hostile pages of two sizes: what is allocated
// for the larger one is in proportion to that for the smaller one, and to the page.
func TestReadingCostsInProportion(t *testing.T) {
	allocated := func(body []byte) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page.Read(body, "text/html")
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const small, large = 1 << 16, 1 << 18
	long := hostilePages(large)
	for name, body := range hostilePages(small) {
		few, many := allocated(body), allocated(long[name])
		if many > 64*large || many > 8*max(few, small) {
			t.Errorf("%s: %d bytes for a page of %d, %d for one of %d", name, few, len(body), many, len(long[name]))
		}
	}
}

func TestHostilePagesAreRead(t *testing.T) {
	t.Parallel()
	size := 1 << 17
	if full.Asked() {
		size = 1 << 20
	}
	for name, body := range hostilePages(size) {
		content := page.Read(body, "text/html")
		if !utf8.ValidString(content.Text) || len(content.Text) > 2*len(body) || len(content.Title) > 1000 || len(content.Author) > 1000 {
			t.Errorf("%s: %d bytes of text, title of %d", name, len(content.Text), len(content.Title))
		}
	}
	if !full.Asked() {
		return
	}
	const maxPageText = 16 << 20
	huge := page.Read(bytes.Repeat([]byte("<p>word word word"), 50<<20/17), "text/html")
	if len(huge.Text) < maxPageText || len(huge.Text) > maxPageText+100 {
		t.Errorf("of a page of 50 MiB %d bytes are read, want %d", len(huge.Text), maxPageText)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("<nav><p>a<sup>1</sup></nav><title>t<h1>x</h1><button>b"), "text/html")
	f.Add([]byte("<script type=application/ld+json>{\"headline\":1}</script>"), "")
	f.Add([]byte("\xff\xfea\x00"), "text/plain; charset=utf-16")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		content := page.Read(body, contentType)
		if !utf8.ValidString(content.Text) || !utf8.ValidString(content.Title+content.Publisher+content.Author+content.Language+content.Canonical) {
			t.Errorf("%q gives %+v", body, content)
		}
		if again := page.Read(body, contentType); again.Text != content.Text || again.Title != content.Title {
			t.Errorf("twice gives %q and %q", content.Text, again.Text)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	pages := hostilePages(1 << 20)
	article := "<div class=c><p>The tide rises and falls <a href='/x'>twice</a> a day &ndash; and <b>more</b> so at full moon, they say.</p></div>\n"
	pages["article"] = []byte("<html><head><title>T</title></head><body>" + strings.Repeat(article, (1<<20)/len(article)))
	for name, body := range pages {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				page.Read(body, "text/html")
			}
		})
	}
}

func TestTextOfPDF(t *testing.T) {
	body := must.Get(os.ReadFile("testdata/chromium.pdf"))(t)
	for _, contentType := range []string{"application/pdf", "application/octet-stream", "text/html", ""} {
		content := page.Read(body, contentType)
		if content.Title != "Tides of the North Sea" || content.Published != "2026-11-15" || !strings.Contains(content.Text, "rises and falls twice a day") {
			t.Errorf("%s: %q, %q, %q", contentType, content.Title, content.Published, content.Text)
		}
	}
}

func TestTextOfMarkdown(t *testing.T) {
	for name, c := range map[string]struct{ text, want, headings string }{
		"links":         {"In allen Prozessen nutzen wir [Trivy](https://trivy.dev \"x\") und *das* `[a](b)`\n[CycloneDX][c]-Format.\n\n[c]: https://cyclonedx.org", "In allen Prozessen nutzen wir Trivy und das [a](b) CycloneDX-Format.", ""},
		"headings":      {"# Publish *it*\n\none\n\n### Steps\n\n1. a\n2. b\n\nUse\n---\ntwo", "Publish it\none\nSteps\na\nb\nUse\ntwo", "Publish it 1|Steps 3|Use 2"},
		"code":          {"```sh\n# no heading\nrm -r <x>\n```\n", "# no heading\nrm -r <x>", ""},
		"tables":        {"| Year | Rate |\n|--|--|\n| 2020 | [5.1 %](x) |\n", "Year\tRate\nYear: 2020\tRate: 5.1 %", ""},
		"what is seen":  {"![a picture](x.png)<!-- no --> Fish &amp; chips\\*  \nnext", "Fish & chips*\nnext", ""},
		"struck out":    {"It costs ~~310~~ 210 euro and ~ five~~.", "It costs 210 euro and ~ five~~.", ""},
		"hidden":        {"a <span hidden>b</span> c\n\n<div style=\"display:none\">\n\nd\n\n</div>\n\n<p>e</p>", "a c\ne", ""},
		"carriage ends": {"- a\r\n- b\r\n", "a\nb", ""},
	} {
		got := page.Read([]byte(c.text), "text/markdown; charset=utf-8")
		if diff := cmp.Diff(c.want, got.Text); diff != "" || headingsOf(got) != c.headings || got.Media != page.Text || got.Cut {
			t.Errorf("%s: media %v, cut %v, headings %s, text\n%s", name, got.Media, got.Cut, headingsOf(got), diff)
		}
	}
}

func TestHeadingsOfPlainText(t *testing.T) {
	const manual = "..\n  Normally, there are\n  # with overline, for parts\n\n############\nIntroduction\n############\n\nText.\n\n" +
		"S3-compatible storage\n*********************\n\n.. code-block:: console\n\n    $ a\n    # For keystone\n    -------------\n\n" +
		"Dry runs\n--------\n\n+---+---+\n| a | b |\n+---+---+\n\nBackends\n********\n"
	if got, want := headingsOf(page.Read([]byte(manual), "text/plain")), "Introduction 1|S3-compatible storage 2|Dry runs 3|Backends 2"; got != want {
		t.Errorf("headings %s, want %s", got, want)
	}
}

// TestPlacesOfHeadings: a heading stands where it does, whatever has its words before: a list of
// contents, navigation that is left out, or a sentence.
func TestPlacesOfHeadings(t *testing.T) {
	const faq = `<nav><h2>Is it safe?</h2></nav><h1>Questions<a href="#q">¶</a></h1><ul><li>Is it old?<li>Is it safe?</ul><p>Who asks: Is it safe?</p>` +
		`<h3>Is it old?</h3><p>Yes.</p><noscript><h3>Scripts</h3></noscript><h3> Is it<br>safe?</h3><p>No.</p>`
	mail := "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nIs it safe?\r\n--b\r\nContent-Type: text/html\r\nContent-Disposition: attachment; filename=faq.html\r\n\r\n" + faq + "\r\n--b--\r\n"
	const plain = "Is it old? Is it safe?\n\nIs it old?\n==========\n\nIt is, as everybody who has seen it and its\nmany rusty tugs will tell you. Is it safe?\n\n==========\nIs it safe?\n==========\n\nNo.\n"
	for kind, body := range map[string]string{"text/html": faq, "message/rfc822": mail, "text/plain": plain, "text/markdown": strings.ReplaceAll(plain, "==========\nIs", "Is")} {
		c := page.Read([]byte(body), kind)
		var starts []string
		for _, at := range c.Places {
			line, rest, _ := strings.Cut(c.Text[at:], "\n")
			next, _, _ := strings.Cut(strings.TrimLeft(rest, "=\n"), "\n")
			starts = append(starts, line+" "+next)
		}
		want := "Is it old? Yes.|Is it safe?"
		if strings.HasPrefix(kind, "text/p") || strings.HasPrefix(kind, "text/m") {
			want = "Is it old? It is, as everybody"
		}
		if got := strings.Join(starts, "|"); !strings.Contains(got, want) || strings.Contains(got, "Scripts") || len(c.Headings) != len(c.Places) {
			t.Errorf("%s: %q %q", kind, got, c.Headings)
		}
	}
}

func headingsOf(c page.Content) string {
	list := make([]string, len(c.Headings))
	for i, heading := range c.Headings {
		list[i] = fmt.Sprint(heading, " ", c.Levels[i])
	}
	return strings.Join(list, "|")
}
