package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/docs"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// TestGeneratedDocuments compares the documents that derive from declarations with
// them.
func TestGeneratedDocuments(t *testing.T) {
	tools := tool.ForAgents(catalog.Tools(&catalog.Env{}))
	compareDocument(t, "docs/setup.md", func(document string) string {
		filled := must.Get(docs.Fill(document, "keys", docs.Keys()))(t)
		return filled
	})
	compareDocument(t, "README.md", func(readme string) string {
		filled := must.Get(docs.Fill(readme, "tools", cli.ToolTable(tools)))(t)
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
		must.Do(t, os.WriteFile(path, []byte(wanted), 0o644))
		return
	}
	if diff := cmp.Diff(wanted, string(current)); diff != "" {
		t.Errorf("%s is not what the program does; run: go test ./catalog -update\n%s", name, diff)
	}
}
