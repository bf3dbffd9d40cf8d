package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/docs"
	"github.com/tidegate/tidegate/tool"
)

// TestGeneratedDocuments compares the documents that derive from declarations with
// them.
func TestGeneratedDocuments(t *testing.T) {
	tools := tool.ForAgents(catalog.Tools(&catalog.Env{}))
	for name, want := range map[string]string{
		"docs/tools.md":  docs.Tools(tools),
		"docs/errors.md": docs.Errors(cli.Status),
	} {
		compareDocument(t, name, func(string) string { return want })
	}
	compareDocument(t, "docs/configuration.md", func(document string) string {
		filled, err := docs.Fill(document, "keys", docs.Keys())
		if err != nil {
			t.Fatal(err)
		}
		return filled
	})
	compareDocument(t, "README.md", func(readme string) string {
		filled, err := docs.Fill(readme, "tools", docs.ToolTable(tools))
		if err != nil {
			t.Fatal(err)
		}
		return filled
	})
}

func compareDocument(t *testing.T, name string, want func(current string) string) {
	t.Helper()
	path := filepath.Join("..", filepath.FromSlash(name))
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
		t.Errorf("%s is not what the program does; run: go test ./catalog -update\n%s", name, diff)
	}
}
