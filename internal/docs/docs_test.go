package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/cli"
	"github.com/tidegate/tidegate/internal/docs"
	"github.com/tidegate/tidegate/tool"
)

var update = flag.Bool("update", false, "write the documents anew")

func TestGeneratedDocuments(t *testing.T) {
	tools := tool.ForAgents(catalog.Tools(&catalog.Env{}))
	for name, want := range map[string]string{
		"docs/tools.md":  docs.Tools(tools),
		"docs/errors.md": docs.Errors(cli.Status),
	} {
		compare(t, name, func(string) string { return want })
	}
	compare(t, "README.md", func(readme string) string { return between(t, readme, docs.ToolTable(tools)) })
}

func compare(t *testing.T, name string, want func(current string) string) {
	t.Helper()
	path := filepath.Join("..", "..", filepath.FromSlash(name))
	current, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	wanted := want(string(current))
	if *update {
		if err := os.WriteFile(path, []byte(wanted), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(wanted, string(current)); diff != "" {
		t.Errorf("%s is not what the program does; run: go test ./internal/docs -update\n%s", name, diff)
	}
}

const begin, end = "<!-- tools -->\n", "<!-- /tools -->"

func between(t *testing.T, readme, table string) string {
	before, rest, ok := strings.Cut(readme, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("README.md has no place for the table of tools")
	}
	return before + begin + table + end + after
}
