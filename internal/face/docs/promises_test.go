package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// references are the documents that are not guides: what they say is generated, or
// they name their tests and figures in the text.
var references = []string{"decisions.md", "errors.md", "layout.md", "performance.md", "promises.md", "reliability.md", "tools.md", "words.md"}

// TestEveryPromiseNamesItsTest reads docs/promises.md: the words of each row stand in
// their document, the tests that it names exist in their packages, and every section
// of every guide has a row or is said to promise nothing.
func TestEveryPromiseNamesItsTest(t *testing.T) {
	t.Parallel()
	promises, tests := sections(read(t, "docs/promises.md")), declared(t)
	rows := 0
	for _, name := range guides(t) {
		listed, ok := promises[name]
		if !ok {
			t.Errorf("docs/promises.md has no section %s", name)
			continue
		}
		quoted := map[string]bool{}
		parts := sections(read(t, name))
		for heading := range parts {
			quoted[heading] = heading == ""
		}
		for line := range strings.Lines(listed) {
			if list, ok := strings.CutPrefix(line, "Promises nothing: "); ok {
				for heading := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "."), ", ") {
					if done, ok := quoted[heading]; !ok || done {
						t.Errorf("%s has no section %q, or it promises something", name, heading)
					}
					quoted[heading] = true
				}
			}
			cells := strings.Split(strings.Trim(line, "| \n"), " | ")
			if !strings.HasPrefix(line, "| ") || len(cells) != 2 || cells[0] == "it says" {
				continue
			}
			rows++
			found := false
			for heading, text := range parts {
				if strings.Contains(plain(text), plain(cells[0])) {
					found, quoted[heading] = true, true
				}
			}
			if !found {
				t.Errorf("%s does not say %q", name, cells[0])
			}
			for test := range strings.SplitSeq(cells[1], ", ") {
				if !tests[strings.Trim(test, "`")] {
					t.Errorf("%s: %q names %s, which does not exist", name, cells[0], test)
				}
			}
		}
		for heading, done := range quoted {
			if !done {
				t.Errorf("docs/promises.md has nothing of section %q of %s", heading, name)
			}
		}
	}
	if rows < 150 {
		t.Errorf("only %d promises are listed", rows)
	}
}

// TestPromisesAreHeldToTheirForm shows that the test above can fail.
func TestPromisesAreHeldToTheirForm(t *testing.T) {
	t.Parallel()
	tests := declared(t)
	for test, there := range map[string]bool{
		"TestGuards": true, "catalog/TestGeneratedDocuments": true, "cmd/tidegate/TestScript/config": true,
		"internal/face/docs/TestGuards": false, "TestGeneratedDocuments": false, "cmd/tidegate/TestScript/nothing": false, "": false,
	} {
		if tests[test] != there {
			t.Errorf("%q exists: %v", test, !there)
		}
	}
	parts := sections("intro\n## One\ntext\n```\n## not a heading\n```\n## Two\nmore\n")
	if len(parts) != 3 || !strings.Contains(parts["One"], "not a heading") || plain(parts["Two"]) != "more" {
		t.Errorf("the sections are %q", parts)
	}
}

// guides are the documents that tell people what tidegate does for them.
func guides(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md", "SECURITY.md"}
	for _, file := range files {
		if base := filepath.Base(file); !slices.Contains(references, base) {
			names = append(names, "docs/"+base)
		}
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sections are the parts of a document by their headings of the second level; what
// is before the first one has the heading "".
func sections(document string) map[string]string {
	parts := map[string]string{}
	heading, code := "", false
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if title, ok := strings.CutPrefix(line, "## "); ok && !code {
			heading = strings.TrimSpace(title)
			continue
		}
		parts[heading] += line
	}
	return parts
}

// plain is a text without its line breaks.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// declared are the tests of the module and the scripts of TestScript, each by the
// folder of its package and its name.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	err := fs.WalkDir(os.DirFS("../../.."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch folder, script := strings.CutSuffix(path.Dir(name), "/testdata/script"); {
		case err != nil:
			return err
		case script && path.Ext(name) == ".txtar":
			all[folder+"/TestScript/"+strings.TrimSuffix(path.Base(name), ".txtar")] = true
		case strings.HasSuffix(name, "_test.go"):
			for _, found := range declaration.FindAllStringSubmatch(read(t, name), -1) {
				all[path.Join(path.Dir(name), found[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
