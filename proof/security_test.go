package proof_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestSecurityNamesItsTests fails for a test that SECURITY.md or the documents
// name but that does not exist, and for a row of what an adversary cannot do that
// names none.
func TestSecurityNamesItsTests(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	must.Do(t, fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile("../" + name)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}
		return err
	}))
	named := 0
	for _, name := range []string{"SECURITY.md", "docs/evidence.md"} {
		text := must.Get(os.ReadFile("../" + name))(t)
		for _, found := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)").FindAllSubmatch(text, -1) {
			named++
			if !tests[string(found[1])] {
				t.Errorf("%s names %s, which is not a test", name, found[1])
			}
		}
	}
	security := must.Get(os.ReadFile("../SECURITY.md"))(t)
	rows, inTable := 0, false
	for line := range strings.Lines(string(security)) {
		switch {
		case strings.HasSuffix(line, " cannot | test |\n"):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|---"):
			rows++
			if cells := strings.Split(strings.Trim(line, "|\n"), " | "); len(cells) != 2 || !strings.Contains(cells[1], "`Test") {
				t.Errorf("SECURITY.md names no test for %q", cells[0])
			}
		}
	}
	if named < 40 || rows < 40 {
		t.Errorf("only %d tests are named, for %d rows", named, rows)
	}
}
