package source_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

func TestExtractURLs(t *testing.T) {
	for line, want := range map[string][]string{
		"- https://a.test/x":                          {"https://a.test/x"},
		"1. HTTPS://A.test/B":                         {"HTTPS://A.test/B"},
		"2) [Title](https://a.test/x \"t\")":          {"https://a.test/x"},
		"- <https://a.test/x?y=(z)>":                  {"https://a.test/x?y=(z)"},
		"- https://a.test/wiki/Go_(language)":         {"https://a.test/wiki/Go_(language)"},
		"- (https://a.test/wiki/Go_(language))":       {"https://a.test/wiki/Go_(language)"},
		"- [Go](https://a.test/wiki/Go_(language))":   {"https://a.test/wiki/Go_(language)"},
		"- [Go](<https://a.test/a b>)":                {"https://a.test/a b"},
		"- **https://a.test/b**":                      {"https://a.test/b"},
		"- _https://a.test/b_":                        {"https://a.test/b"},
		"- **[T](https://a.test/b)**":                 {"https://a.test/b"},
		"- https://a.test/foo\\_bar\\*":               {"https://a.test/foo_bar"},
		"- https://a.test/?a=1&amp;b=2":               {"https://a.test/?a=1&b=2"},
		"- [x](https://a.test/?a=1&amp;b=2\\))":       {"https://a.test/?a=1&b=2)"},
		"- https://a.test/x, and https://b.test/y.":   {"https://a.test/x", "https://b.test/y"},
		"- https://a.test/x。次 https://b.test/y…":      {"https://a.test/x", "https://b.test/y"},
		"- “https://a.test/x”":                        {"https://a.test/x"},
		"- `https://a.test/x_y`":                      {"https://a.test/x_y"},
		"- <a href=\"https://a.test/x\">y</a>":        {"https://a.test/x"},
		"- http://[::1]/x":                            {"http://[::1]/x"},
		"- https://a.test/b?x=[1]":                    {"https://a.test/b?x=[1]"},
		"- https://a.test/b[@cid_1]":                  {"https://a.test/b"},
		"- [https://a.test/b](https://a.test/b)":      {"https://a.test/b"},
		"- [https://a.test/b](https://c.test/d)":      {"https://a.test/b", "https://c.test/d"},
		"- https://a.test/x https://A.test/x/":        {"https://a.test/x"},
		"- ![i](https://a.test/i.png) https://a.test": {"https://a.test/i.png", "https://a.test"},
		"- [1]: https://a.test/x":                     {"https://a.test/x"},
		"- foohttps://a.test/x":                       {"https://a.test/x"},
		"- [ ] https://a.test/x":                      {"https://a.test/x"},
		"> - https://a.test/x":                        {"https://a.test/x"},
		"  no list item https://a.test/x":             {"https://a.test/x"},
		"| t | https://a.test/x | y |":                {"https://a.test/x"},
		"- https://a.test/\xff\xfe":                   {"https://a.test/\xff\xfe"},
		"- https://münchen.test/straße":               {"https://münchen.test/straße"},
		"- see [here](#sources) or [this](x.html)":    {"x.html"},
		// What only looks like a URL is kept.
		"- https://":                            {"https://"},
		"- https://)":                           {"https://"},
		"- https://a b.test":                    {"https://a"},
		"- https://a.test|b":                    {"https://a.test|b"},
		"- ftp://a.test/x":                      {"ftp://a.test/x"},
		"- [x](mailto:a@b.test) https://a.test": {"mailto:a@b.test", "https://a.test"},
		"- https://[::1":                        {"https://[::1"},
		// Credentials never leave the function.
		"- https://u:s3cret@a.test/x?token=s3cret": {"https://[REDACTED]@a.test/x?token=[REDACTED]"},
		"- [s](https://a.test/?t&#111;ken=s3cret)": {"https://a.test/?token=[REDACTED]"},
	} {
		found := source.Extract([]byte("# T\n\nhttps://not.test/\n\n## Sources\n\n" + line + "\n\n## Gaps\n- https://not.test/\n"))
		var got []string
		for _, c := range found {
			got = append(got, c.URL)
			if c.Number != 7 || strings.Contains(c.Line, "s3cret") {
				t.Errorf("%q: line %d, %q", line, c.Number, c.Line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestExtractTitles(t *testing.T) {
	for line, want := range map[string]string{
		"- Tides of the North Sea: https://a.test/x":                          "Tides of the North Sea",
		"- [Tides of the *North* Sea](https://a.test/x) (BSH, 2021)":          "Tides of the North Sea",
		"- \"Tides\", BSH, 2021. <https://a.test/x>":                          "Tides\", BSH, 2021",
		"- https://a.test/x — Tides of the North Sea":                         "Tides of the North Sea",
		"- Tides [1](https://a.test/x)":                                       "Tides",
		"- https://a.test/x":                                                  "",
		"- [https://a.test/x](https://a.test/x)":                              "",
		"- **Tides** &amp; currents \\[draft\\] - https://a.test/x, accessed": "Tides & currents [draft",
		"- 潮汐表 <https://a.test/x>":                                            "潮汐表",
	} {
		found := source.Extract([]byte("## Sources\n" + line + "\n"))
		if len(found) != 1 || found[0].Title != want {
			t.Errorf("%q: got %+v, want the title %q", line, found, want)
		}
	}
	found := source.Extract([]byte("## Sources\n- One https://a.test/1, two https://a.test/2 [three](https://a.test/3)\n"))
	var titles []string
	for _, c := range found {
		titles = append(titles, c.Title)
	}
	if want := []string{"One", "two", "three"}; !slices.Equal(titles, want) {
		t.Errorf("got %q, want %q", titles, want)
	}
}

func TestExtractFollowsReferences(t *testing.T) {
	const doc = `## Findings

Tides turn [see][bsh].

## Sources

- [Tides of the North Sea][BSH]
- [noaa][]
- Currents: [noaa], https://a.test/x
- ![map][chart] and [unknown][nowhere]
- [secret][]

## Appendix

[bsh]: https://bsh.test/tides "Tides"
[noaa]: <https://noaa.test/currents>
[Chart]:
  https://chart.test/map.png
[bsh]: https://second.test/
[secret]: https://u:s3cret@a.test/
`
	want := []source.Cited{
		{URL: "https://bsh.test/tides", Title: "Tides of the North Sea", Line: "- [Tides of the North Sea][BSH]", Number: 7},
		{URL: "https://noaa.test/currents", Title: "noaa", Line: "- [noaa][]", Number: 8},
		{URL: "https://noaa.test/currents", Title: "noaa", Line: "- Currents: [noaa], https://a.test/x", Number: 9},
		{URL: "https://a.test/x", Line: "- Currents: [noaa], https://a.test/x", Number: 9},
		{URL: "https://chart.test/map.png", Title: "map", Line: "- ![map][chart] and [unknown][nowhere]", Number: 10},
		{URL: "https://[REDACTED]@a.test/", Title: "secret", Line: "https://[REDACTED]@a.test/", Number: 11},
	}
	if diff := cmp.Diff(want, source.Extract([]byte(doc))); diff != "" {
		t.Error(diff)
	}
}

func TestExtractReadsTheFirstSourcesSection(t *testing.T) {
	doc := "```\n## Sources\n- https://fence.test/\n```\n\n# SOURCES #\n- https://a.test/\n\n```\n# Not a heading\n- https://b.test/\n```\n- https://c.test/\n" +
		"### Deeper\n- https://d.test/\n## Sources\n- https://e.test/\n"
	want := []source.Cited{
		{URL: "https://a.test/", Line: "- https://a.test/", Number: 7},
		{URL: "https://b.test/", Line: "- https://b.test/", Number: 11},
		{URL: "https://c.test/", Line: "- https://c.test/", Number: 13},
	}
	if diff := cmp.Diff(want, source.Extract([]byte(doc))); diff != "" {
		t.Error(diff)
	}
	if found := source.Extract([]byte("## ſources\n- https://a.test/\n")); len(found) != 0 {
		t.Errorf("a heading with a long s is another heading: %v", found)
	}
	long := "## Sources\n- " + strings.Repeat("x", 2<<20) + " https://a.test/far\n"
	if found := source.Extract([]byte(long)); len(found) != 1 || found[0].URL != "https://a.test/far" {
		t.Errorf("a URL at the end of a line of 2 MiB: %d found", len(found))
	}
}

// goldmarkLinks is what a Markdown program makes of one block.
func goldmarkLinks(block string) []string {
	var urls []string
	source := []byte(block)
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		plain := func(dest []byte) string {
			return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
		}
		switch n := n.(type) {
		case *ast.Link:
			urls = append(urls, plain(n.Destination))
		case *ast.Image:
			urls = append(urls, plain(n.Destination))
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL {
				urls = append(urls, string(n.URL(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	return urls
}

// TestExtractAgreesWithGoldmark puts lines together from what agents write in a
// Sources section, in every order. Where a Markdown program sees links, they are
// extracted.
func TestExtractAgreesWithGoldmark(t *testing.T) {
	t.Parallel()
	parts := []string{
		"[Title](https://a.test/%d)", "[a *b* c](https://a.test/%d_(y))", "[t](<https://a.test/%d y>)", "[t](https://a.test/%d\\)\\_x 'title')",
		"[t](https://a.test/?a&amp;b=%d \"q\")", "![i](https://a.test/%d.png)", "[![i](https://a.test/%d.png)](https://b.test/)", "<https://a.test/%d>",
		"<HTTP://a.test/?q=%d>", "[open", "close]", "(", ")", "](", "[t]( https://a.test/%d )", "[a](b \"c)", "[a [b](c) d](e)",
		"\\[t](https://a.test/%d)", "[t\\](https://a.test/%d)", "`[t](https://a.test/%d)`", "``a`b``", "`", "``", "*", "**", "_", "text", " ", " and ", "1.",
		"https://bare.test/%d.", "&amp;", "<", ">", "<b>", "!", "\\", "“quoted”", "[](https://a.test/%d)", "[t]()", "<mailto:x>",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	differ := 0
	for i := 0; i < 10000; i += full.Stride(10000, 2000) {
		var b strings.Builder
		b.WriteString("- x")
		for i := range 1 + rng.IntN(7) {
			b.WriteString(strings.ReplaceAll(parts[rng.IntN(len(parts))], "%d", strconv.Itoa(i)))
		}
		line := b.String()
		extracted := map[string]bool{}
		for _, c := range source.Extract([]byte("# Sources\n" + line + "\n")) {
			extracted[normalized(c.URL)] = true
		}
		links := map[string]bool{}
		for _, url := range goldmarkLinks(line) {
			if url != "" && url[0] != '#' {
				links[normalized(url)] = true
			}
		}
		for url := range links {
			if !extracted[url] && !goldmarkErrs.MatchString(line) {
				if differ++; differ <= 10 {
					t.Errorf("%q: %s is not extracted", line, url)
				}
			}
		}
		if most := len(links) + strings.Count(line, "://"); len(extracted) > most {
			t.Errorf("%q: %d URLs are extracted, want at most %d", line, len(extracted), most)
		}
	}
	if differ > 0 {
		t.Errorf("%d URLs differ", differ)
	}
}

// goldmarkErrs holds for lines in which goldmark takes too much for a link:
// with parentheses that are not balanced, or an angle bracket inside angle
// brackets.
var goldmarkErrs = regexp.MustCompile(`\]\([^)]*\(|\]\(<[^>]*<`)

// normalized is a URL in its normal form, or as it is where it has none.
func normalized(url string) string {
	if n, err := link.Normalize(url); err == nil {
		return n
	}
	return url
}

func FuzzExtract(f *testing.F) {
	f.Add("- [T](https://a.test/x) <https://b.test/> https://c.test/y_(z). `https://d.test`")
	f.Add("- ![a](https://u:p@a.test/?token=x \"t\") **https://e.test/**&amp;\\*")
	f.Fuzz(func(t *testing.T, line string) {
		found := source.Extract([]byte("# Sources\n" + line))
		if again := source.Extract([]byte("# Sources\n" + line)); !slices.Equal(found, again) {
			t.Errorf("twice gives %v and %v", found, again)
		}
		for _, c := range found {
			if c.URL == "" || c.Number < 2 || link.Mask(c.URL) != c.URL || link.Mask(c.Line) != c.Line {
				t.Errorf("%q: %+v", line, c)
			}
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	for name, part := range map[string]string{
		"plain": "- Tides of the North Sea [BSH](https://a.test/tides_(north)) and https://b.test/x, 2021\n",
		"open":  "[", "angle": "<a", "tick": "`a``", "image": "![", "tail": "](a \"", "star": "*a_", "url": "http://[x](",
	} {
		doc := []byte("# Sources\n" + strings.Repeat(part, (1<<20)/len(part)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				source.Extract(doc)
			}
		})
	}
}
