package tidegate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestEveryModuleHasItsRow compares go.mod with the table of dependencies in
// docs/decisions.md: each module with what it is for, its size and what would
// replace it, and no module that is gone.
func TestEveryModuleHasItsRow(t *testing.T) {
	required := modulesOf(t)
	text := must.Get(os.ReadFile(filepath.Join("docs", "decisions.md")))(t)
	var described []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9./-]+\\.[a-z]+/[^`]*)` \\|(.*)\\|$").FindAllStringSubmatch(string(text), -1) {
		described = append(described, row[1])
		cells := strings.Split(row[2], "|")
		if len(cells) != 4 {
			t.Errorf("%s has %d columns, want 5", row[1], len(cells)+1)
			continue
		}
		for _, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%s has an empty column", row[1])
			}
		}
		if _, err := strconv.Atoi(strings.TrimSpace(cells[2])); err != nil {
			t.Errorf("%s: the size is %q", row[1], cells[2])
		}
	}
	slices.Sort(described)
	if !slices.Equal(described, required) {
		t.Errorf("docs/decisions.md describes\n%s\ngo.mod requires\n%s", strings.Join(described, "\n"), strings.Join(required, "\n"))
	}
}

// modulesOf lists the modules of go.mod in byte order.
func modulesOf(t *testing.T) []string {
	t.Helper()
	text := must.Get(os.ReadFile("go.mod"))(t)
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(string(text), -1) {
		modules = append(modules, m[1])
	}
	slices.Sort(modules)
	return modules
}
