package markdown_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// cmarkDifferences are the shapes that cmark 0.30 reads differently from
// CommonMark 0.31.2.
var cmarkDifferences = []difference{
	{
		name:     "complete tag of a raw element",
		sentence: "Start condition 7: line begins with a complete open tag (with any tag name other than pre, script, style, or textarea)",
		example:  "<pre/>\n# a\n",
		applies:  regexp.MustCompile(`(?i)<(pre|script|style|textarea)/`),
	},
	{
		name:     "list of block elements",
		sentence: "Start condition 6: line begins with the string < or </ followed by one of the strings (case-insensitive) …, search, section, summary, …",
		example:  "a\n<search>\n# b\n",
		applies:  regexp.MustCompile(`(?i)<(search|source)`),
	},
	{
		name:     "CDATA in lower case",
		sentence: "Start condition 5: line begins with the string <![CDATA[.",
		example:  "<![cdata[\n# a\n",
		applies:  regexp.MustCompile(`<!\[cdata\[`),
	},
	{
		name:     "declaration in lower case",
		sentence: "Start condition 4: line begins with the string <! followed by an ASCII letter.",
		example:  "<!x\n# a\n",
		applies:  regexp.MustCompile(`<![a-z]`),
	},
	{
		name:     "break below a definition",
		sentence: "A line consisting of optionally up to three spaces of indentation, followed by a sequence of three or more matching -, _, or * characters, each followed optionally by any number of spaces or tabs, forms a thematic break.",
		example:  "[a]: b\n---\n<x>\n# a\n",
		applies:  regexp.MustCompile(`(?s)\]:.*[\r\n][ \t>]*---`),
	},
	{
		name:     "blank lines after an item that only has a definition",
		sentence: "A list item can begin with at most one blank line.",
		example:  "- [a]: b\n\n\n  # c\n",
		applies:  regexp.MustCompile(`(?s)([-+*]|\d[.)]).*\]:.*(\n|\r)[ \t>]*(\r\n|\n|\r)[ \t>]*(\r|\n)`),
	},
	{
		name:     "form feed in a tag",
		sentence: "Start condition 6: …, followed by a space, a tab, the end of the line, the string >, or the string />. / An attribute consists of spaces, tabs, and up to one line ending, an attribute name, and an optional attribute value specification.",
		example:  "<div\f>\n# a\n",
		applies:  regexp.MustCompile(`<[^\r\n]*[\f\v]`),
	},
	{
		name:     "indented blank line after an empty item",
		sentence: "A list item can begin with at most one blank line.",
		example:  "- \n  \n  # a\n",
		applies:  regexp.MustCompile(`([-+*]|\d[.)])[ \t]*(\r\n|\n|\r)[ \t>]*[ \t](\r|\n)`),
	},
}

func cmarkVerdict(t *testing.T, doc string) verdict {
	t.Helper()
	cmd := exec.Command("cmark", "-t", "xml", "--sourcepos")
	cmd.Stdin = strings.NewReader(doc)
	out := must.Get(cmd.Output())(t)
	var tree struct {
		Headings []struct {
			Level int    `xml:"level,attr"`
			Pos   string `xml:"sourcepos,attr"`
		} `xml:"heading"`
	}
	out = bytes.ReplaceAll(out, []byte("\x00"), nil)
	dec := xml.NewDecoder(bytes.NewReader(out))
	dec.Strict = false
	if err := dec.Decode(&tree); err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(doc, "\ufeff")), "\n")
	var v verdict
	for _, h := range tree.Headings {
		var line int
		must.Get(fmt.Sscanf(h.Pos, "%d:", &line))(t)
		if atxLine.MatchString(lines[line-1]) {
			v.Headings = append(v.Headings, heading{Line: line, Level: h.Level})
		}
	}
	return v
}

func needCmark(t *testing.T) {
	t.Helper()
	out, err := exec.Command("cmark", "--version").Output()
	if err != nil {
		t.Skipf("no cmark: %v", err)
	}
	if !bytes.Contains(out, []byte("cmark 0.30")) {
		t.Skipf("the differences are listed for cmark 0.30, not for %s", bytes.TrimSpace(out))
	}
}

func TestAgreesWithCmark(t *testing.T) {
	needCmark(t)
	docs := corpus(t, 3, 101, documents()/4) // a process each
	verdicts := make([]verdict, len(docs))
	for i, doc := range docs {
		verdicts[i] = cmarkVerdict(t, doc)
	}
	compare(t, docs, verdicts, linesAndLevels, cmarkDifferences)
}

func TestCmarkDiffersAsListed(t *testing.T) {
	needCmark(t)
	for _, d := range cmarkDifferences {
		checkListed(t, d, cmarkVerdict(t, d.example), linesAndLevels)
	}
}
