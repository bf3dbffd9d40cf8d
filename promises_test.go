package tidegate_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// references are the documents that are not guides: what they say is generated, or
// they name their tests and figures in the text.
var references = []string{"decisions.md", "evidence.md", "layout.md", "run.md", "words.md"}

// TestEveryPromiseNamesItsTest reads the promises of docs/evidence.md: every document that promises
// something has a table, and the tests that a promise names exist.
func TestEveryPromiseNamesItsTest(t *testing.T) {
	t.Parallel()
	tables, tests := promises(read(t, "docs/evidence.md")), declared(t)
	for _, name := range guides(t) {
		if len(tables[name]) == 0 {
			t.Errorf("docs/evidence.md has no promise of %s", name)
		}
	}
	for name, table := range tables {
		if !slices.Contains(guides(t), name) {
			t.Errorf("docs/evidence.md has a table for %s, which is no such document", name)
		}
		for promise, named := range table {
			for test := range strings.SplitSeq(named, ", ") {
				if !tests[strings.Trim(test, "`")] {
					t.Errorf("%s: %q names %s, which does not exist", name, promise, test)
				}
			}
		}
	}
}

// promises are the tests of each promise, by document.
func promises(text string) map[string]map[string]string {
	tables := map[string]map[string]string{}
	document := ""
	_, text, _ = strings.Cut(text, "\n## Promises\n")
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			document = strings.TrimSpace(name)
			tables[document] = map[string]string{}
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if strings.HasPrefix(line, "| ") && len(cells) == 2 && cells[0] != "promise" {
			tables[document][cells[0]] = strings.TrimPrefix(tables[document][cells[0]]+", "+cells[1], ", ")
		}
	}
	return tables
}

// TestPromisesAreHeldToTheirForm shows that the test above can fail.
func TestPromisesAreHeldToTheirForm(t *testing.T) {
	t.Parallel()
	tests := declared(t)
	for test, there := range map[string]bool{
		"TestGuards": true, "catalog/TestGeneratedDocuments": true, "cmd/tidegate/TestScript/config": true,
		"catalog/TestGuards": false, "TestGeneratedDocuments": false, "cmd/tidegate/TestScript/nothing": false, "": false,
	} {
		if tests[test] != there {
			t.Errorf("%q exists: %v", test, !there)
		}
	}
	tables := promises("# All\n\n## Promises\n\n### a.md\n\n| promise | shown by |\n|---|---|\n| It holds | `TestGuards`, `TestNone` |\n\n### b.md\n")
	if len(tables) != 2 || len(tables["b.md"]) != 0 || tables["a.md"]["It holds"] != "`TestGuards`, `TestNone`" {
		t.Errorf("the promises are %q", tables)
	}
}

// guides are the documents that tell people what tidegate does for them.
func guides(t *testing.T) []string {
	t.Helper()
	files := must.Get(filepath.Glob("docs/*.md"))(t)
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
	data := must.Get(os.ReadFile(filepath.FromSlash(name)))(t)
	return string(data)
}

// declared are the tests of the module and the scripts of TestScript, each by the
// folder of its package and its name.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	must.Do(t, fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch folder, script := strings.CutSuffix(path.Dir(name), "/testdata/script"); {
		case err != nil:
			return err
		case name == ".git" && entry.IsDir():
			return fs.SkipDir
		case script && path.Ext(name) == ".txtar":
			all[folder+"/TestScript/"+strings.TrimSuffix(path.Base(name), ".txtar")] = true
		case strings.HasSuffix(name, "_test.go"):
			for _, found := range declaration.FindAllStringSubmatch(read(t, name), -1) {
				all[path.Join(path.Dir(name), found[1])] = true
			}
		}
		return nil
	}))
	return all
}

// TestEveryTestCommandFindsItsTests reads the commands of the documents and of CI that
// choose tests by their names: each name that they choose by is that of some test.
func TestEveryTestCommandFindsItsTests(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("docs/*.md"))(t)
	tests, chosen := declared(t), 0
	for _, file := range append(files, "README.md", "SECURITY.md", ".ci/run", ".ci/long") {
		for _, command := range testCommands(read(t, filepath.ToSlash(file))) {
			chosen += len(command.names)
			for _, name := range command.missing(t, tests) {
				t.Errorf("%s: no test of %q is called %s", file, command.packages, name)
			}
		}
	}
	if chosen < 100 {
		t.Errorf("only %d names are chosen by: the commands are not understood", chosen)
	}
	wrong := testCommands("`go test ./proof -run 'Absent|Chaos/^[0-9]{1,2}$' -v`, `cd temporal && go test -bench Unheard ./...`")
	if len(wrong) != 2 || !slices.Equal(wrong[0].missing(t, tests), []string{"Absent"}) || !slices.Equal(wrong[1].missing(t, tests), []string{"Unheard"}) {
		t.Errorf("what is not there is not found: %+v", wrong)
	}
}

// testCommand is a call of go test that chooses tests.
type testCommand struct {
	packages []string // folders; those below count too where it ends in ...
	names    []string // regular expressions
}

func (c testCommand) missing(t *testing.T, tests map[string]bool) (names []string) {
	for _, name := range c.names {
		pattern := must.Get(regexp.Compile(name))(t)
		found := false
		for test := range tests {
			for _, folder := range c.packages {
				above, all := strings.CutSuffix(folder, "...")
				in := path.Dir(test) == path.Clean(folder) || all && strings.HasPrefix(path.Dir(test)+"/", above)
				found = found || in && pattern.MatchString(path.Base(test))
			}
		}
		if !found {
			names = append(names, name)
		}
	}
	return names
}

var (
	commandLine = regexp.MustCompile("(-C \\w+ |cd \\w+ && go )?test(?:ed)? ([^`\n]*)")
	commandWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// testCommands finds the calls of go test in a text.
func testCommands(text string) (commands []testCommand) {
	for _, line := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
		var command testCommand
		words := commandWord.FindAllString(line[2], -1)
		for i, word := range words {
			if rest, ok := strings.CutPrefix(word, "./"); ok {
				if strings.Contains(line[1], "temporal") {
					rest = "temporal/" + rest
				}
				command.packages = append(command.packages, rest)
			}
			if i > 0 && (words[i-1] == "-run" || words[i-1] == "-bench") && word != "'^$'" && word != "." {
				for name := range strings.SplitSeq(strings.Trim(word, `'"`), "|") {
					top, _, _ := strings.Cut(name, "/")
					command.names = append(command.names, top)
				}
			}
		}
		if len(command.packages) > 0 && len(command.names) > 0 {
			commands = append(commands, command)
		}
	}
	return commands
}
