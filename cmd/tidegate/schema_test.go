package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const publishedSchemas = "../../docs/schemas"

func schemaFile(name string) string { return filepath.Join(publishedSchemas, name+".json") }

// TestPublishedSchemas compares docs/schemas with what `tidegate schema` prints.
func TestPublishedSchemas(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range schemas(catalog.Tools(&catalog.Env{})) {
		path := schemaFile(s.name)
		listed[path] = true
		got, err := codec.MarshalFile(s.print())
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.MkdirAll(publishedSchemas, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v; run: go test ./cmd/tidegate -run Schemas -update", err)
			continue
		}
		if diff := difference(string(want), string(got)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(publishedSchemas, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !listed[file] {
			t.Errorf("%s is no schema that the program prints", file)
		}
	}
}
