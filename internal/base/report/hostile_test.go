package report_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/full"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

// hostile holds one text for every way we know to break out of a format.
var hostile = map[string]string{
	"empty":                      "",
	"blank":                      " \t ",
	"one line end":               "\n",
	"lines of all kinds":         "a\nb\r\nc\rd\u0085e\u2028f\u2029g\vh\fi",
	"heading":                    "# heading #",
	"heading after a line":       "x\n# heading\n## verdict\n",
	"setext heading":             "title\n===\nother\n---\n",
	"thematic break":             "***\n---\n___",
	"list":                       "- item\n+ item\n* item\n1. item\n2) item\n- [x] done",
	"quote":                      "> quoted\n> [!NOTE]\n> text",
	"fence":                      "```\ncode\n```\n~~~\nx",
	"fence of many":              "``````` ```` ` `",
	"code span":                  "`a` ``b`` ` `` `",
	"only back-ticks and a sign": "``@``",
	"back-tick at the ends":      "`@x`",
	"indented code":              "    code\n\tcode",
	"table":                      "a | b\n--- | ---\n1 | 2",
	"delimiter row":              "a\n:-:\nb",
	"row end":                    "x |\n| y |",
	"escaped pipe":               `a\|b \\| c|`,
	"pipe in code":               "`a|b` @u|v|",
	"backslash at the end":       `ends with \`,
	"backslashes":                `\\\ \* \[ \` + "`",
	"link":                       "[text](https://example.com) [a]: https://example.com",
	"link in sarif":              "see [here](1) and {0} {{1}}",
	"image":                      "![alt](https://example.com/x.png)",
	"reference":                  "[ref][x]\n\n[x]: https://example.com 'title'",
	"footnote":                   "[^1]\n\n[^1]: note",
	"autolink":                   "<https://example.com> <a@example.com>",
	"bare address":               "https://example.com/a_b?c=d&e=f http://x.y ftp://x.y www.example.com WWW.Example.com (www.x.yz)",
	"mail":                       "a@example.com mailto:a@example.com xmpp:a@example.com/b",
	"mention":                    "@octocat cc @org/team, x@y @@ (@z)",
	"issue reference":            "#123 org/repo#4 GH-5 gh-6 a##7",
	"formula":                    "$x$ $$y$$ $`z`$ costs $5 or $6",
	"html":                       "<script>alert(1)</script><img src=x onerror=y> </td></tr></table>",
	"html block":                 "<div>\n\n<!-- hidden\n-->\n<details>",
	"comment":                    "<!-- x --> <!-- unclosed",
	"declaration":                "<!DOCTYPE html><?php x ?><![CDATA[ x ]]>",
	"entities":                   "&lt;b&gt; &amp; &#35; &#x40;user &nbsp;",
	"emphasis":                   "*a* **b** _c_ __d__ ***e*** ~~f~~ * ** a*b*c snake_case_name",
	"xml end":                    "]]> </failure></testcase> \" ' & <",
	"json":                       `"},{"ruleId":"x"} \u0000 \n`,
	"workflow command":           "::error file=x,line=1::boo\n::set-output name=a::b\n  ::stop-commands::x",
	"old workflow command":       "x ##[error]boo ##[add-mask]x ##vso[task.setvariable]y ##teamcity[x]",
	"percent":                    "100% %0A%0D%25 a:b,c=d",
	"terminal escapes":           "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\x1b[H \x9b31m \u009b31m",
	"controls":                   "\x00\x01\x08\x0e\x7f\u0080\u009f",
	"carriage return":            "visible\rhidden",
	"bidirectional":              "\u202eevil\u202c \u2066x\u2069 \u200f\u061c",
	"invisible":                  "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u034fh\u3164i\u2800j\u180ek\ufe0fl",
	"tags":                       "x\U000e0041\U000e0042\U000e007f\U000e0100",
	"blanks of all kinds":        "a\u00a0b\u2003c\u3000d\u202fe",
	"not characters":             "\ufffe\uffff\U0001ffff\ufdd0",
	"not utf-8":                  "\xff\xfe a \xc3 \xed\xa0\x80 \xf4\x90\x80\x80",
	"private use":                "\ue000\U000f0000",
	"drawn as nothing":           "a\U0001d159b\U00016fe4c",
	"combining":                  "\u0301x\u0300\u0301\u0302",
	"wide":                       "漢字かな 한글 👩‍👩‍👧 ⚠️",
	"path up":                    "../../etc/passwd",
	"colon first":                "a:b:12",
	"scheme":                     "javascript:alert(1)",
	"query":                      "a?b#c%20d e",
	"slashes":                    "//host/share",
	"absolute":                   "/runs/r1/../../x y",
	"a code span beside a link":  "``` `` ```[text](https://example.com) https://example.com`a`",
	"a long word":                strings.Repeat("x", 1100),
	"a long text":                strings.Repeat("lorem ipsum_ ", 60),
	"a long escape":              strings.Repeat("|", 150),
	"numbers first":              "1. one\n12) two\n2024. three",
	"plus and minus":             "+ a\n- b\n= c\n: d\n% e",
}

// everywhere puts line into every field of one line and text into every field
// of several.
func everywhere(line, text string) report.Report {
	r := report.Report{
		Name: line, Title: line, Summary: line, Status: report.Fail,
		Rules:      []report.Rule{{ID: line, Short: line, Help: text}, {ID: line}},
		Properties: []report.Property{{Name: line, Value: line}, {Name: line, Value: line}},
	}
	table := report.NewTable("first", ">number", "place", "last")
	table.Columns[0].Name, table.Columns[1].Name = line, line
	table.Row(report.Fail, line, 1, report.Place{File: line, Line: 3}, line)
	table.Row(report.Pass, line, line, report.Place{File: line}, line)
	r.Add(report.Heading(line), table, report.Paragraph(text),
		report.Fields{{Name: line, Value: line}, {Name: line, Value: line, Mark: report.Warn}},
		report.Bullets{line, line}, report.Findings{}, report.Heading(line))
	r.AddCase(report.Case{Name: line, File: line, Status: report.Fail, Findings: []report.Finding{
		{Rule: line, Title: line, Message: text, Help: text, Category: line, File: line, Line: 7, ID: line,
			Properties: []report.Property{{Name: line, Value: text}}},
		{Rule: line, Level: report.LevelWarning, Message: text},
	}})
	r.AddCase(report.Case{Name: line, Status: report.Pass, Findings: []report.Finding{{Level: report.LevelNote, Title: line}}})
	r.AddCase(report.Case{Name: line, Status: report.Fail, Note: line})
	r.AddCase(report.Case{Name: line, Status: report.Skip, Note: line})
	r.AddCase(report.Case{Name: line, Status: report.Pass})
	return r
}

// calm gives words in place of s, with and without its lines.
func calm(s string) (line, text string) {
	lines := strings.Split(report.Visible(s), "\n")
	for i := range lines {
		if strings.TrimSpace(lines[i]) != "" {
			lines[i] = "x"
			line = "x"
		}
	}
	return line, strings.Join(lines, "\n")
}

// shown is s as the formats for people show it on one line.
func shown(s string) string {
	var lines []string
	for line := range strings.SplitSeq(report.Visible(s), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

var checks = []struct {
	format string
	check  func(t *testing.T, s string)
}{
	{"text", checkText},
	{"markdown", checkMarkdown},
	{"sarif", checkSARIF},
	{"junit", checkJUnit},
	{"github", checkGitHub},
	{"rdjson", checkRDJSON},
	{"gitlab", checkGitLab},
}

func TestHostileContent(t *testing.T) {
	if len(checks) != len(report.Formats()) {
		t.Fatalf("%d formats, %d of them checked", len(report.Formats()), len(checks))
	}
	for name, s := range hostile {
		for _, c := range checks {
			t.Run(c.format+"/"+name, func(t *testing.T) { c.check(t, s) })
		}
	}
}

func TestHostilePairs(t *testing.T) {
	glues := []string{"", " ", "\n", "|"}
	names := slices.Sorted(maps.Keys(hostile))
	for i, a := range names {
		for j, b := range names {
			s := hostile[a] + glues[(i+j)%len(glues)] + hostile[b]
			if len(s) > 600 || (i+7*j)%full.Stride(11, 1) != 0 {
				continue
			}
			t.Run(a+" and "+b, func(t *testing.T) { checkStructure(t, s, brief(s, s), brief(calm(s))) })
		}
	}
}

// brief is the part of [everywhere] in which neighbours matter.
func brief(line, text string) report.Report {
	table := report.NewTable(line, "last")
	table.Row(report.None, line, line)
	return report.Report{Blocks: []report.Block{table, report.Paragraph(text), report.Bullets{line, line}}}
}

func FuzzWriters(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 120 { // what markdown leaves out has a test of its own
			s = s[:120]
		}
		for _, c := range checks {
			c.check(t, s)
		}
	})
}
