package markdown_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// commonmarkJSDifferences are the shapes that the npm package commonmark 0.31.2
// reads differently from the specification that it implements.
var commonmarkJSDifferences = []difference{
	{
		name:     "complete tag of a raw element",
		sentence: "Start condition 7: line begins with a complete open tag (with any tag name other than pre, script, style, or textarea)",
		example:  "<pre/>\n# a\n",
		applies:  regexp.MustCompile(`(?i)<(pre|script|style|textarea)/`),
	},
	{
		name:     "tab in a link reference definition",
		sentence: "It consists of a link label, optionally preceded by up to three spaces of indentation, followed by a colon (:), optional spaces or tabs (including up to one line ending), a link destination, optional spaces or tabs (including up to one line ending), and an optional link title, which if it is present must be separated from the link destination by spaces or tabs. No further character may occur.",
		example:  "[a]:\tb\n===\n<x>\n# c\n",
		applies:  regexp.MustCompile(`\][ \n]*:[^\n]*\t|\]:[ \r\n]*[^\s]+[ ]*\t`),
	},
	{
		name:     "other white space in a tag",
		sentence: "Start condition 6: …, followed by a space, a tab, the end of the line, the string >, or the string />. / An attribute consists of spaces, tabs, and up to one line ending, an attribute name, and an optional attribute value specification.",
		example:  "<div\f>\n# a\n",
		applies:  regexp.MustCompile(`<[^\r\n]*[\f\v\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`),
	},
	{
		name:     "form feed in an item that interrupts a paragraph",
		sentence: "A line containing no characters, or a line containing only spaces (U+0020) or tabs (U+0009), is called a blank line.",
		example:  "a\n- \f\n\n  # b\n",
		applies:  regexp.MustCompile(`([-+*]|\d[.)])[ \t]+[\f\v]`),
	},
	{
		name:     "control character in a link destination",
		sentence: "a nonempty sequence of characters that does not start with <, does not include ASCII control characters or space character",
		example:  "[a]: b\x01c\n===\n<x>\n# d\n",
		applies:  regexp.MustCompile(`\]:[ \t]*(\r\n|\n|\r)?[ \t>]*[^ \t\r\n]*[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]`),
	},
	{
		name:     "label of other white space",
		sentence: "Between these brackets there must be at least one character that is not a space, tab, or line ending.",
		example:  "[\f]: b\n===\n<x>\n# c\n",
		applies:  regexp.MustCompile(`\[\s*[\f\v\x{a0}]\s*\]`),
	},
}

// commonmarkJSVerdicts judges all documents in one process.
func commonmarkJSVerdicts(t *testing.T, docs []string) []verdict {
	t.Helper()
	dir := npmPackage(t)
	script := must.Get(os.ReadFile("testdata/referee.mjs"))(t)
	// Modules are looked up from where the script is.
	path := filepath.Join(dir, "referee.mjs")
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
	var verdicts []verdict
	must.Do(t, json.Unmarshal(bytes.ReplaceAll(out, []byte("\ufffd"), []byte(`\u0000`)), &verdicts))
	if len(verdicts) != len(docs) {
		t.Fatalf("%d verdicts for %d documents", len(verdicts), len(docs))
	}
	for i := range verdicts {
		v := &verdicts[i]
		for j := range v.Headings {
			v.Headings[j].Text = strings.TrimSpace(v.Headings[j].Text)
		}
		if len(v.Headings) == 0 {
			v.Places = nil
			continue
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(in[i])
		n := strings.Count(lines, "\n")
		if !strings.HasSuffix(lines, "\n") {
			n++
		}
		v.Places = v.Places[v.Headings[0].Line-1 : n]
	}
	return verdicts
}

// npmPackage is a folder in which the npm package is installed.
func npmPackage(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no place for the npm package: %v", err)
	}
	dir := filepath.Join(cache, "tidegate-test", "commonmark-0.31.2")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "commonmark", "package.json")); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skipf("no place for the npm package: %v", err)
	}
	out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
		"--fetch-retries=0", "commonmark@0.31.2").CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install commonmark: %v\n%s", err, out)
	}
	return dir
}

func whole(v verdict) any { return v }

// TestAgreesWithCommonmarkJS: the referee agrees, except as listed. It is started once.
func TestAgreesWithCommonmarkJS(t *testing.T) {
	docs := corpus(t, 1, 29, documents())
	n := len(docs)
	for _, d := range commonmarkJSDifferences {
		docs = append(docs, d.example)
	}
	verdicts := commonmarkJSVerdicts(t, docs)
	compare(t, docs[:n], verdicts[:n], whole, commonmarkJSDifferences)
	for i, d := range commonmarkJSDifferences {
		checkListed(t, d, verdicts[n+i], whole)
	}
}
