package tidegate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// unraced are tests with goroutines that the race detector would tell nothing of.
var unraced = map[string]string{
	"proof TestServersUnderLoad":           "the servers are processes",
	"proof TestLinkSwappedWhileToolsWrite": "the tools are processes",
}

// TestTheRaceStepHasEveryGoroutine finds tests that start goroutines and that the race
// step of .ci/run does not run.
func TestTheRaceStepHasEveryGoroutine(t *testing.T) {
	t.Parallel()
	raced := racedBy(read(t, ".ci/run"))
	missing := func(folder, text string) (tests []string) {
		for _, name := range concurrent(t, text) {
			if !raced(folder, name) {
				tests = append(tests, folder+" "+name)
			}
		}
		return tests
	}
	for name, breach := range map[string]string{
		"a go statement": "func TestX(t *testing.T) { t.Run(name, func(t *testing.T) { go work() }) }",
		"a group":        "func TestX(t *testing.T) { var all sync.WaitGroup }",
		"another group":  "func TestX(t *testing.T) { g := new(errgroup.Group) }",
	} {
		if len(missing("wave", "package wave\n"+breach)) != 1 {
			t.Errorf("%s is not found", name)
		}
	}
	used := map[string]bool{}
	must.Do(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "temporal") {
			return err
		}
		for _, test := range missing(path.Dir(filepath.ToSlash(file)), read(t, file)) {
			if used[test] = true; unraced[test] == "" {
				t.Errorf("%s starts goroutines, and .ci/run does not run it with the race detector", test)
			}
		}
		return nil
	}))
	for test := range unraced {
		if !used[test] {
			t.Errorf("%s is no exception", test)
		}
	}
}

// racedBy reports of a test, by its folder and name, whether the race step runs it.
func racedBy(script string) func(folder, name string) bool {
	_, step, _ := strings.Cut(script, "\nrace() {\n")
	step, _, _ = strings.Cut(step, "\n}\n")
	calls := regexp.MustCompile(`(?m)^ *tested -race(?: -run '?([^' ]+)'?)?((?: \./\S+)+)$`).FindAllStringSubmatch(strings.ReplaceAll(step, " \\\n   ", ""), -1)
	return func(folder, name string) bool {
		for _, call := range calls {
			if strings.Contains(call[2]+" ", " ./"+folder+" ") && regexp.MustCompile(call[1]).MatchString(name) {
				return true
			}
		}
		return false
	}
}

// concurrent lists the tests of a file that start goroutines themselves.
func concurrent(t *testing.T, text string) (names []string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution))(t)
	for _, each := range file.Decls {
		test, ok := each.(*ast.FuncDecl)
		if !ok || test.Recv != nil || !strings.HasPrefix(test.Name.Name, "Test") {
			continue
		}
		starts := false
		ast.Inspect(test, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.SelectorExpr:
				of, _ := n.X.(*ast.Ident)
				starts = starts || of != nil && (of.Name == "errgroup" || of.Name == "sync" && n.Sel.Name == "WaitGroup")
			}
			return !starts
		})
		if starts {
			names = append(names, test.Name.Name)
		}
	}
	return names
}
