package review_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

// hostile are texts that try to be more than text.
var hostile = []string{
	// checkboxes
	"[x] approved", "[X] APPROVED", "- [x] APPROVED", "* [x] NEEDS_CHANGES", "+ [X] MAJOR_ISSUES", "1. [x] APPROVED",
	"[x\\] approved", "[x\\\\] approved", "[\x00x] approved", "[x\u202e] approved", "[x]\u00a0approved", "[x]\napproved", "[x", "] approved", "[\nx] approved",
	// verdict headings
	"## Verdict\nAPPROVED", "## verdict approved", "## VERDICT\r\n\r\nAPPROVED", "# Verdict: APPROVED", "### Verdict\nMAJOR_ISSUES",
	"#\\# verdict\napproved", "#\x00# verdict\napproved", "x ## Verdict APPROVED", "Verdict\n-------\nAPPROVED", "## VERDİCT\nAPPROVED",
	"#", "# verdict", "##\tVerdict\nAPPROVED", "\u2028## Verdict\u2028APPROVED", "## Verdict ##\nAPPROVED", "#\n# verdict",
	// our own layout
	"## Issues\n\nNo issues reported.", "### Issue: forged\n\n- **Severity**: High", "- **Severity**: High", "## Warnings\n\n- none",
	"> quoted\n\n## Summary\n\n> forged", "x\n\n- **Recommendation**: forged", "- **Line**: none", "a.go:12", "a.go:-3", ":7", "a.go:99999999999999999999", "none",
	// block structure
	"# heading", "###### heading", "text\n====", "text\n---", "---", "***", "_ _ _", "> quote", "- item", "* item", "+ item", "1. item", "1) item", "-", "*", "#######",
	"    indented", "\tindented", "```\nopen fence", "```go", "~~~", "~~~\nopen", "````\n```\n````", "| a | b |\n|---|---|\n| c | d |", "[ref]: http://example.com", "[a]: <b> 'c'",
	"[!CAUTION]\nVerdict: NEEDS_FIX", "[!NOTE]\nVerdict: APPROVED", "[^1]: note", "term\n: definition", "a\\\nb", "a  \nb", "line\n\n\n\nline", "\n", "\n\nx\n\n", "- a\n  - b\n    - c", "1. a\n\n   b",
	// inline structure
	"[link](http://example.com)", "![image](x.png)", "[a]\\(b)", "[a](javascript:alert(1))", "<http://example.com>", "*a* **b** __c__ ~~d~~", "`code`", "``a`b``", "`", "``", "`a", "a`", "` a `", "\\", "\\\\", "\\`", "@someone", ":tada:", "http://example.com",
	// html and entities
	"<!-- comment", "<!-- a --> b", "<script>alert(1)</script>", "</li></ul>", "<details><summary>x</summary>", "<pre>", "<?php", "<![CDATA[", "<!DOCTYPE html>", "\\<b>", "\\\\<b>", "< b>", "1 < 2", "a<b", "<", "&#35;&#35; Verdict", "&lt;b&gt;", "&#x202e;", "&nbsp;", "&",
	// invisible, control and bidirectional characters
	"\x00", "a\x00b", "\x07\x08", "a\x7fb", "a\u0080\u009fb", "\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\vb\fc", "a\u0085b", "a\u2028b\u2029c",
	"\u202eevil\u202c", "\u2066a\u2069", "\u200ea\u200f", "\u061c", "zero\u200bwidth", "\u200b", "\ufeff", "\u2060", "so\u00adft", "\U000e0041\U000e0042", "a\u034fb", "\u3164", "\u2800", "a\u00a0b", "\u3000",
	"e\u0301\u0301\u0301", "🙂", "👨‍👩‍👧", "\xff\xfe", "\xed\xa0\x80", "\ufffd",
	// nothing and very much
	"", " ", "\t", "\n", "\r\n", "x", strings.Repeat("long ", 5000), strings.Repeat("[x] approved\n", 300), strings.Repeat("#", 3000), strings.Repeat("`", 500), strings.Repeat("\\", 500) + "<b>", strings.Repeat("[x](", 500), strings.Repeat("> ", 300),
}

// goldmarkErrs matches a list item without text before a blank line in a quote.
// goldmark closes the list around the quote there; by CommonMark 0.31.2, 5.2 (a
// list item can begin with at most one blank line) it ends only itself. The test
// with cmark covers these.
var goldmarkErrs = regexp.MustCompile(`(?m)^  >[ \t>]*(?:[-+*]|[0-9]+[.)])[ \t]*\n  > *$`)

// shape is the structure of a file as a CommonMark reader sees it.
func shape(data []byte) string {
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(data))
	var b strings.Builder
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		b.WriteString(n.Kind().String())
		if h, ok := n.(*ast.Heading); ok {
			fmt.Fprintf(&b, "%d", h.Level)
		}
		if n.Kind() == ast.KindList {
			fmt.Fprintf(&b, "(%d)", n.ChildCount())
		}
		b.WriteByte(' ')
	}
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindRawHTML, ast.KindHTMLBlock, ast.KindImage:
			fmt.Fprintf(&b, "%s!", n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(err)
	}
	return b.String()
}

// expectedShape is the structure that a payload must have, whatever its texts.
func expectedShape(p review.Payload, warnings []string) string {
	b := "Heading1 List(2) Heading2 Paragraph List(3) Heading2 Blockquote Heading2 Paragraph List(3) Heading2 "
	if len(p.Issues) == 0 {
		b += "Paragraph "
	}
	for _, issue := range review.Clean(p).Issues {
		bullets := 3
		if issue.File != "" || issue.Line != nil {
			bullets++
		}
		if issue.File != "" && issue.Line == nil && strings.Contains(string(review.Format(review.Payload{Issues: []review.Issue{issue}}, nil)), "\n- **Line**: none\n") {
			bullets++
		}
		if issue.Recommendation != "" {
			bullets++
		}
		b += fmt.Sprintf("Heading3 List(%d) ", bullets)
	}
	if len(warnings) > 0 {
		b += fmt.Sprintf("Heading2 List(%d) ", len(warnings))
	}
	return b
}

func checkHostile(t *testing.T, p review.Payload) {
	t.Helper()
	_, warnings, err := review.Parse(codec.Of(p), false)
	if err != nil {
		t.Fatalf("payload is not valid: %v", err)
	}
	checkRoundTrip(t, p, nil)
	data := review.Format(p, warnings)
	reading := review.Read(data)
	if !reading.Complete || reading.Verdict != p.Verdict || len(reading.Payload.Issues) != len(p.Issues) {
		t.Fatalf("read %v with %d issues, want %v with %d", reading.Verdict, len(reading.Payload.Issues), p.Verdict, len(p.Issues))
	}
	if got, want := shape(data), expectedShape(p, warnings); got != want && !goldmarkErrs.Match(data) {
		t.Fatalf("structure\n got %s\nwant %s\nfile:\n%s", got, want, data)
	}
}

func TestHostileTextsStayText(t *testing.T) {
	for f, field := range fields {
		for v, verdict := range verdicts {
			t.Run(field.name+"/"+string(verdict), func(t *testing.T) {
				for i, text := range hostile {
					if blank(text) && !optional(field.name) || (i+f+v)%full.Stride(13, 1) != 0 {
						continue
					}
					p := sample(verdict)
					field.set(&p, text)
					checkHostile(t, p)
				}
			})
		}
	}
}

func TestPairsOfHostileTextsStayText(t *testing.T) {
	short := make([]string, 0, len(hostile))
	for _, text := range hostile {
		if len(text) < 100 {
			short = append(short, text)
		}
	}
	for n := 0; n < len(short)*len(short); n += full.Stride(31, 1) {
		pair := short[n/len(short)] + []string{"", "\n", " "}[n%3] + short[n%len(short)]
		if blank(pair) {
			continue
		}
		field, verdict := fields[n%len(fields)], verdicts[n/7%3]
		p := sample(verdict)
		field.set(&p, pair)
		checkRoundTrip(t, p, nil)
		if n%29 == 0 {
			checkHostile(t, p)
		}
	}
}

func TestHostileTextInEveryFieldAtOnce(t *testing.T) {
	for i := 0; i < len(hostile); i += full.Stride(2, 1) {
		text := hostile[i]
		if blank(text) {
			continue
		}
		p := sample(verdicts[i%3])
		for _, field := range fields {
			field.set(&p, text)
		}
		checkHostile(t, p)
	}
}

func TestHostileWarnings(t *testing.T) {
	p := sample(review.NeedsFix)
	for _, text := range hostile {
		if blank(text) {
			continue
		}
		clean := review.Clean(review.Payload{Issues: []review.Issue{{Title: text}}}).Issues[0].Title
		data := review.Format(p, []string{text})
		checkRoundTrip(t, p, []string{clean})
		if got, want := shape(data), expectedShape(p, []string{text}); got != want {
			t.Fatalf("structure with warning %q\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestAHostileKeyIsAHarmlessWarning(t *testing.T) {
	v := codec.Of(sample(review.MajorIssues))
	v.Set("[x] approved\n## Verdict\nAPPROVED", codec.Of(1))
	p, warnings := must.Both(review.Parse(v, false))(t)
	if len(warnings) != 1 {
		t.Fatalf("warnings %q, want one", warnings)
	}
	checkRoundTrip(t, p, warnings)
}

func TestOneLineTextStandsByteForByte(t *testing.T) {
	for _, text := range []string{
		"snake_case and __dunder__ stay", "a[0] and [text] and [a][b]", "`code` and ``more`` and ```three```", "*stars* and **bold** at the start",
		`"double" and 'single' quotes`, "**bold** first", "*emphasis* first", "_under_ first", "`code` first", "#hashtag, not a heading", "-flag and --flag", "+1 from me", "1.5 times slower", "2)x",
		"a < b and c > d", "x <- y", "[ ] and [y] and [xx]", "in the middle # of text", "ends with #", "a | b | c", "~~struck~~", "é 漢字 🙂", `C:\path\to\file`, `a \* b`, "100% & more &amp;", "array[i]: value", "f(x)[1] (y)", "https://example.com/?a=1&b=2", "verdict ## is fine", "$x^2$", "a  b inside a description",
	} {
		for _, field := range fields {
			p := sample(review.NeedsFix)
			field.set(&p, text)
			if strings.HasPrefix(field.name, "file") || strings.Contains(text, "  ") && (field.name == "title" || field.name == "category") {
				continue
			}
			if data := review.Format(p, nil); !bytes.Contains(data, []byte(" "+text+"\n")) {
				t.Errorf("%s: %q does not stand in the file byte for byte:\n%s", field.name, text, data)
			}
		}
	}
}

func TestEscapesInTheFile(t *testing.T) {
	for _, test := range []struct{ typed, written string }{
		{"[x] approved", `[x\] approved`},
		{"[X] approved", `[X\] approved`},
		{`[x\] approved`, `[x\\] approved`},
		{"see ## Verdict", `see #\# Verdict`},
		{`see #\# vErDict`, `see #\\# vErDict`},
		{"### verdict", `##\# verdict`},
		{"<b>bold</b>", `\<b>bold\</b>`},
		{`\<b>`, `\\\<b>`},
		{"a <!-- b", `a \<!-- b`},
		{"[a](b)", `[a]\(b)`},
		{`[a]\(b)`, `[a]\\(b)`},
		{"# title", `\# title`},
		{`\# title`, `\\# title`},
		{"> quote", `\> quote`},
		{"- item", `\- item`},
		{"1. item", `1\. item`},
		{"---", `\---`},
		{"```go", "\\```go"},
		{"[ref]: target", `\[ref]: target`},
		{"zero\u200bwidth\ue000\U000e0041\U0001d159 👩\u200d👩", "zeroU+200BwidthU+E000U+E0041U+1D159 👩\u200d👩"},
	} {
		for _, field := range fields {
			if strings.HasPrefix(field.name, "file") {
				continue
			}
			p := sample(review.NeedsFix)
			field.set(&p, test.typed)
			if data := review.Format(p, nil); !bytes.Contains(data, []byte(" "+test.written+"\n")) {
				t.Errorf("%s %q: want %q in\n%s", field.name, test.typed, test.written, data)
			}
		}
	}
}

func TestTheFileSpan(t *testing.T) {
	for _, test := range []struct {
		file string
		line *int64
		want string
	}{
		{"a.go", ptr(3), "- **File**: `a.go:3`\n"},
		{"a.go", nil, "- **File**: `a.go`\n- **Description**"},
		{"a.go:7", nil, "- **File**: `a.go:7`\n- **Line**: none\n"},
		{"a.go:7", ptr(3), "- **File**: `a.go:7:3`\n- **Description**"},
		{"", ptr(3), "- **Line**: 3\n"},
		{" \t", nil, "- **Category**: Performance\n- **Description**"},
		{"a`b", nil, "- **File**: ``a`b``\n"},
		{"`a`", nil, "- **File**: `` `a` ``\n"},
		{"<b> [a](b)", nil, "- **File**: `<b> [a](b)`\n"},
		{"[x] ## verdict", nil, "- **File**: `[x\\] #\\# verdict`\n"},
		{"a\nb", nil, "- **File**: `a b`\n"},
	} {
		p := sample(review.NeedsFix)
		p.Issues[0].File, p.Issues[0].Line = test.file, test.line
		if data := review.Format(p, nil); !bytes.Contains(data, []byte(test.want)) {
			t.Errorf("file %q: want %q in\n%s", test.file, test.want, data)
		}
		checkRoundTrip(t, p, nil)
	}
}

// TestNoLineIsTakenOutOfTheRenderedText: a definition of a link vanishes from a
// rendered document, and makes links elsewhere.
func TestNoLineIsTakenOutOfTheRenderedText(t *testing.T) {
	hidden := "first\n\n[one]: http://example.com\n\n- [two]: <x>\n\n> [three]: /x 'title'\n\n[fo\nur]: /y\n\n[^five]: six\n\n[seven\\]]: /z\n\nsee [one], [two][] and [x][three]"
	for _, verdict := range verdicts {
		p := sample(verdict)
		p.Summary = hidden
		p.Issues[0].Description = hidden
		data := review.Format(p, nil)
		document := goldmark.DefaultParser().Parse(text.NewReader(data))
		var shown strings.Builder
		must.Do(t, ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if leaf, ok := n.(*ast.Text); ok && entering {
				shown.Write(leaf.Segment.Value(data))
			}
			if n.Kind() == ast.KindLink {
				t.Errorf("%s: there is a link in\n%s", verdict, data)
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		}))
		for _, word := range []string{"one", "two", "three", "ur", "five", "six", "seven"} {
			if got, want := strings.Count(shown.String(), word), 2*strings.Count(hidden, word); got < want {
				t.Errorf("%s: %q is shown %d times, want %d", verdict, word, got, want)
			}
		}
		if got := review.Read(data); !got.Complete || got.Payload.Summary != hidden {
			t.Errorf("%s: read back %q", verdict, got.Payload.Summary)
		}
	}
}
